"""Checking a value against an author's JSON Schema, in one sentence.

first_problem('{"type": "integer"}', "x")  ->  "the value: 'x' is not of type 'integer'"
"""

from __future__ import annotations

from typing import Any

from jsonschema.exceptions import SchemaError, UnknownType
from referencing.exceptions import Unresolvable

from cinatra_sdk.schema_sample import validator_for


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
    place = "/".join(str(part) for part in error.absolute_path)
    return f"{place or 'the value'}: {error.message[:200]}"
