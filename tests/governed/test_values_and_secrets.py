"""Bounds on values, and finding credentials."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cinatra_sdk.data.json_values import (
    MAX_DEPTH,
    MAX_ITEMS,
    NotStrictJson,
    check_value,
    read_json,
)
from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.governed.secret_values import cut_out, find_secret, redact


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**63),
        2**63 - 1,
        1.5,
        "",
        "é😀",
        [],
        {},
        {"a": [1, {"b": None}]},
        nested(MAX_DEPTH),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_json_within_the_bounds_is_kept(value: Any) -> None:
    check_value(value, where="x")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("a\x00", "NUL"),
        ({"k\x00": 1}, "NUL"),
        ("\udc80", "surrogate"),
        (float("inf"), "JSON does not have"),
        ([float("nan")], "/0 holds a number"),
        (2**63, "64 bit"),
        (nested(MAX_DEPTH + 1), "nested deeper"),
        ("x" * 1_000_001, "1000000 characters"),
        ({1: 2}, "not a string"),
        (object(), "not JSON"),
        (b"bytes", "bytes, which is not JSON"),
        ([{"a": {"__overwrite__": 1}}], "/0/a has the key '__overwrite__'"),
        ({"__pregel_resume": 1}, "reserved"),
        ({"branch:to:x": 1}, "reserved"),
        ({"type": "__overwrite__", "value": 1}, "reserved"),
        ([0] * 200_001, "more than 200000 members"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_a_value_no_database_could_keep_is_refused_with_its_place(value: Any, why: str) -> None:
    with pytest.raises(ValueRefused, match=why):
        check_value(value, where="input 'x'")


@pytest.mark.parametrize(
    "value",
    [
        {"bearer_token": "abc"},
        {"a": [{"Password": "x"}]},
        ["sk-abcdefghijklmnopqrst"],
        {"note": "use ghp_aaaaaaaaaaaaaaaaaaaaaaaa now"},
        {"x": "AKIAABCDEFGHIJKLMNOP"},
        "Authorization: Bearer abcdefghijklmnop1234",
    ],
    ids=repr,
)
def test_a_credential_is_found_and_its_value_is_not_repeated(value: Any) -> None:
    found = find_secret(value)
    assert found
    assert "abcdef" not in found


@pytest.mark.parametrize(
    "value",
    [{"bearer_token": ""}, {"tokens": 3}, {"token_count": "12"}, "a token of thanks"],
    ids=repr,
)
def test_harmless_values_are_not_taken_for_credentials(value: Any) -> None:
    assert find_secret(value) == ""


def test_known_secrets_are_cut_out_of_texts_and_values() -> None:
    assert redact("failed with tok-123456 there", ["tok-123456"]) == "failed with [redacted] there"
    assert cut_out({"a": ["x tok-123456"], "tok-123456": 1}, ["tok-123456", ""]) == {
        "a": ["x [redacted]"],
        "[redacted]": 1,
    }


def test_looking_for_credentials_takes_linear_time() -> None:
    # A quadratic pattern would not come back from this within the test run's patience.
    text = "eyJ" + "a" * 200_000 + " " + "Bearer " * 20_000
    assert find_secret(text) == ""


@pytest.mark.parametrize("member", ["[]", "0", '""', "{}", '"\\\\"', '"\\""', '"a,b"'])
def test_a_text_with_too_many_members_is_refused_before_any_is_made(
    member: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = [json.loads(member)] * MAX_ITEMS
    assert read_json("[" + f"{member}," * (MAX_ITEMS - 1) + member + "]") == most
    monkeypatch.setattr(json, "loads", lambda *_, **__: pytest.fail("it was read"))
    with pytest.raises(NotStrictJson, match="the body has more than 200000 members"):
        read_json("[" + f"{member}," * MAX_ITEMS + member + "]", where="the body")


@pytest.mark.parametrize("text", ["," * 300_000, '",' * 150_000, "\\," * 150_000])
def test_commas_of_a_text_are_no_members(text: str) -> None:
    assert read_json(json.dumps({"note": text})) == {"note": text}
