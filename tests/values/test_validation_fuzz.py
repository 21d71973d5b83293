"""Schemas and values that make no sense: checked, or refused in our words, in counted steps.

A failing run prints its seed; `differ(seed)` of it fails again.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from cinatra_sdk.data.schema.keywords import KEYWORDS
from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.data.schema.samples import sample
from cinatra_sdk.data.schema.vocabulary import _SHAPES, _SUBSCHEMAS
from cinatra_sdk.data.work_budget import Work
from oas_compiler import check
from tests.counting import calls_of
from tests.effort import tries
from tests.flows import end, flow_of, gate, start

STEPS = 100_000
CALLS_PER_STEP = 60
"""Calls of functions for one counted step, at most; a few hundred more for the schema itself."""
CALLS_PER_CHARACTER = 15

WRITTEN = {
    "@deep list": "[" * 5_000 + "]" * 5_000,
    "@deep items": '{"items":' * 1_000 + "{}" + "}" * 1_000,
    "@deep allOf": '{"allOf":[' * 150 + "{}" + "]}" * 150,
    "@long number": "9" * 5_000,
    "@long negative": "-" + "9" * 5_000,
    "@infinite": "1e999",
    "@many": "{" + ",".join(f'"k{n}":{{}}' for n in range(20_000)) + "}",
    "@long text": '"' + "x" * 100_000 + '"',
}
"""What Python's own writer of JSON would not write."""
NUMBERS: list[Any] = [
    0, -1, 1, 3, 1.0, 0.1, 0.5, 2**63, -(2**64), 10**400, -(10**400), 10**4_200, 1e16, 1e308, -1e308,
    5e-324, 1e-320, float("nan"), float("inf"), float("-inf"),
]  # fmt: skip
WORDS = [
    "", "a", "\0", "\ud800", "(", "(a+)+$", "[", "#", "#/$defs/none", "#/x", "http://[", "//[/#x",
    "urn:x", "#a", "integer", "object", *WRITTEN,
]  # fmt: skip
NESTED: list[Any] = [
    [], [[]], ["a"], ["a", "a"], [1], {}, {"": {}}, {"a": 1}, {"a": {}}, {"a": ["b"]},
    ["string", "null"],
]  # fmt: skip
ABSURD: list[Any] = [None, True, False, *NUMBERS, *WORDS, *NESTED]
DEEP: list[Any] = []
for _ in range(150):
    DEEP = [DEEP]
VALUES: list[Any] = [
    None, True, *NUMBERS, 10**5_000, "a", "x" * 10_000, [1, 1.0, True, "a"], [10**5_000, 10**5_000],
    {"a": 1, "b": []}, {f"k{n}": n for n in range(2_000)}, DEEP,
]  # fmt: skip
NAMES = sorted({*KEYWORDS, *_SHAPES, *_SUBSCHEMAS, "$defs", "default", "x"})
Chance = random.Random


def written(schema: Any) -> str:
    text = json.dumps(schema)
    for name, instead in WRITTEN.items():
        text = text.replace(json.dumps(name), instead)
    return text


def any_value(chance: Chance, depth: int = 2) -> Any:
    kind = chance.random()
    if kind < 0.6 or depth == 0:
        return chance.choice(ABSURD)
    if kind < 0.8:
        return [any_value(chance, depth - 1) for _ in range(chance.randint(0, 3))]
    names = [chance.choice([*NAMES, "a", ""]) for _ in range(chance.randint(0, 3))]
    return {name: any_value(chance, depth - 1) for name in names}


def any_schema(chance: Chance, depth: int = 3) -> Any:
    made: dict[str, Any] = {}
    for _ in range(chance.randint(1, 3)):
        name = chance.choice(NAMES)
        is_nested = depth > 0 and chance.random() < 0.4
        made[name] = any_schema(chance, depth - 1) if is_nested else any_value(chance)
    if chance.random() < 0.4:
        made |= {"$ref": "#/x", "x": any_value(chance)}
    return made


def problems_of(text: str, value: Any) -> str:
    """What is said; fails where that took more than it counted."""
    work = Work(STEPS)
    said: list[str] = []
    calls = calls_of(lambda: said.append(first_problem(text, value, work=work)))
    steps = STEPS - max(work.left, 0)
    assert calls <= 1_000 + CALLS_PER_STEP * steps + CALLS_PER_CHARACTER * len(text), (calls, steps)
    return said[0]


def sampled(text: str) -> None:
    try:
        sample(json.loads(text), name="x")
    except ValueError as error:
        words = str(error)
        # Python's own reader refuses some of these texts.
        assert words.startswith(("no sample of", "the schema of", "Exceeds the limit")), words
    except RecursionError:
        assert "[" * 900 in text or '{"items":' * 500 in text


def sweep(schemas: Iterator[Any], values: Any) -> None:
    for schema in schemas:
        text = written(schema)
        for value in values:
            problems_of(text, value)


@pytest.mark.parametrize("keyword", NAMES)
def test_a_keyword_with_an_absurd_value_is_checked_or_refused(keyword: str) -> None:
    seed = random.SystemRandom().randrange(10**9)
    print("seed", seed)
    values = random.Random(seed).sample(VALUES, tries(3, len(VALUES)))
    sweep(({keyword: value} for value in ABSURD), values)


@pytest.mark.long
@pytest.mark.parametrize("keyword", NAMES)
def test_a_keyword_behind_a_reference_is_checked_or_refused(keyword: str) -> None:
    sweep(({"$ref": "#/x", "x": {keyword: value}} for value in ABSURD), VALUES)


def fuzz(seed: int, schemas: int) -> None:
    print("seed", seed)
    chance = random.Random(seed)
    for number in range(schemas):
        text = written(any_schema(chance))
        for value in chance.sample(VALUES, 4):
            problems_of(text, value)
        if number % 10 == 0:
            sampled(text)
            file = written(flow_of(start(), gate("ask", inputMessageSchema="@schema"), end()))
            check(file.replace('"@schema"', text).encode())


def test_absurd_schemas_are_checked_or_refused() -> None:
    fuzz(20261122, 150)


@pytest.mark.long
def test_many_absurd_schemas_are_checked_or_refused() -> None:
    fuzz(random.SystemRandom().randrange(10**9), 4_000)


EXACT: list[tuple[Any, Any, bool]] = [
    ({"multipleOf": 10**400}, 0.5, False),
    ({"multipleOf": 10**400}, 3 * 10**400, True),
    ({"multipleOf": 10**400}, 10**400 + 1, False),
    ({"multipleOf": 0.01}, 0.07, True),
    ({"multipleOf": 0.1}, 0.3, True),
    ({"multipleOf": 0.1}, 0.35, False),
    ({"multipleOf": 1e-320}, 1e308, True),
    ({"multipleOf": 1e308}, 1e308, True),
    ({"multipleOf": 0.5}, float("inf"), False),
    ({"multipleOf": 0.5}, float("nan"), False),
    ({"multipleOf": 7}, 7 * 10**5_000, True),
    ({"multipleOf": 7}, 7 * 10**5_000 + 1, False),
    ({"minimum": 10**400}, 1e308, False),
    ({"minimum": 10**400}, 10**400, True),
    ({"maximum": 1e308}, 10**309, False),
    ({"exclusiveMinimum": -(10**400)}, -1e308, True),
    ({"const": 10**400}, 10**400, True),
    ({"enum": [[10**400]]}, [10**400], True),
    ({"enum": [[10**400]]}, [10**400 + 1], False),
    ({"uniqueItems": True}, [[10**5_000], [10**5_000]], False),
    ({"uniqueItems": True}, [[10**5_000], [-(10**5_000)]], True),
    ({"type": "integer"}, 10**5_000, True),
    ({"maxLength": 10**400}, "a", True),
    ({"minItems": 1e300}, [], False),
]


@pytest.mark.parametrize("row", range(len(EXACT)))
def test_numbers_of_any_size_are_compared_exactly(row: int) -> None:
    schema, value, fits = EXACT[row]
    assert (first_problem(schema, value) == "") is fits


@pytest.mark.parametrize("number", ["@long number", "@long negative", "@infinite"])
@pytest.mark.parametrize("keyword", ["minimum", "multipleOf", "maxLength", "exclusiveMaximum"])
def test_a_number_that_cannot_be_read_is_named_by_its_place(keyword: str, number: str) -> None:
    text = written({"properties": {"a": {keyword: number}}})
    said = first_problem(text, {})
    assert said.startswith(
        f"its schema is no JSON Schema that can be checked: at properties/a/{keyword}, it is no"
    )


def test_what_a_reference_leads_to_is_looked_at_every_time() -> None:
    schema = {"$ref": "#/x", "x": {"items": {"minLength": "a"}}}
    for _ in range(2):
        said = first_problem(schema, [1])
        assert said.endswith("at items/minLength, it is no whole number from 0 on")


def test_a_schema_that_is_refused_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = written({"properties": {f"k{n}": {} for n in range(50)}, "minLength": -1})
    first = calls_of(lambda: first_problem(text, 1))
    assert calls_of(lambda: first_problem(text, 1)) < first / 4
