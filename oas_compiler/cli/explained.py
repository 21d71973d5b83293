"""An explanation as people read it, made for 80 columns and more.

In: an `Explanation`.  Out: something rich prints: the flow, its inputs, nodes, gates, sends, calls
and results, and the data that a host derives.
"""

from __future__ import annotations

import json
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from cinatra_sdk.text.counting import say_number
from oas_compiler.cli.explained_nodes import (
    details_of,
    find_showing_gates,
    gate_lines,
    gates_view,
    nodes_view,
    send_lines,
    sends_view,
    title_of,
)
from oas_compiler.cli.explained_pieces import (
    NOTE,
    clean,
    grid,
    indented,
    lines_of,
    name_of,
    short,
    word,
)
from oas_compiler.explain import Explanation
from oas_compiler.explain.records import TOOL_WORDS, NodeFacts
from oas_compiler.ir import Json, JsonValue

MAX_PROPERTIES: Final = 12
_ROLES: Final = {
    "asked": "asked before the run",
    "caller": "the caller gives it",
    "optional": "optional",
    "host": "only the host sets it",
}


def explanation_view(explained: Explanation) -> RenderableType:
    """The whole explanation."""
    parts: list[RenderableType] = [_format_heading(explained)]
    sections = (
        ("inputs", _format_inputs(explained)),
        ("nodes", nodes_view(explained)),
        ("gates", gates_view(explained)),
        ("sends", sends_view(explained)),
        ("calls", _format_calls(explained)),
        ("results", _format_results(explained)),
        ("environment", _format_environment(explained)),
        ("what a host derives", _format_derived(explained)),
    )
    for title, content in sections:
        if content is not None:
            parts += [Text(""), Text(title, style="bold underline"), content]
    return Group(*parts)


def node_view(explained: Explanation, node: NodeFacts) -> RenderableType:
    """One node, with the details that the list leaves out."""
    parts: list[RenderableType] = [title_of(node, full=True)]
    if node.description:
        parts.append(indented(Text(clean(node.description), style="italic")))
    shown_at = find_showing_gates(explained).get(node.path, ())
    parts.append(indented(details_of(node, full=True, shown_at=shown_at)))
    if node.gate is not None:
        parts.append(indented(gate_lines(node.gate)))
        if node.gate.answer_schema is not None:
            text = json.dumps(node.gate.answer_schema.value(), indent=2, ensure_ascii=False)
            parts.append(indented(Text("schema of the answer", style=NOTE)))
            parts.append(indented(Text(clean(text, lines=True))))
    send = next((one for one in explained.sends if one.path == node.path), None)
    if send is not None:
        parts.append(indented(send_lines(send)))
    return Group(*parts)


# ------------------------------------------------------------------------ the flow


def _format_heading(explained: Explanation) -> RenderableType:
    gates, sends = len(explained.gates), len(explained.sends)
    calls = sum(node.call is not None for node in explained.nodes)
    counts = [
        say_number(len(explained.nodes), "node"),
        say_number(gates, "gate"),
        say_number(calls, "call"),
        say_number(sends, "send"),
    ]
    named = " ".join(part for part in (explained.package, explained.version) if part)
    lines: list[RenderableType] = [Text(clean(explained.name), style="bold")]
    if named:
        lines.append(Text(clean(named), style="cyan"))
    lines.append(Text(" · ".join(counts), style=NOTE))
    if explained.description:
        lines += [Text(""), Text(clean(explained.description))]
    return Group(*lines)


def _format_inputs(explained: Explanation) -> RenderableType | None:
    if not explained.inputs:
        return None
    table = grid(3)
    for one in explained.inputs:
        how = Text(_ROLES[one.role], style="yellow" if one.role in {"asked", "host"} else "")
        if one.hidden and one.role != "host":
            how.append(", never asked for", NOTE)
        if one.default is not None:
            how.append(f", default {short(one.default)}", NOTE)
        elif one.role == "optional":
            # A node that reads it fails without it, if the node has no default either.
            how.append(", no default", NOTE)
        kind = Text(name_of(one.type), NOTE)
        table.add_row(Text(name_of(one.title), style="bold"), kind, how)
    return indented(table, 2)


def _format_results(explained: Explanation) -> RenderableType | None:
    if not explained.outputs:
        return None
    table = grid(3)
    for one in explained.outputs:
        ends = ", ".join(clean(end) for end in one.readers) or "its default"
        kind = Text(name_of(one.type), NOTE)
        table.add_row(Text(name_of(one.output), style="bold"), kind, ends)
    return indented(table, 2)


def _format_environment(explained: Explanation) -> RenderableType | None:
    if not explained.environment:
        return None
    table = grid(2)
    for one in explained.environment:
        line = f", first in line {one.line}" if one.line else ""
        given = " (given)" if one.given else ""
        table.add_row(
            Text(f"{{{{{one.name}}}}}", style="bold"),
            f"{say_number(one.count, 'time')}{line}{given}",
        )
    return indented(table, 2)


# ------------------------------------------------------------------------ calls and the host


def _format_calls(explained: Explanation) -> RenderableType | None:
    found: dict[tuple[str, str], list[str]] = {}
    for node in explained.nodes:
        if node.call is not None:
            is_request = node.call.kind not in TOOL_WORDS
            called = node.call.url if is_request else node.call.target
            found.setdefault((node.call.method, called), []).append(node.path)
    if not found:
        return None
    blocks: list[RenderableType] = []
    for (method, url), paths in found.items():
        blocks.append(Text.assemble((f"{clean(method)} " if method else "", "green"), clean(url)))
        blocks.append(indented(Text(lines_of(paths), NOTE)))
    return indented(Group(*blocks), 2)


def _format_derived(explained: Explanation) -> RenderableType:
    derived = explained.derived
    table = grid(2)
    steps = derived.approval_policy.mapping()["steps"]
    assert isinstance(steps, list)
    table.add_row(word("approvalPolicy"), say_number(len(steps), "step"))
    table.add_row(word("inputSchema"), _schema_line(derived.input_schema))
    table.add_row(word("outputSchema"), _schema_line(derived.output_schema))
    table.add_row(word("triggerMode"), clean(derived.trigger_mode))
    table.add_row(word("gatedSteps"), _format_gated_steps(explained))
    agents = derived.agent_dependencies.mapping()
    ranges = [
        f"{name} {wanted if isinstance(wanted, str) else '?'}" for name, wanted in agents.items()
    ]
    table.add_row(word("agentDependencies"), clean("\n".join(ranges), lines=True) or "none")
    for key, value in derived.limits.mapping().items() if derived.limits is not None else ():
        table.add_row(word(key), short(Json.of(value)))
    if explained.context_slots:
        table.add_row(word("contextSlots"), clean(", ".join(explained.context_slots)))
    if derived.produces_object_types:
        types = clean(", ".join(derived.produces_object_types))
        table.add_row(word("producesObjectTypes"), types)
    parts: list[RenderableType] = [table]
    seen: set[str] = set()
    for step, node, mapping in derived.input_mapping:
        if node not in seen:
            seen.add(node)
            parts.append(_format_input_mapping(step, node, mapping.mapping()))
    return indented(Group(*parts), 2)


def _format_gated_steps(explained: Explanation) -> Text:
    """The steps that a trigger holds back, in contrast to gates, which hold back every run."""
    line = Text(", ".join(map(str, explained.derived.gated_steps)) or "none")
    if explained.gates and not explained.derived.gated_steps:
        line.append("; no step has side effects of its own, and the gates ask all the same", NOTE)
    return line


def _format_input_mapping(step: int, node: str, mapping: dict[str, JsonValue]) -> RenderableType:
    table = grid(2)
    for name, template in mapping.items():
        table.add_row(name_of(name), Text(clean(str(template)), NOTE))
    title = Text.assemble(("inputMapping ", NOTE), f"step {step} ", (clean(node), "bold"))
    return Group(title, indented(table))


def _schema_line(schema: Json | None) -> str:
    if schema is None:
        return "null"
    described = schema.mapping()
    properties, required = described.get("properties"), described.get("required")
    names = list(properties) if isinstance(properties, dict) else []
    needed = required if isinstance(required, list) else []
    shown = [f"{name}{'*' if name in needed else ''}" for name in names[:MAX_PROPERTIES]]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return clean(", ".join(shown) + more) or "no properties"
