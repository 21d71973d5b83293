"""Every schema that a person's answer is checked against is a JSON Schema that can be checked.

an inputMessageSchema with "type": "strng", a broken pattern or a remote $ref   ->   OAS093

Apart from the other rules, because it needs a JSON Schema library, which takes longer to import
than the largest flow takes to check: `check` and `compile_flow` apply it, `compile_ir` does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from oas_compiler.diagnostics import Diagnostics
from oas_compiler.ir import FlowIR, FlowNode, InputMessageNode, JsonValue

if TYPE_CHECKING:
    from collections.abc import Iterable


def answer_schemas(flow: FlowIR, findings: Diagnostics) -> None:
    """Look at the gates of `flow` and of its subflows."""
    for node in _gates(flow):
        inner = node.cinatra.mapping().get("formSchema")
        given = [
            (
                "inputMessageSchema",
                None if node.answer_schema is None else node.answer_schema.value(),
            ),
            ("formSchema", inner),
        ]
        for name, schema in given:
            problem = "" if schema is None else _problem(schema)
            if problem:
                findings.error(
                    "OAS093",
                    f'the {name} of "{node.id}" is no JSON Schema that can be checked: {problem}',
                    node.place,
                    hint="correct it, or leave it out: the gate then asks for approval or text",
                )


def _gates(flow: FlowIR) -> Iterator[InputMessageNode]:
    for node in flow.nodes:
        if isinstance(node, InputMessageNode):
            yield node
        elif isinstance(node, FlowNode):
            yield from _gates(node.subflow)


def _problem(schema: JsonValue) -> str:
    """What is wrong with `schema`; empty when a value can be checked against it."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing.exceptions import Unresolvable

    for key, value in _members(schema):
        if key in {"$ref", "$dynamicRef"} and not str(value).startswith("#"):
            return f"{key} leads out of the document"
        if key == "pattern" and isinstance(value, str):
            try:
                re.compile(value)
            except (re.error, ValueError, OverflowError, RecursionError):
                return "a pattern is not a regular expression"
    if not isinstance(schema, (dict, bool)):
        return "it is neither an object nor a boolean"
    samples: tuple[JsonValue, ...] = ({}, [], "", 0)
    try:
        Draft202012Validator.check_schema(schema)
        # Applied once: a reference that leads nowhere shows only then.
        for sample in samples:
            Draft202012Validator(schema).is_valid(sample)
    except SchemaError as error:
        place = "/".join(str(part) for part in error.absolute_path)
        return f"at /{place} it breaks the rule {error.validator}"
    except Unresolvable:
        return "a reference leads nowhere"
    except RecursionError:
        return "it refers to itself without end"
    return ""


def _members(schema: JsonValue) -> Iterable[tuple[str, JsonValue]]:
    stack = [schema]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            yield from item.items()
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
