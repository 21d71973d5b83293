"""Every component of the flow is of a kind that runs, and uses no feature that does not run.

    two OciAgents                  ->  OAS090 not supported yet: OciAgent "ward" (line 12), OciAgent …
    a root that is a ServerTool    ->  OAS090 not supported yet: ServerTool "look_up" (a part …) (line 1)

A kind of node runs where it has a lowering.  `oasflow ir` shows flows without one, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from oas_compiler.checks.subject import Subject
from oas_compiler.document.component_types import (
    can_stand_alone,
    fields_of,
    is_known,
    is_plugin_type,
)
from oas_compiler.document.scope import Located
from oas_compiler.document.survey import list_used
from oas_compiler.document.wayflow_nodes import list_differences
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue, Place
from oas_compiler.kinds.registry import FOREIGN_REASONS, REASONS, RUNNERS, find_kind, find_refusal

_PART: Final = " (a part of flows and agents, which does nothing by itself)"


@rule(
    code="OAS090",
    name="not-supported",
    severity="error",
    summary="The flow uses components or fields that this version cannot run; the one finding "
    "lists all of them.",
    fix="Replace an OciAgent by an Agent, or by an ApiNode that calls the platform's bridge.",
    source="oasflow, supported components",
    needs="document",
    bad='{"component_type": "AgentNode", "agent": {"component_type": "OciAgent", …}, …}',
    good='{"component_type": "AgentNode", "agent": {"component_type": "Agent", …}, …}',
)
def supported_kinds(subject: Subject, report: Report) -> None:
    root = subject.document.root
    listed: list[tuple[Place, str]] = []
    for found in list_used(subject.document):
        is_root = root is not None and found.pointer == root.pointer
        for label in _list_labels(found, is_root=is_root):
            place = subject.place(found.pointer)
            line = f" (line {place.line})" if place.line else ""
            listed.append((place, f"{label}{line}"))
    if listed:
        listed.sort(key=lambda entry: (entry[0].line, entry[0].column))
        names = ", ".join(label for _, label in listed)
        report(
            f"not supported yet: {names}",
            listed[0][0],
            hint="write an ApiNode, a ToolNode over a ServerTool or a FlowNode in its place; "
            "`check` still looks at the rest of the flow",
        )


def refuse_root(subject: Subject, report: Report) -> None:
    """The same of a document whose root is no flow: of that there is nothing to look at either."""
    if subject.flow is None and subject.document.root is not None:
        supported_kinds.look(subject, report)


def _list_labels(found: Located, *, is_root: bool) -> Iterator[str]:
    """What of a component does not run; nothing of most, or of a refused type (OAS055)."""
    kind, value = found.component_type, found.value
    assert isinstance(value, dict)
    if find_refusal(kind) is not None:
        return
    name = _read_text(value.get("id")) or _read_text(value.get("name"))
    label = f'{kind} "{name}"' if name else kind
    node_kind = find_kind(kind)
    foreign = not is_known(kind) and (is_plugin_type(kind) or "component_plugin_name" in value)
    known_root = is_root and is_known(kind) and kind != "Flow" and not can_stand_alone(kind)
    if kind in RUNNERS or (node_kind is not None and not node_kind.runs) or foreign or known_root:
        reason = f" ({REASONS[kind]})" if kind in REASONS else _PART if known_root else ""
        yield label + (_describe_foreign(kind, value) if foreign else reason)
        return
    for field, about in (fields_of(kind) or {}).items():
        why = about.refused(value.get(field)) if about.refused is not None else False
        if why:
            yield f"{label} with {field}" + (f" ({why})" if isinstance(why, str) else "")


def _describe_foreign(kind: str, value: Mapping[str, JsonValue]) -> str:
    """Why a type of another runtime does not run, as far as that is known here."""
    fields = list_differences(value)
    if fields:
        return f" with {', '.join(fields)}"
    for begin, end, reason in FOREIGN_REASONS:
        if kind.startswith(begin) and kind.endswith(end):
            return f" ({reason})"
    return _describe_plugin(value)


def _describe_plugin(value: Mapping[str, JsonValue]) -> str:
    """The plugin that adds a foreign type, as the file names it."""
    plugin = _read_text(value.get("component_plugin_name"))
    version = _read_text(value.get("component_plugin_version"))
    if not plugin:
        return ""
    named = f'"{plugin[:80]}" {version[:40]}'.strip()
    return f" of the plugin {named}, for which no package is installed"


def _read_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
