from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_node, flow_of, gate, node, port, start

CODE = "OAS237"
RUN = port("cinatra_run_id", default="")
FED = [("start", "cinatra_run_id", "call", "agent_run_id")]
PASS = "{{CINATRA_BASE_URL}}/api/agents/passthrough"


def calling(edges=FED, run="{{ agent_run_id }}", **data):
    inputs = [port("agent_run_id", default="")] if "{{" in run else []
    call = api("call", url=PASS, data={"agent_run_id": run, **data}, inputs=inputs)
    return flow_of(start(RUN, hidden=["cinatra_run_id"]), call, end(), edges=edges)


def test_a_call_that_no_edge_gives_the_run_to_has_a_default_only():
    assert found(calling(), CODE) == []
    (finding,) = findings(calling(edges=[]), CODE)
    assert (finding.pointer, finding.severity) == (
        "/$referenced_components/call/inputs/0",
        "warning",
    )
    assert 'nothing leads the id of the run to "agent_run_id" of "call"' in finding.message
    assert (
        finding.hint == 'add a data edge from "cinatra_run_id" of the StartNode to "agent_run_id"'
    )


@pytest.mark.parametrize("run", ["run-42", ""])
def test_an_id_that_is_written_out_names_no_run(run):
    (finding,) = findings(calling(edges=[], run=run), CODE)
    assert finding.pointer == "/$referenced_components/call/data/agent_run_id"
    assert "it names no run" in finding.message


def test_a_trigger_for_a_run_that_is_written_out():
    data = {"tool": "trigger_config_set", "input": {"runId": "run-42"}}
    assert found(calling(**data), CODE) == ["/$referenced_components/call/data/input/runId"]
    data["input"] = {"runId": "{{ agent_run_id }}"}
    assert found(calling(**data), CODE) == []
    # of another tool it may be any id
    assert found(calling(tool="objects_save", input={"runId": "7"}), CODE) == []


def around(edges, name="agent_run_id"):
    call = api(
        "call",
        data={"agent_run_id": "{{ agent_run_id }}"},
        inputs=[port("agent_run_id", default="")],
    )
    inner = flow_of(
        start(port(name, default=""), hidden=[name]), call, end(), id_="inner",
        edges=[("start", name, "call", "agent_run_id")],
    )  # fmt: skip
    fetch = api("fetch", outputs=[port("id")])
    return flow_of(
        start(RUN, hidden=["cinatra_run_id"]), fetch, flow_node("child", inner), end(), edges=edges
    )


@pytest.mark.parametrize("name", ["agent_run_id", "cinatra_run_id", "parentRunId"])
def test_a_child_flow_gets_the_run_of_its_parent(name):
    assert found(around([("start", "cinatra_run_id", "child", name)], name), CODE) == []
    (finding,) = findings(around([], name), CODE)
    assert '"child": the child flow gets its default' in finding.message


def test_a_child_flow_that_gets_another_id_is_found():
    (finding,) = findings(around([("fetch", "id", "child", "agent_run_id")]), CODE)
    assert finding.pointer == "/data_flow_connections/0"
    assert 'comes from "fetch", which does not know the id of the run' in finding.message


def test_a_child_flow_that_uses_no_run_needs_none():
    inner = flow_of(start(port("agent_run_id", default="")), gate("ask"), end(), id_="inner")
    made = flow_of(start(RUN, hidden=["cinatra_run_id"]), flow_node("child", inner), end())
    assert found(made, CODE) == []


def test_an_input_that_must_be_fed_is_another_finding():
    made = calling(edges=[])
    del made["$referenced_components"]["call"]["inputs"][0]["default"]
    assert found(made, CODE) == []
    assert len(findings(made, "OAS063")) == 1


def test_flows_beside_each_other_are_child_flows_too():
    call = api(
        "call",
        data={"agent_run_id": "{{ agent_run_id }}"},
        inputs=[port("agent_run_id", default="")],
    )
    inner = flow_of(
        start(port("agent_run_id", default=""), hidden=["agent_run_id"]), call, end(), id_="inner",
        edges=[("start", "agent_run_id", "call", "agent_run_id")],
    )  # fmt: skip
    both = node("ParallelFlowNode", "both", subflows=[inner, flow_of(start(), end(), id_="other")])
    nodes = (start(RUN, hidden=["cinatra_run_id"]), both, end())
    (finding,) = findings(flow_of(*nodes), CODE)
    assert "the child flow gets its default" in finding.message
    fed = [("start", "cinatra_run_id", "both", "agent_run_id")]
    assert found(flow_of(*nodes, edges=fed), CODE) == []
