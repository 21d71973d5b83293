"""JSON values in a person's words."""

from __future__ import annotations

from oas_compiler.ir import JsonValue


def describe(value: JsonValue) -> str:
    """What a value is, in a person's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    names = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names[type(value)]
