"""Castability, pair by pair."""

from __future__ import annotations

import pytest

from oas_compiler.casting import castable, shown, type_of
from oas_compiler.ir import (
    ANY,
    STRING,
    ArrayType,
    Json,
    ObjectType,
    ScalarType,
    Type,
    UnionType,
)

INTEGER, NUMBER = ScalarType("integer"), ScalarType("number")
BOOLEAN, NULL = ScalarType("boolean"), ScalarType("null")
ANYTHING = ObjectType()


def array(items: Type) -> ArrayType:
    return ArrayType(items)


def union(*options: Type) -> UnionType:
    return UnionType(options)


def record(*required: str, closed: bool = False, **members: Type) -> ObjectType:
    return ObjectType(
        properties=tuple(members.items()), additional=None if closed else ANY, required=required
    )


def table(values: Type) -> ObjectType:
    return ObjectType(additional=values)


POSSIBLE = [
    (STRING, STRING),
    (INTEGER, STRING),
    (NUMBER, STRING),
    (BOOLEAN, STRING),
    (NULL, STRING),
    (array(INTEGER), STRING),
    (ANYTHING, STRING),
    (union(STRING, NULL), STRING),
    (INTEGER, NUMBER),
    (NUMBER, INTEGER),
    (BOOLEAN, INTEGER),
    (NUMBER, BOOLEAN),
    (STRING, ANY),
    (array(STRING), ANY),
    (union(STRING, NULL), ANY),
    (ANY, INTEGER),
    (ANY, array(INTEGER)),
    (ANY, record("id", id=STRING)),
    (array(INTEGER), array(STRING)),
    (array(ANY), array(INTEGER)),
    (array(ANYTHING), array(record(id=STRING))),
    (record(id=STRING, age=INTEGER), record(id=STRING)),
    (record(id=INTEGER), record(id=STRING)),
    (ANYTHING, record("id", id=STRING)),
    (record(id=STRING), table(STRING)),
    (table(INTEGER), table(STRING)),
    (record(closed=True, id=STRING), record(closed=True, id=STRING)),
    (INTEGER, union(INTEGER, NULL)),
    (STRING, union(INTEGER, STRING)),
    (union(INTEGER, BOOLEAN), NUMBER),
    (union(INTEGER, STRING), union(STRING, NULL)),
]

IMPOSSIBLE = [
    (STRING, INTEGER),
    (STRING, NUMBER),
    (STRING, BOOLEAN),
    (STRING, NULL),
    (STRING, array(STRING)),
    (STRING, ANYTHING),
    (NULL, INTEGER),
    (INTEGER, NULL),
    (array(STRING), INTEGER),
    (array(STRING), array(BOOLEAN)),
    (array(array(STRING)), array(array(INTEGER))),
    (ANYTHING, array(ANY)),
    (array(ANY), ANYTHING),
    (ANYTHING, INTEGER),
    (table(array(STRING)), table(array(INTEGER))),
    (record(id=STRING), record(id=INTEGER)),
    (record(closed=True, name=STRING), record("id", id=STRING)),
    (record(id=STRING, more=STRING), record(closed=True, id=STRING)),
    (record(id=STRING), table(INTEGER)),
    (union(STRING, BOOLEAN), BOOLEAN),
    (union(INTEGER, NULL), INTEGER),
    (STRING, union(INTEGER, NULL)),
]


@pytest.mark.parametrize(("source", "target"), POSSIBLE)
def test_values_that_can_be_converted_are_castable(source, target):
    assert castable(source, target)


@pytest.mark.parametrize(("source", "target"), IMPOSSIBLE)
def test_values_that_no_conversion_saves_are_not_castable(source, target):
    assert not castable(source, target)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "integer"),
        (1.5, "number"),
        ("x", "string"),
        ([], "array<any>"),
        ([1, 2], "array<integer>"),
        ([1, "x"], "array<integer | string>"),
        ({}, "object"),
        ({"id": [1]}, "object{id: array<integer>}"),
    ],
)
def test_the_type_of_a_value_is_the_narrowest(value, text):
    assert shown(type_of(value)) == text


def test_a_json_value_is_decoded_afresh_for_each_reader():
    kept = Json.of({"a": [1]})
    first = kept.mapping()
    first["a"] = "changed"
    assert kept.mapping() == {"a": [1]}
