"""Real input: every supported flow compiles unchanged, every other is refused with a place."""

from __future__ import annotations

import re

import pytest

from oas_compiler import ir
from oas_compiler.pipeline import check, compile_ir
from tests.samples import AGENTSPEC, CINATRA, CORPUS, INVALID, agent, errors, needs_corpus

pytestmark = needs_corpus

# the published count of what the files hold: nodes of all flows, gates, control and data edges
COUNTS = {
    "author-agent": (3, 0, 2, 4),
    "blog-draft-writer-agent": (12, 1, 11, 41),
    "context-selection-agent": (8, 1, 8, 23),
    "email-drafting-agent": (5, 1, 4, 10),
    "email-outreach-agent": (37, 8, 33, 62),
    "email-test-delivery-agent": (6, 1, 6, 12),
    "media-feed-lister-agent": (3, 0, 2, 11),
    "project-manager-agent": (4, 0, 3, 9),
    "reviewer-agent": (4, 1, 3, 6),
    "trigger-agent": (4, 1, 3, 7),
}


def flows(flow: ir.FlowIR) -> list[ir.FlowIR]:
    found = [flow]
    for node in flow.nodes:
        if isinstance(node, ir.FlowNode):
            found += flows(node.subflow)
    return found


@pytest.mark.parametrize("file", CINATRA, ids=lambda file: file.parts[-3])
def test_every_cinatra_flow_compiles_unchanged_without_a_finding(file):
    compiled = compile_ir(file)
    assert not compiled.warnings
    assert compiled.source_bytes == file.read_bytes()


@pytest.mark.parametrize("name", COUNTS)
def test_nodes_gates_and_edges_are_the_ones_of_the_file(name):
    all_flows = flows(compile_ir(agent(name)).ir)
    nodes = [node for flow in all_flows for node in flow.nodes]
    gates = [node for node in nodes if isinstance(node, ir.InputMessageNode)]
    routes = sum(len(flow.routes) for flow in all_flows)
    edges = {
        (flow.id, *key)
        for flow in all_flows
        for edge in flow.data_edges
        for key in [(edge.source, edge.output, edge.target, edge.input)]
        # an edge that Cinatra implies stands at the EndNode, not in the file's list
        if "/data_flow_connections/" in edge.place.pointer
    }
    assert (len(nodes), len(gates), routes, len(edges)) == COUNTS[name]


def test_the_gates_of_email_outreach_keep_their_renderers_and_forms():
    flow = compile_ir(agent("email-outreach-agent")).ir
    setup = flow.node("setup_gate")
    assert isinstance(setup, ir.InputMessageNode)
    assert setup.renderer == "@cinatra-ai/email-outreach-agent:setup-form"
    assert setup.answer_schema is not None
    assert setup.answer_schema.mapping()["required"] == ["offeringCompanyWebsite", "callToAction"]
    recipients = flow.node("recipients_flow")
    assert isinstance(recipients, ir.FlowNode)
    scope = recipients.subflow.node("recipients-scope_gate")
    assert isinstance(scope, ir.InputMessageNode)
    assert scope.renderer == "@cinatra-ai/email-outreach-agent:list-picker"
    assert [step.name for step in recipients.gate_steps] == ["Account scope", "Review recipients"]


def test_the_re_entrant_gate_keeps_its_loop_its_limit_and_a_null_default():
    flow = compile_ir(agent("email-test-delivery-agent")).ir
    gate = flow.node("test_form_gate")
    assert isinstance(gate, ir.InputMessageNode)
    assert gate.max_visits == 25
    assert gate.inputs[0].default == ir.Json("null")
    assert flow.routes_of("perform_test_send") == {"next": "test_form_gate"}


def test_places_are_lines_of_the_file():
    file = agent("email-outreach-agent")
    node = compile_ir(file).ir.node("setup_gate")
    line = file.read_text(encoding="utf-8").splitlines()[node.place.line - 1]
    assert line.strip().startswith('"setup_gate": {')


@pytest.mark.parametrize("file", INVALID, ids=lambda file: file.stem)
def test_invalid_files_are_refused_with_a_place(file):
    found = check(file)
    assert found.errors
    assert all(finding.place.line > 0 for finding in found)


@pytest.mark.parametrize(
    ("name", "code", "line"),
    [
        ("flow_with_multiple_levels_of_references_with_repeated_key", "OAS012", 45),
        ("self_referencing_flow", "OAS015", 59),
        ("example_serialized_llm_node_with_misplaced_agentspec_version", "OAS025", 15),
        ("example_serialized_llm_node_as_nested_reference_with_incorrect_version", "OAS025", 42),
    ],
)
def test_invalid_files_are_refused_for_their_flaw(name, code, line):
    found = check(CORPUS / "agentspec" / "invalid" / f"{name}.yaml")
    assert (code, line) in [(finding.code, finding.place.line) for finding in found.errors]


# files with a real flaw besides what is not supported: the codes they also get
FLAWED = {
    "example_serialized_flow_with_branching_node": {"OAS043", "OAS045"},
    "example_flow_with_structured_generation_no_version": {"OAS045"},
    "example_serialized_flow_executing_agent": {"OAS063"},
    "flow_with_all_references_at_root": {"OAS044", "OAS045", "OAS063"},
    "flow_with_multiple_levels_of_references": {"OAS063"},
    "serialized_flow_with_inlined_components": {"OAS063"},
}


RUNS = {
    "a2aagent",
    "example_serialized_agent_with_tools",
    "example_serialized_agent_with_tools_25_4_2",
    "example_serialized_agent_with_tools_and_builtin_tools",
    "example_serialized_agent_with_tools_and_toolboxes_25_4_2",
    "example_serialized_agent_with_tools_and_toolboxes_26_1_2",
    "example_serialized_agent_with_tools_no_human_in_the_loop",
    "example_serialized_flow",
    "example_serialized_flow_with_properties",
    "example_serialized_llm_node",
    "example_serialized_llm_node_as_nested_reference",
    "example_serialized_llm_node_as_versioned_nested_reference",
    "example_serialized_llm_node_without_agentspec_version",
    "example_serialized_managerworkers",
    "example_serialized_specialized_agent",
    "example_serialized_swarm",
    "example_tools_with_confirmation_25_4_2",
}
"""Files of which every node runs."""


@pytest.mark.parametrize("file", AGENTSPEC, ids=lambda file: file.stem)
def test_plain_agent_spec_files_get_one_finding_for_what_is_not_supported(file):
    found = [code for code, _ in errors(file)]
    assert set(found) - {"OAS090"} == FLAWED.get(file.stem, set())
    assert found.count("OAS090") <= 1
    assert bool(found) is (file.stem not in RUNS)


# What each file needs first that does not run yet; tools of the three kinds that run are not named.
NEEDS = {
    "a2aagent": set(),
    "example_flow_with_structured_generation_no_version": set(),
    "example_serialized_agent_with_tools": set(),
    "example_serialized_agent_with_tools_25_4_2": set(),
    "example_serialized_agent_with_tools_and_builtin_tools": set(),
    "example_serialized_agent_with_tools_and_toolboxes_25_4_2": set(),
    "example_serialized_agent_with_tools_and_toolboxes_26_1_2": set(),
    "example_serialized_agent_with_tools_no_human_in_the_loop": set(),
    "example_serialized_flow": set(),
    "example_serialized_flow_executing_agent": set(),
    "example_serialized_flow_with_properties": set(),
    "example_serialized_llm_node": set(),
    "example_serialized_llm_node_as_nested_reference": set(),
    "example_serialized_llm_node_as_versioned_nested_reference": set(),
    "example_serialized_llm_node_without_agentspec_version": set(),
    "example_serialized_managerworkers": set(),
    "example_serialized_specialized_agent": set(),
    "example_serialized_swarm": set(),
    "example_tools_with_confirmation_25_4_2": set(),
    "flow_with_all_references_at_root": set(),
    "flow_with_multiple_levels_of_references": set(),
    "ociagent": {"OciAgent"},
    "ocigenaiconfig": {"OciGenAiConfig"},
    "serialized_flow_with_inlined_components": set(),
}


@pytest.mark.parametrize("file", AGENTSPEC, ids=lambda file: file.stem)
def test_a_plain_agent_spec_file_is_refused_for_what_it_needs(file):
    texts = [found.message for found in check(file).errors if found.code == "OAS090"]
    named = {kind for text in texts for kind in re.findall(r'(\w+) "', text.partition(":")[2])}
    assert named == NEEDS.get(file.stem, set())


def test_the_table_names_every_file_of_the_corpus():
    assert {file.stem for file in AGENTSPEC} - {*NEEDS} <= {
        "example_serialized_flow_with_branching_node"  # refused for its flaws alone
    }


def test_a_branch_that_differs_in_case_gets_the_right_hint():
    file = CORPUS / "agentspec" / "example_serialized_flow_with_branching_node.yaml"
    hints = {finding.hint for finding in check(file).errors if finding.code == "OAS043"}
    assert hints == {f'did you mean "{branch}"?' for branch in ("Yes", "No", "Maybe")}
