"""What a value becomes on a data edge, and which values never get into a run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cinatra_sdk.flow.plan import casts
from cinatra_sdk.flow.plan.casts import CastError, cast
from oas_compiler.ir import ANY, STRING, ArrayType, ObjectType, ScalarType, Type, UnionType

NUMBER, INTEGER, BOOLEAN = map(ScalarType, ("number", "integer", "boolean"))
NAN, INFINITY = float("nan"), float("inf")
LARGEST, SMALLEST = 2**63 - 1, -(2**63)
UNKEPT = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 400, "9" * 5000, str(2**63),
          NAN, INFINITY, -INFINITY, 2**63, SMALLEST - 1, 10**400]  # fmt: skip


@pytest.mark.parametrize("value", UNKEPT, ids=lambda value: f"{type(value).__name__}-{value!s:.12}")
@pytest.mark.parametrize("target", [NUMBER, INTEGER, BOOLEAN], ids=["number", "integer", "boolean"])
def test_a_number_that_no_run_can_keep_is_refused(value: Any, target: Type) -> None:
    with pytest.raises(CastError):
        cast(value, target)


@pytest.mark.parametrize("value", [1e30, "1e30", 2.0**63])
def test_a_float_beyond_64_bit_is_a_number_and_no_integer(value: Any) -> None:
    assert cast(value, NUMBER) == float(value)
    with pytest.raises(CastError, match="more than 64 bit"):
        cast(value, INTEGER)


@pytest.mark.parametrize("value", [LARGEST, SMALLEST])
def test_the_whole_range_of_64_bit_passes(value: int) -> None:
    assert cast(value, INTEGER) == value
    assert cast(str(value), INTEGER) == value
    assert cast(str(value), NUMBER) == value
    assert cast(value, BOOLEAN) is True


@pytest.mark.parametrize(
    ("value", "target", "expected"),
    [
        ("3.7", INTEGER, 3),
        (-3.7, INTEGER, -3),
        (True, NUMBER, 1),
        ("true", BOOLEAN, True),
        (0.0, BOOLEAN, False),
        ("0", BOOLEAN, False),
        (None, NUMBER, None),
        ("null", BOOLEAN, None),
        ("[1, 2]", ArrayType(STRING), ["1", "2"]),
        (["a", 1], STRING, '["a", 1]'),
        (None, STRING, ""),
    ],
)
def test_values_are_converted_as_agent_spec_says(value: Any, target: Type, expected: Any) -> None:
    found = cast(value, target)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    "text",
    ["[NaN]", "[1e999]", f"[{2**63}]", '["\\u0000"]', '["\\ud800"]',
     "[" * 65 + "]" * 65, "[" * 100_000 + "]" * 100_000],
    ids=["nan", "infinity", "integer", "nul", "surrogate", "too deep", "far too deep"],
)  # fmt: skip
@pytest.mark.parametrize("target", [ArrayType(ANY), ObjectType(), NUMBER, BOOLEAN])
def test_a_text_is_no_json_where_no_run_could_keep_what_it_spells(text: str, target: Type) -> None:
    with pytest.raises(CastError, match="a string cannot become"):
        cast(text, target)


@pytest.mark.parametrize(
    ("value", "told"),
    [({"a": 1}, "an object"), ([1], "an array"), ("x", "a string"), (1.5, "a number")],
)
def test_an_error_names_the_kind_of_the_value_with_its_article(value: Any, told: str) -> None:
    with pytest.raises(CastError, match=f"^{told} cannot become null$"):
        cast(value, ScalarType("null"))


def test_a_text_as_deep_as_values_may_be_is_read() -> None:
    text = "[" * 64 + "]" * 64
    assert json.dumps(cast(text, ArrayType(ANY))) == text


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", [NAN, [INFINITY], {1, 2}, object(), [b"x"], deep(100_000)],
    ids=["nan", "infinity inside", "set", "object", "bytes inside", "deep"],
)  # fmt: skip
def test_what_is_not_json_becomes_no_text(value: Any) -> None:
    with pytest.raises(CastError, match="cannot become a string"):
        cast(value, STRING)


def test_a_union_goes_on_to_the_type_that_takes_the_value() -> None:
    assert cast("NaN", UnionType((NUMBER, STRING))) == "NaN"
    with pytest.raises(CastError):
        cast("NaN", UnionType((NUMBER, BOOLEAN)))


@pytest.mark.parametrize(
    ("value", "target"),
    [
        ([["x"]], UnionType((ArrayType(STRING), ArrayType(ArrayType(STRING))))),
        ([1, 2], UnionType((ArrayType(STRING), ArrayType(INTEGER)))),
        (3, UnionType((STRING, NUMBER))),
        ({"a": 1}, UnionType((ObjectType((("a", STRING),)), ObjectType((("a", INTEGER),))))),
        ({"b": 1}, UnionType((ObjectType((("a", STRING),), required=("a",)), ObjectType()))),
        ({"a": {"b": [True]}}, UnionType((ObjectType(additional=STRING), ObjectType()))),
    ],
)
def test_what_fits_a_type_of_a_union_as_it_stands_is_not_converted(
    value: Any, target: Type
) -> None:
    assert cast(value, target) == value


def test_what_fits_no_type_of_a_union_becomes_the_first_of_its_kind() -> None:
    target = UnionType((STRING, ArrayType(STRING), ArrayType(BOOLEAN)))
    assert cast([1, 2], target) == ["1", "2"]


def test_a_list_too_long_to_be_tried_item_by_item_still_becomes_a_type_of_a_union() -> None:
    items: list[Any] = [1] * 700_000 + ["x"]
    target = UnionType((ArrayType(STRING), ArrayType(INTEGER), ArrayType(NUMBER)))
    assert cast(items, target) == ["1"] * 700_000 + ["x"]


def test_a_value_too_large_to_be_compared_becomes_the_first_type_of_its_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = UnionType((ArrayType(ArrayType(STRING)), ArrayType(ArrayType(INTEGER))))
    assert cast([[1]] * 9, target) == [[1]] * 9
    monkeypatch.setattr(casts, "_MAX_AHEAD", 10)
    assert cast([[1]] * 9, target) == [["1"]] * 9
