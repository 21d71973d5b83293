"""The declared outputs of a node, taken from a response and checked.

In: the call with its `DeclaredOutput`s, and the decoded response.  Out: title → value, or
`PlatformOutputError`, which names the node, the output and the kind of the response.

    outputs  subject: string, score: integer (has a default)
    response   {"subject": "Hello", "score": null, "debug": 1}
    result   {"subject": "Hello"}          # score: the caller puts the default in

Source of the rule: Cinatra's requirement 20 (a missing output is an error that names node and
field), and Agent Spec 1.6 (an output is a top-level key of the response).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from cinatra_sdk.data.schema.checker import SchemaBroken, checker_of, text_of
from cinatra_sdk.data.schema.keywords import Break
from cinatra_sdk.data.work_budget import TooMuchWork
from cinatra_sdk.governed.host_keys import without_governed
from cinatra_sdk.outside.http_calls.protocol import (
    DeclaredOutput,
    PlatformCall,
    PlatformOutputError,
)

WHOLE_BODY = frozenset({"output", "response"})
"""A single output of this name may stand for a response that is not an object."""
_SHOWN_KEYS = 10
_SHOWN_PARTS = 64


def declared_outputs(call: PlatformCall, body: JsonValue) -> dict[str, JsonValue]:
    """The declared outputs that `body` holds; an absent one with a default is left out.

    Governed keys are dropped wherever they stand, and named in the log.
    Raises: `PlatformOutputError`.
    """
    body = without_governed(body, where=f'the response to node "{call.node}"')
    response = _as_object(call, body)
    return {
        output.title: response[output.title]
        for output in call.outputs
        if _has_valid_output(call, output, response)
    }


def _as_object(call: PlatformCall, body: JsonValue) -> Mapping[str, JsonValue]:
    """The response as an object.

    In Agent Spec a node without declared outputs has one output, `response`: the whole response,
    unless the response has a key of that name.
    """
    single = call.outputs[0].title if len(call.outputs) == 1 else ""
    if isinstance(body, dict):
        whole = single == "response" and single not in body
        return {single: body} if whole else body
    if not call.outputs:
        return {}
    if body is None and all(output.has_default for output in call.outputs):
        return {}
    if single in WHOLE_BODY:
        return {single: body}
    raise _build_output_error(
        call, f"the response must be an object with its outputs, got {type_name(body)}"
    )


def _has_valid_output(
    call: PlatformCall, output: DeclaredOutput, response: Mapping[str, JsonValue]
) -> bool:
    if output.title not in response:
        if output.has_default:
            return False
        raise _build_output_error(
            call,
            f'the response lacks the output "{output.title}"; {_describe_response_keys(response)}',
        )
    value = response[output.title]
    problem = _find_output_problem(call, output, value)
    if problem and value is None and output.has_default:
        return False
    if problem:
        raise _build_output_error(call, problem)
    return True


def _describe_response_keys(response: Mapping[str, JsonValue]) -> str:
    if not response:
        return "it is empty"
    shown = ", ".join(f'"{key[:60]}"' for key in list(response)[:_SHOWN_KEYS])
    more = len(response) - _SHOWN_KEYS
    return f"it has {shown}" + (f" and {more} more" if more > 0 else "")


def _find_output_problem(call: PlatformCall, output: DeclaredOutput, value: JsonValue) -> str:
    """How `value` breaks the output's schema, without quoting the value; empty when it fits."""
    broken = ""
    try:
        error = checker_of(text_of(output.schema)).first_break(value)
    except SchemaBroken as flawed:
        about = f'the schema declared for the output "{output.title}"'
        broken = f"{about} is no JSON Schema that can be checked: {flawed}"
    except TooMuchWork as stopped:
        where = _format_output_path(output.title, stopped.path[::-1])
        broken = f"{where} cannot be checked against its schema: {stopped}"
    if broken:
        raise _build_output_error(call, broken)
    return "" if error is None else _describe_schema_break(output.title, error)


def _format_output_path(title: str, path: list[str | int]) -> str:
    place = "".join(
        f"[{part}]" if isinstance(part, int) else f".{str(part)[:60]}"
        for part in path[:_SHOWN_PARTS]
    )
    return f'the output "{title}{place}"'


def _describe_schema_break(title: str, error: Break) -> str:
    where = _format_output_path(title, error.place)
    wanted, instance, rule = error.wanted, error.value, error.rule or "false"
    if rule == "type":
        kinds = wanted if isinstance(wanted, list) else [wanted]
        return f"{where} must be {' or '.join(map(str, kinds))}, got {type_name(instance)}"
    if rule == "required":
        missing = [key for key in wanted if key not in instance]
        return f'{where} lacks "{missing[0]}"'
    detail = json.dumps(wanted, ensure_ascii=False)
    return f"{where} breaks the rule {rule}: {detail[:120]}"


def type_name(value: Any) -> str:
    """The JSON type of `value`."""
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")


def _build_output_error(call: PlatformCall, problem: str) -> PlatformOutputError:
    return PlatformOutputError(f'node "{call.node}": {problem}', node=call.node)


# ----------------------------------------------------------------------------
# The JSON Schema of an answer, made from the outputs that a node declares.
#
# `derive_output_schema({"draft": {"type": "string"}})`
#     ->  {"type": "object", "properties": {"draft": {"title": "draft", "type": "string"}},
#          "required": ["draft"], "additionalProperties": False}
#
# Source: what newer loaders of Cinatra send to the bridge where the author wrote no `output_schema`.


def derive_output_schema(
    outputs: Mapping[str, Mapping[str, JsonValue]],
) -> dict[str, JsonValue]:
    """The schema; empty where there are no outputs, or one has no type.

    Every object with properties, at any depth, requires all its properties and refuses others.
    """
    if not outputs or any("type" not in schema or not title for title, schema in outputs.items()):
        return {}
    named = {title: {"title": title, **schema} for title, schema in outputs.items()}
    return close_schema({"type": "object", "properties": named})


def close_schema(schema: Mapping[str, Any]) -> dict[str, JsonValue]:
    """The schema, closed; the same again changes nothing."""
    closed = {key: value for key, value in schema.items() if key != "default"}
    if isinstance(closed.get("properties"), Mapping):
        closed["properties"] = {
            title: close_schema(part) if isinstance(part, Mapping) else part
            for title, part in closed["properties"].items()
        }
        closed["required"] = list(closed["properties"])
        closed["additionalProperties"] = False
    for key in ("items", "additionalProperties"):
        if isinstance(closed.get(key), Mapping):
            closed[key] = close_schema(closed[key])
    # Not allOf: of two closed members each refuses the properties of the other.
    for key in ("anyOf", "oneOf"):
        if isinstance(closed.get(key), list):
            closed[key] = [
                close_schema(part) if isinstance(part, Mapping) else part for part in closed[key]
            ]
    return closed
