"""What an effect is known by, and what an error says about it."""

from __future__ import annotations

import asyncio

import pytest

from cinatra_sdk.errors import NodeFailed, RunBusy
from cinatra_sdk.outside.effects.effect import EffectFailure, hash_json, key_at, read_failure
from cinatra_sdk.outside.http_calls.protocol import (
    PlatformError,
    PlatformOutputError,
    PlatformRefused,
    PlatformResponseError,
    PlatformUnreachable,
)
from tests.effects.samples import CANARY, effect


def test_the_hash_is_over_canonical_json() -> None:
    # printf '{"a":[1,2.5,null],"b":"\xc3\xbc"}' | sha256sum
    expected = "e2672cf8"
    assert hash_json({"b": "\u00fc", "a": [1, 2.5, None]}) == hash_json(
        {"a": [1, 2.5, None], "b": "\u00fc"}
    )
    assert hash_json({"a": [1, 2.5, None], "b": "\u00fc"}).startswith(expected)


@pytest.mark.parametrize("other", [{"a": "1"}, {"a": 1.5}, {"a": True}, {"b": 1}, [1], None])
def test_another_value_has_another_hash(other: object) -> None:
    assert hash_json(other) != hash_json({"a": 1})  # type: ignore[arg-type]  # all are JSON


def test_several_effects_of_one_node_have_keys_of_their_own() -> None:
    keys = [key_at("k", index) for index in range(50)]
    assert keys[0] == "k"
    assert len(set(keys)) == 50
    assert keys == [key_at("k", index) for index in range(50)]


def test_an_effect_prints_neither_arguments_nor_secrets() -> None:
    made = effect(secrets=(CANARY,), arguments={"to": "ann"})
    assert "ann" not in repr(made)
    assert CANARY not in repr(made)


def caused(by: Exception) -> NodeFailed:
    error = NodeFailed("the tool raised", node="send")
    error.__cause__ = by
    return error


@pytest.mark.parametrize(
    ("error", "kind", "reached"),
    [
        (PlatformRefused("x", node="n"), "permanent", False),
        (PlatformUnreachable("x", node="n"), "transient", True),
        (PlatformUnreachable("x", node="n", unsent=True), "transient", False),
        (PlatformResponseError("x", node="n", status=400), "permanent", False),
        (PlatformResponseError("x", node="n", status=404), "permanent", False),
        (PlatformResponseError("x", node="n", status=429), "transient", False),
        (PlatformResponseError("x", node="n", status=408), "transient", True),
        (PlatformResponseError("x", node="n", status=409), "permanent", True),
        (PlatformResponseError("x", node="n", status=500), "transient", True),
        (PlatformResponseError("x", node="n", status=503), "transient", True),
        (PlatformResponseError("x", node="n", status=302), "permanent", True),
        (PlatformResponseError("x", node="n", status=200), "permanent", True),
        (PlatformResponseError("x", node="n"), "permanent", True),
        (PlatformOutputError("x", node="n", status=200), "permanent", True),
        (PlatformError("x", node="n"), "permanent", True),
        (TimeoutError(), "transient", True),
        (ConnectionResetError(), "transient", True),
        (asyncio.CancelledError(), "transient", True),
        (RunBusy("x"), "transient", True),
        (NodeFailed("x", node="n"), "permanent", True),
        (ValueError("x"), "permanent", True),
        (caused(TimeoutError()), "transient", True),
        (caused(PlatformRefused("x", node="n")), "permanent", False),
        (caused(LookupError()), "permanent", True),
    ],
)  # fmt: skip
def test_an_error_says_whether_to_try_again(error: BaseException, kind: str, reached: bool) -> None:
    failure = read_failure(error, ())
    assert (failure.kind, failure.reached) == (kind, reached)


def test_the_text_of_an_error_is_kept_short_and_without_secrets() -> None:
    error = PlatformResponseError(f"\x00{CANARY} {'x' * 900}", node="n", status=500, code=CANARY)
    failure = read_failure(error, (CANARY,))
    assert failure.code == "[redacted]"
    assert failure.message == "[redacted] " + "x" * 489
    assert read_failure(LookupError(f"a {CANARY}"), (CANARY,)) == EffectFailure(
        kind="permanent",
        code="LookupError",
        message="a [redacted]",
        reached=True,
        raised={"class": "LookupError", "message": "a [redacted]"},
    )


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_error_that_cannot_say_anything_is_kept_by_its_name() -> None:
    failure = read_failure(Mute(), ())
    assert (failure.code, failure.message) == ("Mute", "")


def test_the_name_of_a_class_is_kept_without_secrets() -> None:
    error = type(f"Of{CANARY}", (Exception,), {})("x")
    failure = read_failure(error, (CANARY,))
    assert (failure.code, failure.raised["class"]) == ("Of[redacted]", "Of[redacted]")
