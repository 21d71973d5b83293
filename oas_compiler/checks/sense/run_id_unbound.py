"""A call, a trigger and a child flow get the id of the run, from the StartNode.

    "agent_run_id": "{{ agent_run_id }}", and no edge into that input      ->  OAS237
    "agent_run_id": "run-42"                                               ->  OAS237: written out
    FlowNode trigger, no edge into its agent_run_id                        ->  OAS237
    fetch.id → trigger.agent_run_id                                        ->  OAS237

A trigger inside an orchestrator fires the parent's run again, under whatever name that id has at
the parent (agent guide, rule 15).  An input that must be fed is OAS063, the source of an ApiNode's
agent_run_id OAS120, the inputs of a context selection OAS155.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from oas_compiler.checks.lookup.api_calls import GIVEN, RUN_ID, TRIGGER_TOOL, bare_names
from oas_compiler.checks.lookup.edges import Gaps, is_vague
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import ApiNode, DataEdge, FlowIR, JsonValue, Node, StartNode
from oas_compiler.text.marks import child

NAMES: Final = (*GIVEN, "parentRunId", "parent_run_id")
"""Inputs that stand for the id of a run, also of the parent's."""
_OF_A_TRIGGER: Final = ("runId", "run_id", "targetRunId")


@rule(
    code="OAS237",
    name="run-id-unbound",
    severity="warning",
    summary="The id of the run is written out, or nothing leads it to a call or a child flow.",
    fix="Lead the StartNode's cinatra_run_id to it by a data edge.",
    source="agent guide, rule 15",
    needs="cinatra",
    bad='"agent_run_id": "run-42"',
    good='"agent_run_id": "{{ agent_run_id }}"   and an edge   start.cinatra_run_id → agent_run_id',
)
def run_id_unbound(subject: Subject, report: Report) -> None:
    for call in subject.of_type("ApiNode"):
        for key, value, pointer in _find_literal_ids(call):
            said = f'"{value[:60]}", written out' if value else "an empty text"
            report(
                f"{key} of {call.label} is {said}: it names no run",
                subject.place(pointer),
                hint=f'write "{{{{ {key} }}}}", and lead the StartNode\'s cinatra_run_id to it',
            )
    for flow in subject.flows:
        gaps = Gaps(flow)
        for node in flow.nodes:
            if node.place.pointer not in subject.selecting and not is_vague(node):
                _look_at_inputs(flow, node, gaps, report)


def _look_at_inputs(flow: FlowIR, node: Node, gaps: Gaps, report: Report) -> None:
    if not _names_run(node):
        return
    for port in node.inputs:
        if port.title not in NAMES:
            continue
        edges = [edge for edge in flow.data_edges_into(node.id) if edge.input == port.title]
        if not edges and port.default is not None and not gaps.may_feed(node.id, port.title):
            what = "the child flow" if node.subflows else "the call"
            report(
                f'nothing leads the id of the run to "{port.title}" of "{node.id[:80]}": '
                f"{what} gets its default",
                port.place if port.place.pointer.startswith(node.place.pointer) else node.place,
                hint=f'add a data edge from "{_choose_run_id_title(flow)}" of the StartNode to "{port.title}"',
            )
        for edge in edges:
            # an ApiNode's agent_run_id is checked by OAS120
            if node.subflows or port.title != RUN_ID:
                _look_at_source(flow, edge, gaps, report)


def _look_at_source(flow: FlowIR, edge: DataEdge, gaps: Gaps, report: Report) -> None:
    source = flow.by_id.get(edge.source)
    if source is None or gaps.hides_ports(source) or isinstance(source, StartNode):
        return
    report(
        f'"{edge.input}" of "{edge.target[:80]}" comes from "{edge.source[:80]}", '
        "which does not know the id of the run",
        edge.place,
        hint=f'lead "{_choose_run_id_title(flow)}" of the StartNode to it',
    )


def _names_run(node: Node) -> bool:
    """Whether the id goes anywhere: into a text of a call, or on from the start of a child flow."""
    return isinstance(node, ApiNode) or any(
        edge.source == inner.start and edge.output in NAMES
        for inner in node.subflows
        for edge in inner.data_edges
    )


def _choose_run_id_title(flow: FlowIR) -> str:
    """The StartNode's name for the id of the run."""
    start = flow.by_id.get(flow.start)
    titles = [port.title for port in start.inputs] if start is not None else []
    return next((name for name in NAMES if name in titles), GIVEN[0])


def _find_literal_ids(node: Written) -> Iterator[tuple[str, str, str]]:
    """(key, value, pointer) of literal ids, at any depth of the body."""
    data = node.value.get("data")
    is_trigger = isinstance(data, dict) and data.get("tool") == TRIGGER_TOOL
    names = (*NAMES, *_OF_A_TRIGGER) if is_trigger else NAMES
    yield from _walk_literal_ids(data, node.at("data"), names)


def _walk_literal_ids(
    value: JsonValue, pointer: str, names: tuple[str, ...]
) -> Iterator[tuple[str, str, str]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk_literal_ids(item, f"{pointer}/{index}", names)
    elif isinstance(value, dict):
        for key, member in value.items():
            below = child(pointer, key)
            if isinstance(member, str):
                if key in names and "{{" not in member and not bare_names(member):
                    yield key, member, below
            else:
                yield from _walk_literal_ids(member, below, names)
