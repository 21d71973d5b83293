"""Bounds and odd values of the contracts, each tried on both of its sides."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from cinatra_sdk.data.patterns.syntax import PatternFlawed
from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.governance.conditions.condition import (
    MAX_DEPTH,
    ConditionInvalid,
    read_condition,
)
from cinatra_sdk.governance.conditions.operators import MAX_PATTERN, read_pattern
from cinatra_sdk.governance.contracts.plans import CarriedCall
from cinatra_sdk.governance.contracts.record_format import canonical_json, freeze, thaw


def _nested(depth: int) -> Any:
    logic: Any = True
    for _ in range(depth):
        logic = {"!": logic}
    return logic


def test_a_condition_is_as_deep_as_it_may_be_and_no_deeper() -> None:
    read_condition(_nested(MAX_DEPTH))
    with pytest.raises(ConditionInvalid, match=f"deeper than {MAX_DEPTH}"):
        read_condition(_nested(MAX_DEPTH + 1))


def test_a_pattern_is_as_long_as_it_may_be_and_no_longer() -> None:
    longest = "[" + "a" * (MAX_PATTERN - 2) + "]"
    assert read_pattern(longest).size >= 1
    with pytest.raises(PatternFlawed, match="longer than"):
        read_pattern(longest[:-1] + "a]")


@pytest.mark.parametrize(
    ("error", "happened"),
    [
        ({}, True),
        ({"reached": True}, True),
        ({"reached": False}, False),
        ({"reached": True, "may_have_happened": False}, False),
        ({"reached": False, "may_have_happened": True}, True),
    ],
)
def test_a_call_that_failed_may_have_happened_unless_its_result_says_that_nothing_left(
    error: dict[str, bool], happened: bool
) -> None:
    call = CarriedCall.of("mail.send", {"status": "failed", "error": error}, changes=True)
    assert call.may_have_happened is happened


def test_a_frozen_value_thaws_to_what_it_was() -> None:
    value = {"a": [1, {"b": [True, None]}], "c": {}, "d": "x"}
    frozen = freeze(value)
    assert isinstance(frozen, MappingProxyType)
    thawed = thaw(frozen)
    assert thawed == value
    assert type(thawed) is dict
    assert type(thawed["a"][1]) is dict
    assert type(thawed["a"][1]["b"]) is list


def test_members_without_names_of_text_have_no_canonical_form() -> None:
    with pytest.raises(ValueRefused):
        canonical_json({1: 0.5, "a": "\U0001f600"})
