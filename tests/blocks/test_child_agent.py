"""`child_agent`: a child gets its declared inputs and nothing else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph

from cinatra_sdk.blocks.host_node import ending, seal_host_fields
from cinatra_sdk.blocks.platform_steps import child_agent, llm_step
from cinatra_sdk.errors import NodeFailed
from cinatra_sdk.langgraph_threads.host_context import HostContext, host_context
from cinatra_sdk.langgraph_threads.state_channels import seal
from tests.blocks.block_samples import CONFIG, Seen, State, graph_of

OUTPUTS: Any = {"drafts": {"type": "array"}}


def child(platform: Any, mapping: Any = None, **more: Any) -> Any:
    given: Any = {
        "node": "ask",
        "package": "@t/drafts",
        "input_mapping": {"goal": "{{input_params.goal}}"} if mapping is None else mapping,
        "outputs": OUTPUTS,
    }
    return child_agent(platform, **{**given, **more})


def test_the_child_is_called_as_a_tool_with_its_declared_inputs_only() -> None:
    platform = Seen({"ask": {"drafts": ["a"]}})
    result = graph_of(child(platform)).invoke(
        {"goal": "cats", "numbers": [7]}, CONFIG, context=host_context(run_id="r1")
    )
    (call,) = platform.seen
    assert call.url == "{{CINATRA_BASE_URL}}/api/agents/passthrough"
    assert call.body == {"tool": "@t/drafts", "input": {"goal": "cats"}, "agent_run_id": "r1"}
    assert result["ask_output"] == {"drafts": ["a"]}


def test_a_lone_placeholder_keeps_its_type_and_an_embedded_one_becomes_json() -> None:
    platform = Seen()
    mapping = {"list": "{{input_params.numbers}}", "text": "n={{ input_params.numbers }}", "k": 5}
    graph_of(child(platform, mapping)).invoke({"numbers": [1, None]}, CONFIG)
    body: Any = platform.seen[0].body
    assert body["input"] == {"list": [1, None], "text": "n=[1,null]", "k": 5}


def test_the_mapping_reads_the_node_before_and_any_earlier_node() -> None:
    platform = Seen({"ask": {"verdict": "fine"}, "second": {"drafts": []}})
    builder = StateGraph(State, context_schema=HostContext)
    builder.add_node("host_node", seal_host_fields())
    builder.add_node(
        "ask",
        llm_step(
            platform, node="ask", agent_id="@t/a", user="x", outputs={"verdict": {"type": "string"}}
        ),
    )
    mapping = {"before": "{{child_output.verdict}}", "named": "{{ask_output.verdict}}"}
    builder.add_node(
        "second",
        child(platform, mapping, node="second", after="ask", into={"drafts": "note"}),
    )
    builder.add_edge(START, "host_node")
    builder.add_edge("host_node", "ask")
    builder.add_edge("ask", "second")
    builder.add_edge("second", END)
    builder.compile().invoke({})
    body: Any = platform.seen[1].body
    assert body["input"] == {"before": "fine", "named": "fine"}


def test_a_mapping_to_the_hosts_fields_is_refused() -> None:
    for key in ("bearer_token", "approval_policy", "run"):
        graph = graph_of(child(Seen(), {"stolen": f"{{{{{key}}}}}"}))
        with pytest.raises(NodeFailed, match=f'the placeholder "{key}" has no value'):
            graph.invoke({}, CONFIG)


def test_a_state_without_bearer_token_is_a_value_error_that_names_the_key() -> None:
    platform = Seen()
    with pytest.raises(ValueError, match="no key 'bearer_token'"):
        graph_of(child(platform, {}), host=False).invoke({"goal": "x"}, CONFIG)
    assert platform.seen == []


def test_a_child_is_not_called_once_the_run_was_rejected() -> None:
    platform = Seen()
    graph = graph_of(child(platform, {}))
    update = {"bearer_token": seal(""), **ending("rejected", at="2020-01-01")}
    graph.update_state(CONFIG, update, as_node="host_node")
    graph.invoke(None, CONFIG)
    assert platform.seen == []


def test_another_address_can_be_given_and_an_async_run_awaits_the_platform() -> None:
    platform = Seen({"/api/tools": {"drafts": [1]}})
    block = child(platform, url="{{CINATRA_BASE_URL}}/api/tools")
    result = asyncio.run(graph_of(block).ainvoke({}, CONFIG))
    assert platform.awaited == 1
    assert platform.seen[0].url == "{{CINATRA_BASE_URL}}/api/tools"
    assert result["ask_output"] == {"drafts": [1]}


def test_a_child_without_a_package_name_is_refused_when_it_is_made() -> None:
    with pytest.raises(ValueError, match="must name a published agent"):
        child(Seen(), package="")
