from __future__ import annotations

import pytest

from oas_compiler.checks.compile_rules import READING
from oas_compiler.pipeline import check, compile_ir
from oas_compiler.report.diagnostics import CompileError
from tests.samples import as_bytes, errors, found_in, only, ref, small, with_node

BLOCK = "$referenced_components"


def test_one_finding_lists_every_component_that_cannot_run():
    flow = with_node(
        {
            "component_type": "AgentNode",
            "id": "ask",
            "agent": {
                "component_type": "Swarm",
                "id": "helper",
                "relationships": [],
                "first_agent": {"component_type": "OciAgent", "id": "first"},
                "llm_config": {"component_type": "VllmConfig", "id": "vllm"},
            },
        }
    )
    flow[BLOCK]["write"]["json_spec_filter"] = "$.text"
    flow[BLOCK]["wait"] = {"component_type": "TriggerWaitNode", "id": "wait"}
    flow["nodes"].insert(1, ref("wait"))
    found = [found for found in check(flow) if found.code == "OAS090"]
    assert len(found) == 1
    for name in (
        'OciAgent "first"',
        'TriggerWaitNode "wait"',
        'ApiNode "write" with json_spec_filter',
    ):
        assert name in found[0].message
    assert "VllmConfig" not in found[0].message


def test_lines_are_given_where_there_are_lines():
    raw = as_bytes(with_node({"component_type": "TriggerWaitNode", "id": "ask"}))
    line = raw[: raw.index(b'"ask": {')].count(b"\n") + 1
    (found,) = [found for found in found_in(raw) if found.code == "OAS090"]
    assert f'TriggerWaitNode "ask" (line {line})' in found.message


@pytest.mark.parametrize("kind", ["OciAgent", "OciGenAiConfig", "ServerTool"])
def test_a_document_whose_root_is_no_flow_gets_exactly_one_error(kind):
    only({"component_type": kind, "id": "it", "name": "it"}, "OAS090")


def test_a_component_that_nothing_uses_is_not_listed():
    flow = small(spare={"component_type": "AgentNode", "id": "spare"})
    assert not errors(flow)


@pytest.mark.parametrize("asks", [True, False])
def test_a_tool_that_asks_before_it_runs_is_supported(asks):
    tool = {"component_type": "ServerTool", "id": "t", "name": "t", "requires_confirmation": asks}
    node = {"component_type": "ToolNode", "id": "call", "tool": tool}
    assert not errors(with_node(node))


def test_a_mapping_that_edges_cannot_follow_is_not_supported_and_an_identical_one_is():
    node = {
        "component_type": "PluginTemplateNode",
        "id": "t",
        "template": "x",
        "input_mapping": {"a": "a"},
    }
    assert not errors(with_node(node))
    renaming = with_node(node | {"input_mapping": {"a": "b"}})
    assert not errors(renaming)
    only({**renaming, "data_flow_connections": None}, "OAS090")


def test_a_foreign_plugin_type_is_unsupported_and_not_unknown():
    node = {"component_type": "PluginOtherNode", "id": "v"}
    only(with_node(node), "OAS090")


def test_a_flow_that_does_not_run_can_be_looked_at_and_not_compiled():
    node = {"component_type": "TriggerWaitNode", "id": "ask"}
    with pytest.raises(CompileError, match="TriggerWaitNode"):
        compile_ir(with_node(node))
    assert "ask" in compile_ir(with_node(node), rules=READING).ir.by_id


def test_a_document_without_a_flow_cannot_be_looked_at_either():
    with pytest.raises(CompileError, match="not supported yet"):
        compile_ir({"component_type": "OciAgent", "id": "it", "name": "it"}, rules=READING)


def test_a_foreign_component_is_listed_with_its_plugin():
    foreign = {
        "component_type": "RegexStep", "id": "match", "component_plugin_name": "NodesPlugin",
        "component_plugin_version": "26.3.0",
    }  # fmt: skip
    (found,) = [found for found in check(with_node(foreign)) if found.code == "OAS090"]
    assert 'RegexStep "match" of the plugin "NodesPlugin" 26.3.0' in found.message
    assert "no package is installed" in found.message


def test_a_foreign_component_without_a_plugin_is_listed_by_its_type():
    (found,) = [
        found
        for found in check(with_node({"component_type": "PluginOtherNode", "id": "v"}))
        if found.code == "OAS090"
    ]
    assert found.message == 'not supported yet: PluginOtherNode "v"'
