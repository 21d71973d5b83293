"""JsonLogic that guesses nothing: vectors, and what no vector can show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.governance.conditions.condition import (
    MAX_DEPTH,
    MAX_NODES,
    ConditionInvalid,
    Undecided,
    read_condition,
)
from cinatra_sdk.governance.conditions.operators import MAX_STEPS
from cinatra_sdk.governance.packs.plan_outputs import Unresolved, fill_references

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "vectors" / "conditions.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda one: json.dumps(one["logic"])[:60])
def test_vectors(vector: dict[str, Any]) -> None:
    if "invalid" in vector:
        with pytest.raises(ConditionInvalid, match=_literal(vector["invalid"])):
            read_condition(vector["logic"])
        return
    condition = read_condition(vector["logic"])
    if "undecided" in vector:
        with pytest.raises(Undecided, match=_literal(vector["undecided"])):
            condition.value(vector["facts"])
        return
    found = condition.value(vector["facts"])
    assert found == vector["value"]
    assert isinstance(found, bool) == isinstance(vector["value"], bool)


def _literal(text: str) -> str:
    return "".join(f"[{letter}]" if letter in "*+?.()[]" else letter for letter in text)


def test_a_condition_that_is_too_deep_or_too_large_is_refused() -> None:
    deep: Any = True
    for _ in range(MAX_DEPTH + 1):
        deep = {"!": deep}
    with pytest.raises(ConditionInvalid, match="deeper"):
        read_condition(deep)
    with pytest.raises(ConditionInvalid, match="larger"):
        read_condition({"merge": [1] * MAX_NODES})


ACCUMULATED = {"var": "accumulator"}


def test_an_evaluation_ends() -> None:
    # A list inside a list inside a list: 27 million steps.
    inner: Any = {"+": [1, 1]}
    for _ in range(3):
        inner = {"map": [{"var": ["n", list(range(300))]}, inner]}
    with pytest.raises(Undecided, match=str(MAX_STEPS)):
        read_condition(inner).value({"n": None})


@pytest.mark.parametrize(
    "logic",
    [
        {"reduce": [{"var": "n"}, {"cat": [ACCUMULATED, ACCUMULATED]}, "x"]},
        {"reduce": [{"var": "n"}, {"merge": [ACCUMULATED, ACCUMULATED]}, [1]]},
        {"map": [{"var": "n"}, {"cat": ["x" * 100_000, "y"]}]},
        {"map": [{"var": "n"}, {"substr": ["x" * 100_000, 0]}]},
    ],
)
def test_an_evaluation_makes_nothing_large(logic: Any) -> None:
    with pytest.raises(Undecided, match="more than"):
        read_condition(logic).value({"n": list(range(40))})


@pytest.mark.parametrize(
    ("text", "lower"),
    [
        ("LawYer", "lawyer"),
        ("\uff2c\uff21\uff37", "law"),
        ("la\u200bw\u00adyer", "lawyer"),
        ("STRASSE stra\u00dfe", "strasse strasse"),
        ("", ""),
    ],
)
def test_lower_makes_one_spelling_of_a_text(text: str, lower: str) -> None:
    assert read_condition({"lower": [{"var": "text"}]}).value({"text": text}) == lower


def test_lower_of_no_text_or_of_too_much_is_undecided() -> None:
    for text in (None, 7, ["LAWYER"], "\u0301\u0316" * 2_000_000):
        with pytest.raises(Undecided):
            read_condition({"lower": [{"var": "text"}]}).value({"text": text})


def test_a_number_that_no_fact_can_have_is_no_condition() -> None:
    with pytest.raises(ConditionInvalid, match="beyond"):
        read_condition({"==": [{"var": "args.id"}, 2**60]})


def _reduce(step: Any, first: Any) -> Any:
    return {"reduce": [{"var": "many"}, step, first]}


_MADE = {"var": "accumulator"}


@pytest.mark.parametrize(
    "logic",
    [
        {"cat": [_reduce({"cat": [_MADE, _MADE]}, "xx"), "y"]},
        {"merge": [_reduce({"merge": [_MADE, _MADE]}, [1, 2]), 3]},
        {"==": [_reduce([_MADE, _MADE], 1), _reduce([_MADE, _MADE], 1)]},
        {"in": [_reduce([_MADE, _MADE], 1), [_reduce([_MADE, _MADE], 1)]]},
        {"==": [_reduce([_MADE], 1), _reduce([_MADE], 1)]},
        {"missing": [[_reduce([_MADE, _MADE], 1)]]},
        {"*": [*([{"var": "large"}] * 25), 0.5]},
        {"map": [{"var": "many"}, {"map": [{"var": ["no", [1] * 1500]}, 1]}]},
        {"matches": ["a" * 20_001, "(a|a)*b"]},
        {"map": [{"var": "many"}, {"matches": ["a" * 20, "(a*)*b"]}]},
    ],
    ids=lambda one: json.dumps(one)[:50],
)
def test_a_condition_that_blows_up_is_undecided(logic: Any) -> None:
    """Texts and lists that double, depth, numbers beyond every double: no call takes the gateway down."""
    facts = {"many": [1] * 1500, "large": 2**53 - 1}
    with pytest.raises(Undecided):
        read_condition(logic).value(facts)


@pytest.mark.parametrize(
    ("levels", "decided"), [(199, True), (200, True), (201, False), (400, False)]
)
def test_how_deep_a_value_may_be_is_the_same_under_every_python(levels: int, decided: bool) -> None:
    logic = {"==": [_reduce([_MADE], 1), _reduce([_MADE], 1)]}
    facts = {"many": [1] * levels}
    if decided:
        assert read_condition(logic).value(facts) is True
        return
    with pytest.raises(Undecided, match="too deep"):
        read_condition(logic).value(facts)


def test_a_place_in_a_list_with_thousands_of_digits_is_not_there() -> None:
    """An argument of a call may be a part of the name."""
    logic = {"var": {"cat": ["args.items.", {"var": "args.at"}]}}
    assert read_condition(logic).value({"args": {"items": [7], "at": "0"}}) == 7
    assert read_condition(logic).value({"args": {"items": [7], "at": "9" * 5000}}) is None
    with pytest.raises(Unresolved):
        fill_references({"$from": "look_up/" + "9" * 5000}, {"look_up": [7]})


_CONSTANTS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-100, 100),
    st.text(max_size=3),
    st.lists(st.integers(), max_size=2),
)
_OPERATORS = st.sampled_from(
    [one for vector in VECTORS if isinstance(vector["logic"], dict) for one in vector["logic"]]
)
_LOGIC = st.recursive(
    _CONSTANTS,
    lambda inner: st.dictionaries(_OPERATORS, st.lists(inner, max_size=3), min_size=1, max_size=1),
)


@given(logic=_LOGIC, facts=st.dictionaries(st.sampled_from("abc"), _CONSTANTS))
def test_whatever_is_written_is_a_value_undecided_or_refused(
    logic: Any, facts: dict[str, Any]
) -> None:
    try:
        condition = read_condition(logic)
        first, second = _evaluate(condition, facts), _evaluate(condition, facts)
    except (ConditionInvalid, ValueRefused):
        return
    assert first == second


def _evaluate(condition: Any, facts: dict[str, Any]) -> Any:
    try:
        return condition.value(facts)
    except Undecided as error:
        return str(error)
