"""WayFlow's agents: their first question, the agents that work for them, and the node around them."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.outside.models.model_scripts import ScriptedModel, ScriptedReply
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.pipeline import check
from tests.agents.agent_flows import TEXT, agent
from tests.flows import end, flow_of, message, node, plain, port, start
from tests.wayflow.nodes import PLUGIN, around, extended, inner, template


def written(**more: Any) -> Any:
    """An agent as WayFlow's serializer writes one."""
    return {
        **agent(asks=True, system_prompt="Help.", inputs=[]),
        "component_type": "ExtendedAgent", **PLUGIN, "toolboxes": [], "transforms": [],
        "context_providers": None, "can_finish_conversation": False, "raise_exceptions": False,
        "max_iterations": 10, "initial_message": "Hi! How can I help you?",
        "caller_input_mode": "always", "strict_output_validation": False, "agents": [],
        "flows": [], "agent_template": None, **more,
    }  # fmt: skip


def test_where_nobody_has_spoken_the_agent_asks_its_first_question() -> None:
    model = ScriptedModel(["Then take bees."])
    ran = drive(compile_flow(written(), models={"*": model}), {}, answers=["About bees?"])
    assert ran.messages[-1] == "Then take bees."
    heard = [str(one.content) for one in model.asked[0].messages]
    assert heard[-1] == "About bees?"


def test_where_the_caller_has_spoken_the_model_answers() -> None:
    model = ScriptedModel(["Take bees."])
    ran = drive(compile_flow(written(), models={"*": model}), {"user_message": "Help me"})
    assert (ran.status, ran.messages[-1]) == ("completed", "Take bees.")


@pytest.mark.parametrize("more", [{"caller_input_mode": "never"}, {"human_in_the_loop": False}])
def test_an_agent_that_asks_nobody_has_no_first_question(more: Any) -> None:
    model = ScriptedModel(["Done."])
    ran = drive(compile_flow(written(**more), models={"*": model}), {})
    assert ran.status == "completed"
    assert model.asked[0].tools == ()


def test_the_agents_of_an_agent_work_for_it() -> None:
    expert = {**written(description="Knows bees."), "id": "expert", "name": "Expert"}
    call = {"name": "Expert", "args": {"message": "bees?"}}
    model = ScriptedModel([ScriptedReply(tool_calls=(call,)), "They hum.", "Hum."])
    flow = compile_flow(written(agents=[expert]), models={"*": model})
    ran = drive(flow, {"user_message": "What do bees do?"})
    assert ran.messages[-1] == "Hum."


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("context_providers", [{"component_type": "PluginConstantContextProvider", "id": "c"}]),
        ("agent_template", {"component_type": "PluginPromptTemplate", "id": "t", "native_tool_calling": False}),
    ],
)  # fmt: skip
def test_an_agent_that_says_more_is_refused_with_the_field(field: str, value: Any) -> None:
    told = [one.message for one in check(written(**{field: value})).errors if one.code == "OAS090"]
    assert any(f'ExtendedAgent "helper" with {field}' in text for text in told)


def test_a_flow_of_an_agent_is_a_tool_of_its_model() -> None:
    tell = inner(
        template("tell", "{{ who }} sent", inputs=[port("who")]), [port("who")], [port("output")]
    )
    call = {"name": "Order", "args": {"who": "Ada"}}
    model = ScriptedModel([ScriptedReply(tool_calls=(call,)), "It is done."])
    flow = {**tell, "name": "Order", "description": "Orders something."}
    ran = drive(compile_flow(written(flows=[flow]), models={"*": model}), {"user_message": "Order"})
    assert ran.messages[-1] == "It is done."
    assert model.asked[0].tools[0]["function"]["description"] == "Orders something."
    assert "Ada sent" in str(model.asked[1].messages[-1].content)


def test_a_flow_that_runs_the_agent_that_runs_it_is_found() -> None:
    work = node("AgentNode", "again", agent={"$component_ref": "me"})
    flow = {**inner(work, [], []), "id": "loop", "name": "Loop"}
    me = {**written(flows=[flow]), "id": "me"}
    document = {"$component_ref": "me", "$referenced_components": {"me": me}}
    assert "OAS015" in {one.code for one in check(document).errors}


def test_a_template_that_only_has_the_prompt_and_the_conversation_says_nothing_more() -> None:
    texts = (
        "{% if custom_instruction %}{{custom_instruction}}{% endif %}",
        "$$__CHAT_HISTORY_PLACEHOLDER__$$",
        "{% if __PLAN__ %}The plan: {{__PLAN__}}{% endif %}",
    )
    template = {
        "component_type": "PluginPromptTemplate", "id": "t", "name": "", **PLUGIN,
        "native_tool_calling": True,
        "messages": [{"role": "system", "contents": [{"type": "text", "content": one}]} for one in texts],
    }  # fmt: skip
    assert check(written(agent_template=template)).errors == []


def test_the_node_around_an_agent_says_what_it_gives_and_whether_it_asks() -> None:
    work = extended(
        "ExtendedAgentNode", "work", agent=written(), outputs=TEXT, caller_input_mode="never"
    )
    flow = plain(
        flow_of(start(), message("hello", "Hello"), work, end(*TEXT), edges=[("work", "report", "end", "report")])
    )  # fmt: skip
    model = ScriptedModel(["All well."])
    ran = drive(compile_flow(flow, models={"*": model}), {})
    assert ran.outputs == {"report": "All well."}
    assert model.asked[0].tools == ()


def test_several_flows_run_beside_each_other() -> None:
    one = {**inner(template("t", "one"), [], [port("output")]), "id": "one"}
    box = extended("ExtendedParallelFlowNode", "both", flows=[one], max_workers=2)
    assert drive(compile_flow(around(box, [], [port("output")])), {}).outputs == {"output": "one"}
