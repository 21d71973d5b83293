"""The content of a node apart from its id, and the places where two JSON values differ.

content(node) -> {"name": "Write", "url": "https://…", "data": {…}, "riskClass": "write", …}
leaves({"a": [1, 2]}, {"a": [1, 3]}) -> (("a/1", 2, 3),)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from functools import lru_cache
from typing import Final

from oas_compiler.checks.credentials import credential
from oas_compiler.ir import (
    NOTHING,
    AgentTool,
    AgentToolbox,
    Behind,
    CallRetryPolicy,
    ClientToolNode,
    FlowIR,
    GateStep,
    InputMessageNode,
    Json,
    JsonValue,
    McpToolNode,
    McpTransport,
    Node,
    Port,
    RemoteToolNode,
    ToolNode,
)
from oas_compiler.text.secrets import without_secrets

MISSING: Final = object()
MOST_LEAVES = 20
"""Differing places that are named within one value."""
_SHOWN = 80
_BEFORE = 25
"""Characters that are shown before the first difference of two long values."""
_ELSEWHERE = frozenset(
    {
        "id",
        "inputs",
        "outputs",
        "place",
        "subflow",
        "subflows",
        "cinatra",
        "unread",
        "behind",
        "request_place",
        "results",
    }
)
_WIRE_NAMES: Mapping[str, str] = {
    "risk_class": "riskClass",
    "answer_schema": "inputMessageSchema",
    "max_visits": "maxGateVisits",
    "gate_steps": "gateSteps",
    "package_name": "packageName",
    "method": "http_method",
    "query": "query_params",
    "retry": "retry_policy",
    "on_item_error": "onItemError",
    "renderers": "inputRenderers",
    "pattern": "regex_pattern",
    "first_only": "return_first_match_only",
}
_READ_ELSEWHERE = frozenset(
    {
        "effect", "onItemError", "riskClass", "inputMessageSchema", "maxGateVisits", "gateSteps", "packageName",
        "renderer", "inputRenderers", "required", "hidden",
    }
)  # fmt: skip
"""Keys of `metadata.cinatra` that are fields of the IR."""


@lru_cache(maxsize=20_000)
def content(node: Node) -> Mapping[str, JsonValue]:
    """Field → value, under the names that authors write; without id and ports."""
    found: dict[str, JsonValue] = {}
    for member in fields(node):
        value = getattr(node, member.name)
        if member.name not in _ELSEWHERE and value != member.default:
            found[_WIRE_NAMES.get(member.name, member.name)] = _encode_value(value)
    held = {_WIRE_NAMES.get(field.name, field.name) for field in fields(node)}
    for key, value in node.cinatra.mapping().items():
        if key == "inputRenderers" and isinstance(node, InputMessageNode):
            value = _other_renderers(value, node)  # noqa: PLW2901 - the part that is no field
        if key not in held or key not in _READ_ELSEWHERE:
            found[f"metadata.cinatra.{key}"] = value
    found.update(node.unread.mapping())
    if isinstance(node, (ToolNode, RemoteToolNode, ClientToolNode, McpToolNode)):
        found.update(_read_tool(node.behind))
    return found


def _read_tool(tool: Behind) -> Iterator[tuple[str, JsonValue]]:
    """Of a tool what decides who is asked before it works."""
    if tool.risk_class:
        yield "tool/metadata.cinatra.riskClass", tool.risk_class
    if tool.asks_person:
        yield "tool/requires_confirmation", True


def _other_renderers(value: JsonValue, gate: InputMessageNode) -> JsonValue:
    """The renderers except the one of the gate's output, which is the field `renderer`."""
    if not isinstance(value, dict) or not gate.outputs:
        return value
    return {title: name for title, name in value.items() if title != gate.outputs[0].title}


def flow_content(flow: FlowIR) -> Mapping[str, JsonValue]:
    """Field → value of a flow itself, without its nodes."""
    found: dict[str, JsonValue] = {
        "id": flow.id,
        "name": flow.name,
        "description": flow.description,
    }
    for key, value in flow.cinatra.mapping().items():
        found[f"metadata.cinatra.{key}"] = value
    return found


def port_content(port: Port) -> dict[str, JsonValue]:
    """The property as JSON Schema, with its default."""
    found = {key: value for key, value in port.schema.mapping().items() if key != "default"}
    if port.default is not None:
        found["default"] = port.default.value()
    if port.cinatra.text != NOTHING.text:
        found["cinatra"] = port.cinatra.value()
    return found


def likeness(node: Node) -> str:
    """A key that is equal for two nodes with the same content under different ids and names."""
    found: dict[str, JsonValue] = {**content(node)}
    found.pop("name", None)
    for side, ports in (("in", node.inputs), ("out", node.outputs)):
        found[f" {side}"] = [[port.title, port_content(port)] for port in ports]
    if node.subflows:
        found[" inside"] = [*sorted(inner.id for flow in node.subflows for inner in flow.nodes)]
    return f"{type(node).__name__} {Json.of(found).text}"


def _encode_value(value: object) -> JsonValue:
    """A field's value as JSON."""
    if isinstance(value, Json):
        return value.value()
    if isinstance(value, GateStep):
        made: dict[str, JsonValue] = {
            "name": value.name,
            "description": value.description,
            "renderer": value.renderer,
            "riskClass": value.risk_class,
            "requiresApproval": value.requires_approval,
            "hitlOwnedBy": value.hitl_owned_by,
            "gateCount": value.gate_count,
        }
        return {key: entry for key, entry in made.items() if entry not in {"", None}}
    if isinstance(value, AgentTool):
        return {"name": value.name, "description": value.description}  # its node has the rest
    if isinstance(value, AgentToolbox):
        return value.calls
    if isinstance(value, McpTransport):
        return {part.name: _encode_value(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, CallRetryPolicy):
        return {key: _encode_value(entry) for key, entry in asdict(value).items()}
    if isinstance(value, tuple):
        return [_encode_value(entry) for entry in value]
    assert value is None or isinstance(value, (str, int, float, bool))
    return value


def leaves(before: object, after: object, at: str = "") -> Iterator[tuple[str, object, object]]:
    """(place, before, after) of every differing leaf; `MISSING` for an absent value."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            inner = f"{at}/{key}" if at else str(key)
            yield from leaves(before.get(key, MISSING), after.get(key, MISSING), inner)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from leaves(one, other, f"{at}/{index}" if at else str(index))
    elif type(before) is not type(after) or before != after:
        yield at, before, after


def _mask_secrets(value: object) -> object:
    """The value, in which every text that looks like a credential is starred."""
    if isinstance(value, str):
        text = without_secrets(value)
        kind = credential(text)
        return f"({kind})" if kind else text
    if isinstance(value, list):
        return [_mask_secrets(entry) for entry in value]
    if isinstance(value, dict):
        return {without_secrets(key): _mask_secrets(entry) for key, entry in value.items()}
    return value


def brief(value: object) -> str:
    """A value on one line, shortened, without text that looks like a credential."""
    text = _format_value(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def contrasted(before: object, after: object) -> tuple[str, str]:
    """Two values, formatted by `brief`; of long values the part around their first difference."""
    one, other = _format_value(before), _format_value(after)
    if not one or not other or max(len(one), len(other)) <= _SHOWN:
        return brief(before), brief(after)
    first = next(
        i for i, (a, b) in enumerate(zip(one + "\0", other + "\1", strict=False)) if a != b
    )
    start = max(0, first - _BEFORE)
    return _cut_text(one, start), _cut_text(other, start)


def _cut_text(text: str, start: int) -> str:
    head = "…" if start else ""
    end = start + _SHOWN - len(head)
    return f"{head}{text[start:]}" if len(text) <= end else f"{head}{text[start : end - 1]}…"


def _format_value(value: object) -> str:
    return "" if value is MISSING else Json.of(_mask_secrets(value)).text
