"""Checking a value against an author's JSON Schema, in one sentence that never quotes the value.

first_problem({"type": "integer"}, "x")  ->  "the value: not of type 'integer', got string"

A value may be a person's password or a customer's letter, and logs and databases keep the sentence:
it names only the place, the rule and the type of the value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from cinatra_sdk.data.schema.checker import SchemaBroken, checker_of, text_of
from cinatra_sdk.data.schema.keywords import Break
from cinatra_sdk.data.work_budget import TooMuchWork, Work

_SHOWN: Final = 200
"""Characters of a schema's own words in one sentence."""
_SHOWN_PARTS: Final = 64
_TYPES: Final = {
    bool: "boolean", str: "string", int: "integer", float: "number", list: "array", dict: "object",
}  # fmt: skip


def first_problem(
    schema: Mapping[str, Any] | bool | str, value: Any, *, work: Work | None = None
) -> str:
    """The first way in which `value` breaks the schema; empty when it fits.

    schema: the schema, or its JSON text.

    No value fits a broken schema, or a schema that takes too many steps: a check that cannot be
    made counts as failed.  `work` is a budget that several checks share.
    """
    try:
        text = schema if isinstance(schema, str) else text_of(schema)
        found = checker_of(text).first_break(value, work)
    except SchemaBroken as broken:
        return f"its schema is no JSON Schema that can be checked: {broken}"
    except TooMuchWork as stopped:
        return f"{_format_place(stopped.path[::-1])}: it cannot be checked against its schema: {stopped}"
    return "" if found is None else f"{_format_place(found.place)}: {broken_rule(found)}"


def _format_place(path: list[str | int]) -> str:
    return "/".join(str(part)[:60] for part in path[:_SHOWN_PARTS]) or "the value"


def broken_rule(error: Break) -> str:
    """The rule of the schema that a value breaks, in the schema's words."""
    wanted, value, rule = error.wanted, error.value, error.rule
    match rule:
        case "type":
            kinds = wanted if isinstance(wanted, list) else [wanted]
            return f"not of type {' or '.join(_quote_names(kinds))}, got {type_name(value)}"
        case "required":
            missing = [name for name in wanted if name not in value]
            return f"lacks the required {', '.join(_quote_names(missing))}"[:_SHOWN]
        case "enum":
            return f"not one of {_format_json(wanted)}, got {type_name(value)}"
        case "const":
            return f"not {_format_json(wanted)}, got {type_name(value)}"
        case "additionalProperties" | "unevaluatedProperties" if wanted is False:
            known = ", ".join(_quote_names(_list_property_names(error))) or "none"
            return f"has a key that is not allowed; known are {known}"[:_SHOWN]
        case "minimum":
            return f"less than the minimum of {_format_json(wanted)}"
        case "maximum":
            return f"more than the maximum of {_format_json(wanted)}"
        case "anyOf" | "oneOf" if isinstance(wanted, list):
            how = "none" if rule == "anyOf" else "not exactly one"
            ways = "; ".join(map(_describe_alternative, wanted[:_SHOWN_PARTS]))
            return f"fits {how} of what is allowed: {ways}"[:_SHOWN] + f", got {type_name(value)}"
        case "":
            return "no value is allowed here"
    return f"breaks the rule {rule}: {_format_json(wanted)}"


def _describe_alternative(schema: Any) -> str:
    """One of several schemas in a few words: what an author calls it, else what it asks for."""
    if not isinstance(schema, dict):
        return _format_json(schema)
    if isinstance(schema.get("title"), str) and schema["title"]:
        return _format_json(schema["title"])
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(listed, list) and listed:
        return (
            "one of " + ", ".join(map(_format_json, listed))
            if len(listed) > 1
            else _format_json(listed[0])
        )
    kinds = schema.get("type")
    names = kinds if isinstance(kinds, list) else [kinds] if kinds else []
    required = schema.get("required")
    if required and isinstance(required, list) and (not names or names == ["object"]):
        return f"an object with {', '.join(_quote_names(required))}"
    return " or ".join(map(str, names)) or _format_json(schema)


def type_name(value: Any) -> str:
    """The JSON type of `value`; of what is none: `no JSON`."""
    return "null" if value is None else _TYPES.get(type(value), "no JSON")


def _list_property_names(error: Break) -> list[str]:
    schema = error.schema
    return list(schema.get("properties", ())) if isinstance(schema, dict) else []


def _quote_names(names: list[str]) -> list[str]:
    return [f"'{name}'" for name in names]


def _format_json(value: Any) -> str:
    if isinstance(value, (list, dict)) and len(value) > _SHOWN:
        # What is cut off is not written first: an author's list may hold a million names.
        value = list(value)[:_SHOWN]
    return json.dumps(value, ensure_ascii=False)[:_SHOWN]
