"""Finds values in a gate's payload that propose an answer.

In: a gate.  Out: the part of an answer that its values propose; None without a proposal.

    form {"subject", "body"}, values {"subject": "Hello", "to": "ann"}    ->  {"subject": "Hello"}
    form {"subject", "body"}, values {"draft": {"subject": "Hello", …}}   ->  {"subject": "Hello", …}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.values.schema_fields import Schema, properties_of
from oas_compiler.cli.fields import fits


def proposed(gate: Gate) -> Any:
    """Values for the fields of the gate's form, by name; for a form without fields, the value."""
    schema = gate.form.fields_schema
    parts = properties_of(schema or {})
    if not parts:
        shown = gate.values.get(gate.form.output)
        return shown if shown is not None and not fits(schema or {}, shown) else None
    for source in (gate.values, *_select_objects(gate.values)):
        if _select_fitting_values(parts, source) and (
            source is gate.values or _has_required(schema, source)
        ):
            return _select_fitting_values(parts, source)
    return None


def _select_objects(values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [value for value in values.values() if isinstance(value, Mapping)]


def _select_fitting_values(
    parts: Mapping[str, Schema], source: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        name: source[name]
        for name, part in parts.items()
        if name in source and source[name] is not None and not fits(part, source[name])
    }


def _has_required(schema: Schema | None, source: Mapping[str, Any]) -> bool:
    """Whether a shown object has the required members of the answer, so that it is not a
    namesake.
    """
    required = (schema or {}).get("required")
    return isinstance(required, list) and bool(required) and all(one in source for one in required)


def takes_any_text(gate: Gate) -> bool:
    """Whether the gate asks for one text of the person's own, and takes it without a name around it.

    A text from a list, or of a given form, is better shown by an example.
    """
    from cinatra_sdk.errors import AnswerInvalid
    from cinatra_sdk.gates.decisions import Decision
    from cinatra_sdk.values.schema_fields import properties_of

    form = gate.form
    if form.text_field is None or form.fields_schema is None:
        return False
    part = properties_of(form.fields_schema).get(form.text_field, form.fields_schema)
    if any(key in part for key in ("enum", "const", "pattern", "format", "anyOf", "oneOf")):
        return False
    example = gate.example()
    text = example.get(form.text_field) if isinstance(example, Mapping) else example
    try:
        gate.check(Decision.approve(by="nobody", value=text))
    except AnswerInvalid:
        return False
    return isinstance(text, str)
