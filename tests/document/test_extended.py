"""Types of WayFlow are read as those of the language where they say the same, and refused where not."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.pipeline import check
from tests.agents.agent_flows import SEARCH, TEXT, agent, agent_flow
from tests.flows import end, flow_of, node, port, start

PLUGIN = {"component_plugin_name": "WayflowPlugin", "component_plugin_version": "26.1.0"}
EXTENDED_AGENT = {
    "component_type": "ExtendedAgent", **PLUGIN, "context_providers": None, "agents": [], "flows": [],
    "agent_template": None, "initial_message": "N/A", "caller_input_mode": "never", "max_iterations": 10,
    "can_finish_conversation": False, "raise_exceptions": False, "strict_output_validation": False,
}  # fmt: skip


def asking(**more: Any) -> Any:
    """start → ask → say → end, in WayFlow's types."""
    ask = node(
        "PluginInputMessageNode", "ask", message_template="Who are you, {{ topic }}?", rephrase=False, llm_config=None,
        input_mapping={"topic": "topic"}, output_mapping={"user_provided_input": "name"}, inputs=[port("topic")],
        **PLUGIN,
    )  # fmt: skip
    about = {
        "message": "Hello {{ name }}", "message_type": "AGENT", "rephrase": False, "llm_config": None,
        "expose_message_as_output": True, "input_mapping": {}, "output_mapping": {}, "inputs": [port("name")],
        "outputs": [port("output_message")], **PLUGIN, **more,
    }  # fmt: skip
    say = node("PluginOutputMessageNode", "say", **about)
    flow = flow_of(
        start(port("topic")), ask, say, end(port("said")),
        edges=[("start", "topic", "ask", "topic"), ("ask", "name", "say", "name"),
               ("say", "output_message", "end", "said")],
    )  # fmt: skip
    return {
        **flow,
        "component_type": "ExtendedFlow",
        "context_providers": None,
        "state": [],
        **PLUGIN,
    }


def test_messages_are_asked_and_said() -> None:
    ran = drive(compile_flow(asking()), {"topic": "stranger"}, answers=["Ada"])
    assert ran.outputs == {"said": "Hello Ada"}, ran.error
    assert "Hello Ada" in ran.messages


def test_an_agent_and_its_tool_run() -> None:
    model = ScriptedModel(["Done."])
    own = {**agent(SEARCH, outputs=TEXT), **EXTENDED_AGENT}
    del own["human_in_the_loop"]
    flow = compile_flow(agent_flow(own, TEXT), models={"*": model}, tools={"search": str})
    assert drive(flow, {"topic": "bees"}).outputs == {"report": "Done."}
    assert [one["function"]["name"] for one in model.asked[0].tools] == ["search"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rephrase", True),
        ("message_type", "SYSTEM"),
    ],
)
def test_a_message_that_says_more_is_refused(field: str, value: Any) -> None:
    found = check(asking(**{field: value}))
    told = [one.message for one in found.errors if one.code == "OAS090"]
    assert [f'PluginOutputMessageNode "say" with {field}' in text for text in told] == [True]


@pytest.mark.parametrize(
    "more",
    [
        {"context_providers": [{"component_type": "PluginConstantContextProvider", "id": "c"}]},
        {"agent_template": {"component_type": "PluginPromptTemplate", "id": "t"}},
    ],
)
def test_an_agent_that_says_more_is_refused_with_its_type(more: Any) -> None:
    own = {**agent(outputs=TEXT), **EXTENDED_AGENT, **more}
    told = [one.message for one in check(agent_flow(own, TEXT)).errors if one.code == "OAS090"]
    assert any('ExtendedAgent "helper"' in text for text in told)
