"""`with_strict_serializer`: the same saver with a strict serializer, or an error that says how."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from cinatra_sdk.langgraph_internals.checkpoint_ids import config_of
from cinatra_sdk.langgraph_threads.serializer import STRICT_SERIALIZER, with_strict_serializer


class Backwards:
    """A cipher for tests."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "backwards", plaintext[::-1]

    def decrypt(self, _name: str, ciphertext: bytes) -> bytes:
        return ciphertext[::-1]


def encrypted() -> InMemorySaver:
    return InMemorySaver(serde=EncryptedSerializer(Backwards(), JsonPlusSerializer()))


def test_a_saver_that_is_strict_is_given_back_as_it_is() -> None:
    for saver in (InMemorySaver(), encrypted()):
        strict = with_strict_serializer(saver)
        assert strict is not saver
        assert with_strict_serializer(strict) is strict
    own = InMemorySaver(serde=EncryptedSerializer(Backwards(), STRICT_SERIALIZER))
    assert with_strict_serializer(own) is own


def test_an_encrypted_saver_is_wrapped_once_however_often_it_is_given() -> None:
    saver = encrypted()
    first, second = with_strict_serializer(saver), with_strict_serializer(saver)
    assert type(first) is type(second)
    assert first.serde is second.serde
    assert isinstance(first.serde, EncryptedSerializer)
    assert first.serde.serde is STRICT_SERIALIZER
    assert with_strict_serializer(encrypted()).serde is not first.serde


def test_what_an_encrypted_saver_keeps_is_encrypted_with_its_cipher() -> None:
    saver = encrypted()
    strict = with_strict_serializer(saver)
    checkpoint = {**empty_checkpoint(), "id": "1001"}
    strict.put(config_of("t1", ""), checkpoint, {}, {})
    (stored, _metadata, _parent) = saver.storage["t1"][""]["1001"]
    assert stored[0] == "msgpack+backwards"
    found = saver.get_tuple(config_of("t1", ""))
    assert found is not None
    assert found.checkpoint["id"] == "1001"


def test_another_cipher_is_taken_up() -> None:
    saver = encrypted()
    first = with_strict_serializer(saver)
    saver.serde.cipher = Backwards()  # type: ignore[attr-defined]
    second = with_strict_serializer(saver)
    assert first.serde.cipher is not second.serde.cipher  # type: ignore[attr-defined]
    assert second.serde.cipher is saver.serde.cipher  # type: ignore[attr-defined]


def test_nothing_keeps_a_cipher_that_nobody_has_any_more() -> None:
    saver = encrypted()
    with_strict_serializer(saver)
    cipher = weakref.ref(saver.serde.cipher)  # type: ignore[attr-defined]
    del saver
    gc.collect()
    assert cipher() is None


class WithSlots(InMemorySaver):
    __slots__ = ("connection",)


class WithSlotsBelow(WithSlots):
    pass


class Final(InMemorySaver):
    def __init_subclass__(cls, **_more: Any) -> None:
        raise RuntimeError("nobody inherits from me")


class OwnSerializer(InMemorySaver):
    """Makes its serializer itself, and may read with another one."""

    @property
    def serde(self) -> Any:
        return JsonPlusSerializer()

    @serde.setter
    def serde(self, _given: Any) -> None:
        pass


class ReadOnly(BaseCheckpointSaver[Any]):
    serde = property(lambda _self: JsonPlusSerializer())  # type: ignore[assignment]

    def __init__(self) -> None:
        pass


class OwnMeta(type(InMemorySaver)):  # type: ignore[misc]
    def __new__(cls, name: str, bases: Any, members: Any, *, needed: str) -> Any:
        return super().__new__(cls, name, bases, members)


class NeedsMore(InMemorySaver, metaclass=OwnMeta, needed="x"):
    pass


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (WithSlots, "it keeps state in __slots__, which cannot be shared"),
        (WithSlotsBelow, "it keeps state in __slots__, which cannot be shared"),
        (Final, "its class lets nobody inherit"),
        (NeedsMore, "its class lets nobody inherit"),
        (OwnSerializer, "its class hands out its serializer itself"),
        (ReadOnly, "its class hands out its serializer itself"),
    ],
)
def test_a_saver_that_cannot_be_seen_so_is_refused_with_what_to_do(kind: Any, why: str) -> None:
    with pytest.raises(ValueError, match="cannot be given") as refused:
        with_strict_serializer(kind())
    assert str(refused.value) == (
        f"the checkpointer {kind.__name__} cannot be given a strict serializer: {why}; "
        "make it with cinatra_sdk.blocks.STRICT_SERIALIZER as its serde"
    )
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


@pytest.mark.parametrize("kind", [WithSlots, WithSlotsBelow, Final, NeedsMore])
def test_the_same_savers_made_with_the_strict_serializer_are_taken(kind: Any) -> None:
    saver = kind(serde=STRICT_SERIALIZER)
    assert with_strict_serializer(saver) is saver


def test_a_saver_that_hands_out_the_strict_serializer_is_taken() -> None:
    class Handing(InMemorySaver):
        serde = property(lambda _self: STRICT_SERIALIZER, lambda _self, _given: None)  # type: ignore[assignment]

    saver = Handing()
    assert with_strict_serializer(saver) is saver


def test_a_saver_that_guards_its_attributes_is_seen_strictly() -> None:
    class Guarding(InMemorySaver):
        closed = False

        def __setattr__(self, name: str, value: Any) -> None:
            if self.closed:
                raise AttributeError(f"{name} is not to be set")
            super().__setattr__(name, value)

    saver = Guarding()
    object.__setattr__(saver, "closed", True)
    strict = with_strict_serializer(saver)
    assert strict.serde is STRICT_SERIALIZER
    assert strict.storage is saver.storage
