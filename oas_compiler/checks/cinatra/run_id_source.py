"""A node's `agent_run_id` is the id of the run, and comes from the StartNode only.

    start.cinatra_run_id -> call.agent_run_id   ->   fine, also in a subflow
    fetch.id             -> call.agent_run_id   ->   OAS120

A missing edge or default is OAS063; a name in a template without an input is OAS081.

A trigger inside an orchestrator re-fires the parent's run, under whatever name the parent's id
arrives (agent guide, rule 15): a call of `trigger_config_set` takes any StartNode input.
"""

from __future__ import annotations

from collections.abc import Collection

from oas_compiler.checks.lookup.api_calls import GIVEN, RUN_ID, TRIGGER_TOOL, bare_names, templates
from oas_compiler.checks.lookup.edges import Gaps
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import DataEdge, FlowIR, StartNode


@rule(
    code="OAS120",
    name="run-id-source",
    severity="error",
    summary="The agent_run_id of an ApiNode comes from something else than the run id that the host gives.",
    fix="Declare cinatra_run_id as an input of the flow and its StartNode, and lead it to agent_run_id.",
    source="Cinatra V27",
    needs="cinatra",
    aliases=("V27", "OAS-RUNTIME-004"),
    bad='{"source_node": {"$component_ref": "fetch"}, "source_output": "id",\n "destination_node": {"$component_ref": "call"}, "destination_input": "agent_run_id"}',
    good='{"source_node": {"$component_ref": "start"}, "source_output": "cinatra_run_id",\n "destination_node": {"$component_ref": "call"}, "destination_input": "agent_run_id"}',
)
def run_id_source(subject: Subject, report: Report) -> None:
    callers = {
        node.pointer: _sets_trigger(node) and node.depth > 0
        for node in subject.of_type("ApiNode")
        if _uses_run_id(node)
    }
    listed = {
        flow.pointer: set(flow.titles("inputs"))
        for flow in subject.of_type("Flow")
        if flow.value.get("inputs") is not None
    }
    for flow in subject.flows:
        gaps = Gaps(flow)
        inputs = listed.get(flow.place.pointer)
        for edge in flow.data_edges:
            target = flow.by_id.get(edge.target)
            if edge.input != RUN_ID or target is None or target.place.pointer not in callers:
                continue
            source = flow.by_id.get(edge.source)
            if source is None or gaps.hides_ports(source):
                continue  # the source may be the StartNode or its input: another finding reports the problem
            if callers[target.place.pointer] and _from_start(edge, flow):
                continue
            problem = _find_source_problem(edge, flow, inputs)
            if problem:
                report(
                    f'{RUN_ID} of "{target.id}" {problem}',
                    edge.place,
                    hint="lead the StartNode's cinatra_run_id to it",
                )


def _uses_run_id(node: Written) -> bool:
    return any(RUN_ID in text and RUN_ID in bare_names(text) for text, _ in templates(node))


def _sets_trigger(node: Written) -> bool:
    data = node.value.get("data")
    return isinstance(data, dict) and data.get("tool") == TRIGGER_TOOL


def _from_start(edge: DataEdge, flow: FlowIR) -> bool:
    return isinstance(flow.by_id.get(edge.source), StartNode)


def _find_source_problem(edge: DataEdge, flow: FlowIR, inputs: Collection[str] | None) -> str:
    """The problem with the source of one edge; empty when it is the host's run id.

    `inputs`: the flow's listed inputs; `None` when only its StartNode lists them.
    """
    if not _from_start(edge, flow):
        return f'comes from "{edge.source[:80]}", not from the StartNode'
    if edge.output not in GIVEN:
        return f'comes from "{edge.output[:80]}", which is not the id of the run'
    if inputs is not None and edge.output not in inputs:
        return f'comes from "{edge.output}", which the flow does not list as an input'
    return ""
