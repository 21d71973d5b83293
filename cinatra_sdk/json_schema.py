"""Checking a value against an author's JSON Schema, in one sentence that never quotes the value.

first_problem('{"type": "integer"}', "x")  ->  "the value: not of type 'integer', got string"

A value may be a person's password or a customer's letter, and the sentence ends up in logs and
in databases: it names the place, the rule and the type that came instead.
"""

from __future__ import annotations

import json
from typing import Any, Final

from jsonschema.exceptions import SchemaError, UnknownType, ValidationError
from referencing.exceptions import Unresolvable

from cinatra_sdk.schema_sample import validator_for

_SHOWN: Final = 200
"""Characters of a schema's own words in one sentence."""
_TYPES: Final = {
    bool: "boolean", str: "string", int: "integer", float: "number", list: "array", dict: "object",
}  # fmt: skip


def first_problem(schema_text: str, value: Any) -> str:
    """The first way in which `value` breaks the schema; empty when it fits.

    A schema that is itself broken fits nothing: a check that cannot be made is not passed.
    """
    try:
        error = next(iter(validator_for(schema_text).iter_errors(value)), None)
    except (SchemaError, Unresolvable, UnknownType, RecursionError):
        return "its schema is no JSON Schema, so nothing can be checked against it"
    if error is None:
        return ""
    place = "/".join(str(part)[:60] for part in error.absolute_path)
    return f"{place or 'the value'}: {broken_rule(error)}"


def broken_rule(error: ValidationError) -> str:
    """The rule of the schema that a value breaks, in the schema's words."""
    wanted: Any = error.validator_value
    value: Any = error.instance
    rule = str(error.validator)
    match rule:
        case "type":
            kinds = wanted if isinstance(wanted, list) else [wanted]
            return f"not of type {' or '.join(_quoted(kinds))}, got {type_name(value)}"
        case "required":
            missing = [name for name in wanted if name not in value]
            return f"lacks the required {', '.join(_quoted(missing))}"[:_SHOWN]
        case "enum":
            return f"not one of {_json(wanted)}, got {type_name(value)}"
        case "const":
            return f"not {_json(wanted)}, got {type_name(value)}"
        case "additionalProperties" | "unevaluatedProperties" if wanted is False:
            known = ", ".join(_quoted(_properties(error))) or "none"
            return f"has a key that is not allowed; known are {known}"[:_SHOWN]
        case "minimum":
            return f"less than the minimum of {_json(wanted)}"
        case "maximum":
            return f"more than the maximum of {_json(wanted)}"
        case "None":
            return "no value is allowed here"
    return f"breaks the rule {rule}: {_json(wanted)}"


def type_name(value: Any) -> str:
    """The JSON type of `value`."""
    return _TYPES.get(type(value), "null")


def _properties(error: ValidationError) -> list[str]:
    schema = error.schema
    return list(schema.get("properties", ())) if isinstance(schema, dict) else []


def _quoted(names: list[str]) -> list[str]:
    return [f"'{name}'" for name in names]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:_SHOWN]
