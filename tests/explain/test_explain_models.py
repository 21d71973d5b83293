"""A question to a model is a call: explained, counted and drawn as the calls to addresses and tools are."""

from __future__ import annotations

from typing import Any

import pytest

from oas_compiler import check
from oas_compiler.draw import lay_out, svg_text
from oas_compiler.draw.mermaid import mermaid_text
from oas_compiler.explain import explain
from oas_compiler.explain.explanation import Call
from oas_compiler.pipeline import compile_ir
from tests.agents.agent_flows import SEARCH, TEXT, agent, agent_flow
from tests.flows import end, flow_of, gate, node, port, start

MODEL = {"component_type": "OpenAiConfig", "id": "gpt", "name": "Writer", "model_id": "gpt-5"}
PLUGIN = {"component_plugin_name": "NodesPlugin", "component_plugin_version": "26.1.2"}
ASKED = Call(kind="model", tool="gpt-5")


def asking(kind: str = "LlmNode", config: Any = MODEL, **more: Any) -> Any:
    fields: Any = {"llm_config": config, "prompt_template": "Write.", "outputs": [port("text")]}
    return flow_of(start(), node(kind, "write", **fields, **more), end())


def choosing() -> Any:
    choice = node("PluginChoiceNode", "write", llm_config=MODEL, inputs=[port("input")],
                  next_branches=[["refund", "Money back."]], **PLUGIN)  # fmt: skip
    return flow_of(
        start(port("input")), choice, end(),
        routes=[("start", None, "write"), ("write", "refund", "end"), ("write", "default", "end")],
        edges=[("start", "input", "write", "input")],
    )  # fmt: skip


def call_at(flow: Any, path: str) -> Call | None:
    (found,) = [one.call for one in explain(flow).nodes if one.path == path]
    return found


@pytest.mark.parametrize(
    "flow",
    [asking(), asking("ExtendedLlmNode", **PLUGIN), choosing()],
    ids=["LlmNode", "ExtendedLlmNode", "PluginChoiceNode"],
)
def test_a_question_to_a_model_is_a_call_with_the_name_of_the_model(flow: Any) -> None:
    assert call_at(flow, "write") == ASKED


def test_the_model_of_an_agent_is_a_call_and_the_node_between_its_calls_is_none() -> None:
    flow = agent_flow(agent(SEARCH, outputs=TEXT), TEXT)
    assert call_at(flow, "work/model") == ASKED
    assert call_at(flow, "work/search") == Call(kind="tool", tool="search")
    assert call_at(flow, "work/calls") is None
    assert call_at(flow, "work") is None


def test_a_summary_of_what_a_model_sees_is_a_call_to_the_model_that_makes_it() -> None:
    short = {**MODEL, "id": "short", "name": "short", "model_id": "gpt-5-mini"}
    shortens = {
        "component_type": "MessageSummarizationTransform", "id": "short-t", "name": "Shorter", "llm": short,
        "datastore": None, "max_message_size": 30,
    }  # fmt: skip
    own = agent(SEARCH, outputs=TEXT, transforms=[shortens])
    explained = explain({**agent_flow(own, TEXT), "agentspec_version": "26.1.2"})
    asked = [one.call.tool for one in explained.nodes if one.call and one.call.kind == "model"]
    assert sorted(asked) == ["gpt-5", "gpt-5-mini"]


def test_a_model_without_an_id_is_called_by_its_name() -> None:
    nameless = {key: text for key, text in MODEL.items() if key != "model_id"}
    flow = asking(config={**nameless, "component_type": "LlmConfig", "model_id": ""})
    flow["agentspec_version"] = "26.1.2"
    assert call_at(flow, "write") == Call(kind="model", tool="Writer")


def test_an_agent_elsewhere_is_a_call_to_its_address_without_what_may_be_secret() -> None:
    far = {
        "component_type": "A2AAgent", "id": "far", "name": "Far",
        "agent_url": "https://me:word@far.example/a?key=word",
        "connection_config": {"component_type": "A2AConnectionConfig", "id": "way", "name": "way"},
        "inputs": [port("say")], "outputs": [],
    }  # fmt: skip
    flow = flow_of(
        start(port("say")), node("AgentNode", "work", agent=far), end(),
        edges=[("start", "say", "work", "say")],
    )  # fmt: skip
    (call,) = [one.call for one in explain(flow).nodes if one.call and one.call.kind == "a2a"]
    assert call == Call(kind="a2a", url="https://far.example/a")
    assert call.target == "agent https://far.example/a"


def test_a_picture_draws_the_question_as_the_call_it_is() -> None:
    flow = compile_ir(asking()).ir
    assert 'n_write[["The write"]]' in mermaid_text(flow)
    drawn = svg_text(lay_out(flow))
    assert 'data-node="write" data-type="call"' in drawn
    assert ">model gpt-5</text>" in drawn


def test_a_picture_of_an_agent_draws_its_model_as_a_call_and_its_calls_as_a_step() -> None:
    drawn = svg_text(lay_out(compile_ir(agent_flow(agent(SEARCH, outputs=TEXT), TEXT)).ir))
    assert 'data-node="work/model" data-type="call"' in drawn
    assert 'data-node="work/calls" data-type="step"' in drawn


def test_a_node_by_which_a_model_chooses_stays_a_diamond() -> None:
    assert 'n_write{"The write"}' in mermaid_text(compile_ir(choosing()).ir)


def test_a_model_that_is_drawn_as_a_call_still_hears_what_a_person_answers() -> None:
    ask = node("InputMessageNode", "ask", message="Well?", outputs=[port("said")])
    flow = asking()
    before = flow_of(start(), ask, flow["$referenced_components"]["write"], end())
    after = flow_of(start(), ask, gate("sign"), end())
    assert "OAS222" not in {found.code for found in check(before)}
    assert "OAS222" in {found.code for found in check(after)}
