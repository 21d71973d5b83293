"""Values are checked as the library `jsonschema` checks them, in counted steps."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from referencing import Registry

from cinatra_sdk.data.patterns.syntax import end_as_in_json_schema
from cinatra_sdk.data.schema.checker import SchemaBroken, checker_of, text_of
from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.data.schema.samples import sample
from cinatra_sdk.data.work_budget import TooMuchWork, Work

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"
NAMES = ["a", "b", "c"]
SCALARS = [0, 1, 1.0, 2.5, -1, True, False, None, "", "a", "ab", "abc", "1", 10**10, 3]
BROKEN = (SchemaBroken, RecursionError, TooMuchWork)
Chance = random.Random


def random_value(chance: Chance, depth: int = 3) -> Any:
    kind = chance.random()
    if depth <= 0 or kind < 0.5:
        return chance.choice(SCALARS)
    if kind < 0.75:
        return [random_value(chance, depth - 1) for _ in range(chance.randint(0, 3))]
    return {
        chance.choice(NAMES): random_value(chance, depth - 1) for _ in range(chance.randint(0, 3))
    }


def random_schema(chance: Chance, depth: int = 3) -> Any:
    if chance.random() < 0.08:
        return chance.choice([True, False])
    made: dict[str, Any] = {}
    for _ in range(chance.randint(0, 3)):
        keyword = chance.choice(list(_KEYWORDS))
        made[keyword] = _KEYWORDS[keyword](chance, depth)
    if depth == 3:
        made["$defs"] = {
            "x": random_schema(chance, 1),
            "y": random_schema(chance, 1),
            "z": {"$anchor": "zz", **_object(chance)},
            "w": {"$id": "http://w/", "$dynamicAnchor": "dyn", **_object(chance)},
        }
        if chance.random() < 0.3:
            made["$dynamicAnchor"] = "dyn"
    return made


def _object(chance: Chance) -> dict[str, Any]:
    made = random_schema(chance, 1)
    return made if isinstance(made, dict) else {}


def _part(chance: Chance, depth: int) -> Any:
    return (
        random_schema(chance, depth - 1)
        if depth > 0
        else chance.choice([True, {"type": "string"}, False])
    )


def _some(*choices: Any) -> Any:
    return lambda chance, _depth: chance.choice(choices)


def _parts(chance: Chance, depth: int) -> Any:
    return [_part(chance, depth) for _ in range(chance.randint(1, 3))]


def _by_name(names: list[str], part: Any) -> Any:
    return lambda chance, depth: {
        name: part(chance, depth) for name in chance.sample(names, chance.randint(0, 2))
    }


def _names(chance: Chance, _depth: int) -> Any:
    return chance.sample(NAMES, chance.randint(0, 2))


_KEYWORDS: dict[str, Any] = {
    "type": _some("string", "integer", "number", "boolean", "null", "array", "object", ["string", "null"]),
    "enum": lambda chance, _: [random_value(chance, 2) for _ in range(chance.randint(1, 4))],
    "const": lambda chance, _: random_value(chance, 2),
    "multipleOf": _some(1, 2, 0.5, 0.1, 3),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _some(0, 1, 2, 2.5)),
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
         "minContains", "maxContains"), _some(0, 1, 2, 3)),
    "pattern": _some("^a", "b$", "\\d", "^(a|b)*$", "(?=a)"),
    "required": _names,
    "properties": _by_name(NAMES, _part),
    "patternProperties": _by_name(["^a", "b", "[ac]"], _part),
    "propertyNames": _some({"pattern": "^[ab]"}, {"maxLength": 1}, True, False, {"enum": ["a", "c"]}),
    **dict.fromkeys(("additionalProperties", "items", "contains", "not", "if", "then", "else",
                     "unevaluatedProperties", "unevaluatedItems"), _part),
    **dict.fromkeys(("prefixItems", "allOf", "anyOf", "oneOf"), _parts),
    "uniqueItems": _some(True, False),
    "dependentRequired": _by_name(NAMES, _names),
    "dependentSchemas": _by_name(NAMES, _part),
    "$ref": _some("#/$defs/x", "#/$defs/y", "#zz", "http://w/"),
    "$dynamicRef": _some("#dyn", "http://w/#dyn", "#zz"),
}  # fmt: skip


def by_library(schema: Any, value: Any) -> bool | None:
    """Whether the library lets `value` pass; None where it cannot tell."""
    registry: Registry[Any] = Registry()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Draft202012Validator(schema, registry=registry).is_valid(value)
        except Exception:
            return None


def differ(seed: int, schemas: int) -> int:
    print("seed", seed)
    chance = random.Random(seed)
    compared = 0
    for _ in range(schemas):
        schema = random_schema(chance)
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError:
            with pytest.raises(SchemaBroken):
                checker_of(json.dumps(schema))
            continue
        checker = checker_of(json.dumps(schema))
        for _ in range(5):
            value = random_value(chance)
            try:
                fits = checker.first_break(value, Work(3_000)) is None
            except BROKEN:
                continue  # the library might go on for ever
            wanted = by_library(schema, value)
            if wanted is not None:
                compared += 1
                assert fits is wanted, (schema, value)
    return compared


def test_verdicts_are_those_of_the_library() -> None:
    assert differ(20261122, 100) > 300


@pytest.mark.long
def test_verdicts_are_those_of_the_library_for_many_schemas() -> None:
    assert differ(random.SystemRandom().randrange(10**9), 10_000) > 30_000


def test_schemas_of_real_files_give_the_verdicts_they_gave() -> None:
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real flows is not beside this checkout")
    seen = 0
    for schema in corpus_schemas():
        text = json.dumps(schema)
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError:
            with pytest.raises(SchemaBroken):
                checker_of(text)
            continue
        for value in [None, "", "x", 1, [], {}, {"approved": True}, *made_up(schema)]:
            wanted = by_library(schema, value)
            if wanted is not None:
                seen += 1
                assert (first_problem(text, value) == "") is wanted, (schema, value)
    assert seen


def made_up(schema: Any) -> list[Any]:
    try:
        return [sample(schema, name="x")]
    except ValueError:
        return []


def corpus_schemas() -> list[Any]:
    found: dict[str, Any] = {}

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            for key, member in value.items():
                if key in {"inputMessageSchema", "formSchema", "json_schema"} and isinstance(
                    member, dict
                ):
                    found[json.dumps(member, sort_keys=True)] = member
                collect(member)
        elif isinstance(value, list):
            for item in value:
                collect(item)

    for path in CORPUS.rglob("*.json"):
        try:
            collect(json.loads(path.read_text(encoding="utf-8")))
        except ValueError:
            continue
    return list(found.values())


def test_work_grows_with_schema_and_value_and_not_with_their_product() -> None:
    schema = json.dumps({"uniqueItems": True})

    def steps(length: int) -> int:
        work = Work(10**9)
        assert checker_of(schema).first_break([{"k": n} for n in range(length)], work) is None
        return 10**9 - work.left

    assert steps(4_000) < 3 * steps(2_000)


def test_a_check_that_takes_too_many_steps_names_the_place_and_the_rule() -> None:
    text = json.dumps(
        {"properties": {"form": {"items": {"$ref": "#/$defs/a"}}},
         "$defs": {"a": {"anyOf": [{"items": {"$ref": "#/$defs/a"}}] * 8, "type": "array"}}}
    )  # fmt: skip
    value: Any = 1
    for _ in range(20):
        value = [value]
    assert first_problem(text, {"form": [[], value]}, work=Work(50_000)).startswith("form/1/0/0")
    assert "it takes more than" in first_problem(text, {"form": [value]}, work=Work(50_000))


def test_a_schema_without_references_is_checked_without_the_library() -> None:
    code = (
        "import sys; from cinatra_sdk.data.schema.problems import first_problem; "
        'assert not first_problem(\'{"type": "object"}\', {}); '
        "print('jsonschema' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (
            {"properties": {"name": {"pattern": "(a"}}},
            (
                'at properties/name/pattern, the pattern "(a" cannot be used: it is no regular '
                "expression (( is not closed)"
            ),
        ),
        (
            {"items": [{"patternProperties": {"a" * 10_001: {}}}]},
            "at items, Draft 2020-12 is read, in which a list of schemas stands under prefixItems",
        ),
        (
            {"patternProperties": {"a" * 10_001: {}}},
            (
                f'at patternProperties/{"a" * 80}, the pattern "{"a" * 80}" cannot be used: '
                "it is longer than 10,000 characters"
            ),
        ),
        (
            {"pattern": "(" * 101 + ")" * 101},
            f'at pattern, the pattern "{"(" * 80}" cannot be used: its groups nest deeper than 100',
        ),
        ({"$ref": "#/$defs/none"}, 'the reference "#/$defs/none" leads nowhere'),
        ({"$ref": "#/title", "title": "x"}, 'the reference "#/title" leads to no schema'),
        ({"type": "object", "required": "a"}, "at required, it is no list of strings"),
    ],
)
def test_a_schema_that_cannot_be_used_is_told_with_place_and_reason(
    schema: Any, problem: str
) -> None:
    said = first_problem(schema, {"name": "x"})
    assert said == f"its schema is no JSON Schema that can be checked: {problem}"


def test_schemas_that_refer_to_each_other_without_an_end_are_told_with_the_reference() -> None:
    circle = {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert first_problem(circle, {"a": 1}) == (
        "a: it cannot be checked against its schema: its schemas stand inside each other, or refer "
        'to each other, too deeply; the last reference was "#/$defs/a"'
    )


def test_a_schema_that_nests_deeper_than_a_value_may_is_told() -> None:
    deep: Any = {}
    for _ in range(250):
        deep = {"not": deep}
    said = first_problem(deep, 1)
    assert said.endswith("its schemas stand inside each other, or refer to each other, too deeply")
    # Python 3.13 reads ten thousand levels, older ones a thousand.
    assert first_problem('{"items":' * 100_000 + "{}" + "}" * 100_000, 1).endswith(
        "it nests too deeply to be read"
    )


# ------------------------------------------------------------------ members that no keyword names


CLOSED: Any = {
    "properties": {"a": {}},
    "patternProperties": {"^x_": {}},
    "additionalProperties": False,
}
TEXTS: Any = {**CLOSED, "additionalProperties": {"type": "string"}}


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        (CLOSED, {}, True),
        (CLOSED, {"a": 1}, True),
        (CLOSED, {"x_1": 1, "x_2": []}, True),  # a pattern names them
        (CLOSED, {"a": 1, "x_1": 1, "b": 1}, False),
        (CLOSED, {"b": 1}, False),
        (CLOSED, {"bx_1": 1}, False),
        (CLOSED, ["b"], True),  # no object
        (TEXTS, {"x_1": 1, "a": 1}, True),
        (TEXTS, {"b": "text"}, True),
        (TEXTS, {"b": 1}, False),
        ({"additionalProperties": False}, {"a": 1}, False),
        ({"additionalProperties": False}, {}, True),
        ({"patternProperties": {"^x_": {"type": "string"}}, "additionalProperties": False}, {"x_1": 1}, False),
        ({"patternProperties": {"^x_": {}}, "additionalProperties": False}, {"x_1": 1}, True),
        ({"unevaluatedProperties": False, "patternProperties": {"^x_": {}}}, {"x_1": 1}, True),
        ({"unevaluatedProperties": False, "patternProperties": {"^x_": {}}}, {"y": 1}, False),
    ],
)  # fmt: skip
def test_members_that_no_keyword_names(schema: Any, value: Any, *, fits: bool) -> None:
    assert (first_problem(schema, value) == "") is fits
    assert Draft202012Validator(schema).is_valid(value) is fits


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": "^[a-z]+$"}, "bcc\n"),
        ({"pattern": "^(?:a|b$)"}, "b\n"),
        ({"propertyNames": {"pattern": "^[a-z]+$"}}, {"bcc\n": 1}),
        ({"patternProperties": {"^to$": {"const": "x"}}, "additionalProperties": False}, {"to\n": "x"}),
    ],
)  # fmt: skip
def test_the_end_of_a_pattern_is_the_end_of_the_text(schema: Any, value: Any) -> None:
    """Python's `$` also stands before a line break at the end; that of JSON Schema does not."""
    assert checker_of(text_of(schema)).first_break(value) is not None
    fine = {"bcc": 1} if isinstance(value, dict) and "propertyNames" in schema else None
    if fine is not None:
        assert checker_of(text_of(schema)).first_break(fine) is None


@pytest.mark.parametrize(
    ("pattern", "read"),
    [
        (r"^a$", r"^a\Z"), (r"\$", r"\$"), ("[$]", "[$]"), ("[]$]$", r"[]$]\Z"), ("[^]$]$", r"[^]$]\Z"),
        (r"[\]$]$", r"[\]$]\Z"), ("(?m)^a$", "(?m)^a$"), ("a|b$", r"a|b\Z"), (r"\\$", r"\\\Z"),
    ],
)  # fmt: skip
def test_the_end_of_a_pattern_is_read_as_json_schema_means_it(pattern: str, read: str) -> None:
    assert end_as_in_json_schema(pattern) == read
