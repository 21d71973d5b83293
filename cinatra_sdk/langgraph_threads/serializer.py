"""Checkpointers with a strict serializer: a row in the database can name no class to be made.

In: a checkpointer.  Out: the same checkpointer with a strict serializer, in every environment.

    with_strict_serializer(InMemorySaver())

LangGraph's own serializer makes any class that a stored value names, and calls it, unless
`LANGGRAPH_STRICT_MSGPACK` was set before LangGraph was imported first.  A library cannot rely on
that variable; without it, a writer of rows could run code in the process that reads them.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from types import MemberDescriptorType
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.base import (
    CipherProtocol,
    SerializerProtocol,
    maybe_add_typed_methods,
)
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

_S = TypeVar("_S", bound=BaseCheckpointSaver[Any])

STRICT_SERIALIZER: Final = JsonPlusSerializer(
    allowed_json_modules=None, allowed_msgpack_modules=None
)
"""Makes only dates, ids, sets and LangGraph's own records, and no other class that a row names."""


class _Encrypted(EncryptedSerializer):
    """A host's cipher around a strict serializer, and the classes of savers that read with it."""

    def __init__(self, cipher: CipherProtocol, serde: SerializerProtocol) -> None:
        super().__init__(cipher, serde)
        self.kinds: dict[type[Any], type[Any]] = {}


_ENCRYPTED: Final[WeakKeyDictionary[EncryptedSerializer, _Encrypted]] = WeakKeyDictionary()
"""A host's serializer → its strict one, kept because a store passes the same saver at each
activation.
"""


def with_strict_serializer(saver: _S) -> _S:
    """`saver` as seen by a graph of ours: all its state is shared, but it reads with `STRICT_SERIALIZER`.

    The saver itself is not changed: other graphs on it may need its own serializer.  Encryption
    around LangGraph's serializer stays.  A saver that reads with `STRICT_SERIALIZER` already is returned
    unchanged.
    Raises: `ValueError` for any other serializer, because the objects that it makes are unknown;
    and for a saver whose state cannot be shared, or whose class accepts no serializer.
    """
    serializer = _choose_strict_serializer(saver.serde)
    if serializer is saver.serde:
        return saver
    own: Any = type(saver)
    _require_shareable(own)
    strict: _S = object.__new__(_kind_of(own, serializer))
    # The same dictionary, not a copy: a saver may count, cache or lock, so both objects must share
    # one state.
    object.__setattr__(strict, "__dict__", saver.__dict__)
    return strict


def _require_shareable(own: type[Any]) -> None:
    """Raise `ValueError` where a second object of a subclass of `own` could not share the saver's
    state.
    """
    members = [member for base in own.__mro__ for member in vars(base).values()]
    if any(isinstance(member, MemberDescriptorType) for member in members):
        raise _build_refusal(own, "it keeps state in __slots__, which cannot be shared")
    if inspect.isdatadescriptor(inspect.getattr_static(own, "serde", None)):
        raise _build_refusal(own, "its class hands out its serializer itself")


def _kind_of(own: Any, serializer: SerializerProtocol) -> type[Any]:
    """The subclass of a saver's class that reads with `serializer`; one subclass for each class."""
    if not isinstance(serializer, _Encrypted):
        return _strict_kind(own)
    if own not in serializer.kinds:
        serializer.kinds[own] = _make_saver_class(own, serializer)
    kind: type[Any] = serializer.kinds[own]
    return kind


@functools.lru_cache(maxsize=64)
def _strict_kind(saver_kind: type[Any]) -> type[Any]:
    return _make_saver_class(saver_kind, STRICT_SERIALIZER)


def _make_saver_class(saver_kind: type[Any], serializer: SerializerProtocol) -> type[Any]:
    """A subclass whose savers use this serializer, even if an instance attribute names another."""
    typed = maybe_add_typed_methods(serializer)
    members = {
        "__module__": saver_kind.__module__,
        "serde": property(lambda _self: typed, lambda _self, _value: None),
    }
    made: type[Any] | None = None
    with contextlib.suppress(Exception):  # a class or its metaclass may raise any error
        made = type(saver_kind.__name__, (saver_kind,), members)
    if made is None:
        raise _build_refusal(saver_kind, "its class lets nobody inherit")
    return made


def _build_refusal(own: type[Any], why: str) -> ValueError:
    return ValueError(
        f"the checkpointer {own.__name__} cannot be given a strict serializer: {why}; "
        "make it with cinatra_sdk.blocks.STRICT_SERIALIZER as its serde"
    )


def _choose_strict_serializer(serializer: SerializerProtocol) -> SerializerProtocol:
    if serializer is STRICT_SERIALIZER or type(serializer) is _Encrypted:
        return serializer
    # By the exact type: a subclass may make any object.
    if type(serializer) is JsonPlusSerializer and not serializer.pickle_fallback:
        return STRICT_SERIALIZER
    if type(serializer) is EncryptedSerializer:
        return _strict_encrypted(serializer)
    name = type(serializer).__name__
    raise ValueError(
        f"the checkpointer reads its rows with {name}, which may execute code that a row names: "
        "give it a JsonPlusSerializer without pickle_fallback, or an EncryptedSerializer around one"
    )


def _strict_encrypted(serializer: EncryptedSerializer) -> SerializerProtocol:
    inner = _choose_strict_serializer(serializer.serde)
    if inner is serializer.serde:
        return serializer
    known = _ENCRYPTED.get(serializer)
    if known is None or known.cipher is not serializer.cipher or known.serde is not inner:
        known = _ENCRYPTED[serializer] = _Encrypted(serializer.cipher, inner)
    return known
