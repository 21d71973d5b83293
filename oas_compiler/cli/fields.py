"""One field of a form: turns a typed line into the JSON value that the field's schema asks for.

In: a JSON Schema and a line of text.  Out: the value, or `NotFitting` with the reason.

    read_field({"type": "integer"}, "12")                      ->  12
    read_field({"enum": ["send", "continue"]}, "2")            ->  "continue"
    read_field({"type": "array", "items": {"type": "string"}}, "a, b")  ->  ["a", "b"]
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from cinatra_sdk.values.json_schema import first_problem
from cinatra_sdk.values.schema_fields import Schema, choices, read_type
from oas_compiler.cli.inputs import NOT_JSON, decoded
from oas_compiler.cli.safe import clean

_LONGEST_NUMBER: Final = 6
_YES_NO: Final = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}
_NAMES: Final = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "y or n",
    "array": "list",
    "object": "JSON object",
    "null": "null",
}


class NotFitting(ValueError):
    """The typed text is not a value of the field; the message says why."""


def kind(schema: Schema) -> str:
    """The kind of value to type, in two or three words."""
    if choices(schema):
        return "choice"
    items = _read_item_type(schema)
    if read_type(schema) == "array" and items in {"string", "integer", "number"}:
        return f"list of {_NAMES[items]}s, by commas or as JSON"
    return _NAMES.get(read_type(schema), "text or JSON")


def words_of(name: str, schema: Schema) -> list[str]:
    """The author's description of a field, with its lines, safe for a terminal."""
    texts = [schema.get(key) for key in ("title", "description")]
    told = {text.rstrip("."): text for text in texts if isinstance(text, str) and text}
    return [clean(text, lines=True) for bare, text in told.items() if bare != name]


def read_field(schema: Schema, typed: str) -> Any:
    """The value of a typed text.

    Raises: `NotFitting`.
    """
    options = choices(schema)
    value = _parse_choice(options, typed.strip()) if options else _parse_value(schema, typed)
    problem = fits(schema, value)
    if problem:
        raise NotFitting(problem)
    return value


def as_typed(schema: Schema, value: Any) -> str:
    """The text to type for `value`; empty where no typed text gives this value."""
    listed = isinstance(value, list) and all(isinstance(item, str) for item in value)
    texts = [
        value if isinstance(value, str) else "",
        {True: "y", False: "n"}[value] if isinstance(value, bool) else "",
        ", ".join(value) if listed else "",
        json.dumps(value, ensure_ascii=False),
    ]
    for text in texts:
        try:
            if text.strip() and same(read_field(schema, text), value):
                return text
        except NotFitting:
            continue
    return ""


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; Python's == cannot tell, because 1 == True."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def fits(schema: Schema, value: Any) -> str:
    """Why `value` does not fit `schema`; empty when it does.

    A field whose schema refers to a part of the whole form is checked with the form.
    """
    text = json.dumps(schema)
    if '"$ref"' in text or '"$dynamicRef"' in text:
        return ""
    return first_problem(text, value)


def _parse_choice(options: list[Any], typed: str) -> Any:
    for option in options:
        if typed == (option if isinstance(option, str) else json.dumps(option)):
            return option
    if is_numbered(options) and typed.isdecimal() and 1 <= int(typed) <= len(options):
        return options[int(typed) - 1]
    what = f"a number from 1 to {len(options)}" if is_numbered(options) else "one of the values"
    raise NotFitting(f"type {what}")


def is_numbered(options: list[Any]) -> bool:
    """Whether options can be chosen by number: no option looks like the number of another
    option.
    """
    texts = [one if isinstance(one, str) else json.dumps(one) for one in options]
    return not any(
        text.isdecimal() and 1 <= int(text) <= len(options) and int(text) != place
        for place, text in enumerate(texts, 1)
        if len(text) < _LONGEST_NUMBER
    )


def _parse_value(schema: Schema, typed: str) -> Any:
    wanted = read_type(schema)
    if wanted == "string":
        return "" if typed.strip() == '""' else typed
    if wanted == "boolean":
        if typed.strip().lower() not in _YES_NO:
            raise NotFitting("type y or n")
        return _YES_NO[typed.strip().lower()]
    value = decoded(typed)
    if wanted in {"integer", "number"} and (
        value is NOT_JSON or isinstance(value, bool) or not isinstance(value, (int, float))
    ):
        raise NotFitting(f"type a {_NAMES[wanted]}")
    if wanted == "array" and not isinstance(value, list) and _read_item_type(schema) in _NAMES:
        return [
            _parse_value({"type": _read_item_type(schema)}, part.strip())
            for part in typed.split(",")
        ]
    if wanted in {"array", "object"} and value is NOT_JSON:
        raise NotFitting("type JSON")
    if value is NOT_JSON or (not wanted and fits(schema, value) and not fits(schema, typed)):
        return typed
    return value


def _read_item_type(schema: Schema) -> str:
    items = schema.get("items")
    return read_type(items) if isinstance(items, Mapping) else ""
