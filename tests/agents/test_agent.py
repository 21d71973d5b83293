"""An agent works step by step: its model, its tools one after the other, and its end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from cinatra_sdk import Decision
from cinatra_sdk.outside.models.model_scripts import ScriptedModel, ScriptedReply
from cinatra_sdk.testing import adrive, drive
from oas_compiler import compile_flow
from oas_compiler.pipeline import check
from tests.agents.agent_flows import RESULT, SEARCH, SEND, TEXT, agent, agent_flow
from tests.flows import end, flow_of, gate, node, port, start


def asks_for(*calls: tuple[str, Any]) -> ScriptedReply:
    return ScriptedReply(tool_calls=tuple({"name": name, "args": args} for name, args in calls))


def run(own: dict[str, Any], script: Any, *, outputs: Any = (), answers: Any = None) -> Any:
    made: list[Any] = []

    def search(query: str) -> str:
        made.append(("search", query))
        return f"{query}!"

    def send(to: str, copies: int) -> bool:
        made.append(("send", to, copies))
        return True

    model = ScriptedModel(script)
    flow = compile_flow(
        agent_flow(own, outputs), models={"*": model}, tools={"search": search, "send": send}
    )
    return drive(flow, {"topic": "bees"}, answers=answers), model, made


def results_of(model: ScriptedModel) -> list[str]:
    """What the model was told of its calls, at its last question."""
    return [str(one.content) for one in model.asked[-1].messages if isinstance(one, ToolMessage)]


def test_calls_of_one_answer_are_made_one_after_the_other_and_told_to_the_model() -> None:
    script = [asks_for(("search", {"query": "a"}), ("search", {"query": "b"})), "Found both."]
    ran, model, made = run(agent(SEARCH, outputs=TEXT), script, outputs=TEXT)
    assert (ran.status, ran.outputs) == ("completed", {"report": "Found both."})
    assert made == [("search", "a"), ("search", "b")]
    assert results_of(model) == ["a!", "b!"]
    assert [call.path for call in ran.calls] == ["work/search", "work/search"]
    assert model.asked[0].messages[0].content == "Help with bees."


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (("find", {}), "there is no tool 'find'; the tools are: search"),
        (("search", {"q": "a"}), "the call cannot be made: there is no 'q'"),
        (("search", {}), "the call cannot be made: 'query' is missing"),
        (("search", {"query": 7}), "the call cannot be made: 'query': "),
    ],
)
def test_a_call_that_cannot_be_made_is_told_to_the_model(call: Any, told: str) -> None:
    ran, model, made = run(agent(SEARCH), [asks_for(call), "Sorry."])
    assert ran.status == "completed"
    assert not made
    assert results_of(model)[0].startswith(told)


def test_a_tool_that_fails_fails_the_run() -> None:
    def search(query: str) -> str:
        raise OSError("no network")

    model = ScriptedModel([asks_for(("search", {"query": "a"}))])
    flow = compile_flow(agent_flow(agent(SEARCH)), models={"*": model}, tools={"search": search})
    ran = drive(flow, {"topic": "bees"})
    assert ran.status == "failed"
    assert "work/search" in str(ran.error)


def test_a_confirmed_call_is_made_as_it_was_shown() -> None:
    script = [asks_for(("send", {"to": "ada"})), "Sent."]
    ran, model, made = run(agent(SEND), script, answers=[True])
    (gate,) = ran.gates
    assert gate.values == {"call": "send", "arguments": {"to": "ada", "copies": 1}}
    assert made == [("send", "ada", 1)]
    assert results_of(model) == ["true"]


def test_a_denied_call_is_told_to_the_model_and_the_agent_goes_on() -> None:
    script = [asks_for(("send", {"to": "ada"})), "Then not."]
    deny = Decision.deny(by="ann", reason="not today")
    ran, model, made = run(agent(SEND), script, answers=[deny])
    assert ran.status == "completed"
    assert not made
    assert results_of(model) == ["[Denied by operator] not today"]
    # The gate's own words stand between the call and its result, and no provider takes them there.
    kinds = [type(one) for one in model.asked[-1].messages[1:]]
    assert kinds == [HumanMessage, AIMessage, ToolMessage]


def test_a_rejected_call_ends_the_run() -> None:
    script = [asks_for(("send", {"to": "ada"}), ("send", {"to": "bob"})), "Sent."]
    ran, model, made = run(agent(SEND), script, answers=[False])
    assert ran.status == "rejected"
    assert not made
    assert len(model.asked) == 1


def test_outputs_come_by_a_call_and_are_checked() -> None:
    script = [asks_for(("submit_result", {"brand": "Hive", "hp": "x"})),
              asks_for(("submit_result", {"brand": "Hive", "hp": 3}))]  # fmt: skip
    ran, model, _ = run(agent(outputs=RESULT), script, outputs=RESULT)
    assert ran.outputs == {"brand": "Hive", "hp": 3}
    assert "the result cannot be used: 'hp'" in results_of(model)[0]


def test_outputs_may_come_as_json_text() -> None:
    ran, _, _ = run(agent(outputs=RESULT), ['{"brand": "Hive", "hp": 3}'], outputs=RESULT)
    assert ran.outputs == {"brand": "Hive", "hp": 3}


def test_an_agent_that_never_gives_its_outputs_fails() -> None:
    ran, model, _ = run(agent(outputs=RESULT), lambda _asked: "Soon.", outputs=RESULT)
    assert ran.status == "failed"
    assert "did not give its outputs" in str(ran.error)
    assert len(model.asked) == 4


def test_an_agent_without_end_is_stopped() -> None:
    ran, _, made = run(agent(SEARCH), lambda _asked: asks_for(("search", {"query": "a"})))
    assert ran.status == "failed"
    assert "100 times without an end" in str(ran.error)
    assert len(made) == 100


def test_a_question_to_a_person_is_a_gate() -> None:
    script = [asks_for(("ask_user", {"question": "Which hive?"})), "The red one."]
    ran, model, _ = run(agent(asks=True), script, answers=["red"])
    assert ran.gates[0].values["arguments"] == {"question": "Which hive?"}
    assert results_of(model) == ["red"]
    _, silent, _ = run(agent(asks=False), ["Fine."])
    assert not silent.asked[0].tools


def test_a_conversation_before_the_agent_is_heard_and_the_agent_is_heard_after_it() -> None:
    model = ScriptedModel(["Hello."])
    flow = flow_of(
        start(), gate("ask"), node("AgentNode", "work", agent={**agent(), "system_prompt": "Talk.", "inputs": []}),
        end(),
    )  # fmt: skip
    ran = drive(compile_flow(flow, models={"*": model}), answers=["I like bees."])
    assert ran.messages[-1] == "Hello."
    assert [str(one.content) for one in model.asked[0].messages[-1:]] == ["I like bees."]


def test_an_agent_over_a_flow_has_a_conversation_of_its_own() -> None:
    inside = flow_of(
        start(), node("OutputMessageNode", "say", message="Aside."), end(), id_="inside"
    )
    flow = flow_of(start(), node("AgentNode", "work", agent=inside), end())
    ran = drive(compile_flow(flow))
    assert (ran.status, ran.messages) == ("completed", ())


def test_an_event_loop_gives_the_same() -> None:
    script = [asks_for(("search", {"query": "a"})), "Done."]
    model = ScriptedModel(script)

    async def search(query: str) -> str:
        return query * 2

    own = agent_flow(agent(SEARCH, outputs=TEXT), TEXT)
    flow = compile_flow(own, models={"*": model}, tools={"search": search})
    ran = asyncio.run(adrive(flow, {"topic": "bees"}))
    assert ran.outputs == {"report": "Done."}
    assert results_of(model) == ["aa"]


def test_a_simulation_answers_for_the_model() -> None:
    flow = compile_flow(agent_flow(agent(outputs=RESULT), RESULT))
    ran = drive(flow, {"topic": "bees"}, stubs={"model": {"brand": "Hive", "hp": 3}})
    assert ran.outputs == {"brand": "Hive", "hp": 3}


def test_an_agent_alone_in_its_file_is_spoken_to() -> None:
    model = ScriptedModel(["Hello Ada."])
    flow = compile_flow({**agent(outputs=TEXT), "agentspec_version": "26.1.2"}, models={"*": model})
    ran = drive(flow, {"topic": "bees", "user_message": "I am Ada."})
    assert ran.outputs == {"report": "Hello Ada."}
    assert model.asked[0].messages[-1].content == "I am Ada."


def test_a_specialized_agent_has_more_to_go_by() -> None:
    special = {
        "component_type": "SpecializedAgent", "id": "special", "name": "Special", "agent": agent(outputs=TEXT), "inputs": [port("topic")],
        "agent_specialization_parameters": {
            "component_type": "AgentSpecializationParameters", "id": "more", "name": "more",
            "additional_instructions": "Only about cats.", "additional_tools": [SEARCH],
        },
    }  # fmt: skip
    ran, model, _ = run(special, [asks_for(("search", {"query": "a"})), "Cats."], outputs=TEXT)
    assert ran.outputs == {"report": "Cats."}
    assert model.asked[0].messages[0].content == "Help with bees.\n\nOnly about cats."


def group(manager: Any, *workers: Any) -> dict[str, Any]:
    return {
        "component_type": "ManagerWorkers", "id": "group", "name": "Group", "inputs": [port("topic")],
        "group_manager": manager, "workers": list(workers),
    }  # fmt: skip


def worker(*tools: Any, name: str = "Finder", **more: Any) -> dict[str, Any]:
    about = {"id": name.lower(), "name": name, "inputs": [], "system_prompt": f"You are {name}."}
    return {**agent(*tools, asks=True), **about, **more}


def test_a_worker_is_told_its_work_alone_and_its_answer_is_the_result() -> None:
    script = [
        asks_for(("Finder", {"message": "Find bees."})),
        asks_for(("search", {"query": "bees"})),
        "Found bees!",
        "My worker found them.",
    ]
    ran, model, made = run(group(agent(outputs=TEXT), worker(SEARCH)), script, outputs=TEXT)
    assert ran.outputs == {"report": "My worker found them."}
    assert made == [("search", "bees")]
    assert [call.path for call in ran.calls] == ["work/Finder/search"]
    assert [str(one.content) for one in model.asked[1].messages] == [
        "You are Finder.",
        "Find bees.",
    ]
    assert {one["function"]["name"] for one in model.asked[1].tools} == {"search"}  # asks nobody
    assert results_of(model) == ["Found bees!"]
    assert "Find bees." not in str(model.asked[-1].messages[1:2])


def test_a_confirmed_call_of_a_worker_is_asked_for() -> None:
    script = [
        asks_for(("Finder", {"message": "Send."})),
        asks_for(("send", {"to": "ada"})),
        "Sent.",
        "Well.",
    ]
    ran, _, made = run(group(agent(), worker(SEND)), script, answers=[True])
    assert [gate.id for gate in ran.gates] == ["work/Finder/send"]
    assert made == [("send", "ada", 1)]
    rejected, _, made = run(group(agent(), worker(SEND)), script, answers=[False])
    assert (rejected.status, made) == ("rejected", [])


def test_a_group_that_works_for_itself_is_refused() -> None:
    flow = agent_flow(group(agent(), {"$component_ref": "loop"}))
    flow["$referenced_components"]["loop"] = group(agent(), {"$component_ref": "loop"})
    assert "OAS015" in {one.code for one in check(flow).errors}


def test_a_group_that_grows_without_bound_is_refused() -> None:
    flow = agent_flow(group(agent(), {"$component_ref": "g0"}))
    for number in range(25):
        inner = worker() if number == 24 else {"$component_ref": f"g{number + 1}"}
        flow["$referenced_components"][f"g{number}"] = {
            **group(agent(), inner, inner), "id": f"g{number}", "name": f"g{number}",
        }  # fmt: skip
    assert "OAS021" in {one.code for one in check(flow).errors}


def test_two_tools_of_one_name_are_refused() -> None:
    found = check(agent_flow(agent(SEARCH, {**SEARCH, "id": "other"})))
    assert ['two tools with the name "search"' in one.message for one in found.errors] == [True]


def test_a_tool_cannot_take_the_place_of_the_result() -> None:
    found = check(agent_flow(agent({**SEARCH, "name": "submit_result"})))
    assert ['the name "submit_result"' in one.message for one in found.errors] == [True]


def test_a_tool_of_the_author_may_ask_in_place_of_ours() -> None:
    model = ScriptedModel([asks_for(("ask_user", {"query": "a"})), "Done."])
    own = agent_flow(agent({**SEARCH, "name": "ask_user"}, asks=True))
    flow = compile_flow(own, models={"*": model}, tools={"ask_user": lambda query: query})
    assert drive(flow, {"topic": "bees"}).status == "completed"
    assert [one["function"]["name"] for one in model.asked[0].tools] == ["ask_user"]
    assert results_of(model) == ["a"]


def test_a_loop_of_an_agent_is_no_loop_of_the_flow() -> None:
    codes = {one.code for one in check(agent_flow(agent(SEARCH))).findings}
    assert codes.isdisjoint({"OAS201", "OAS202"})


def test_a_builtin_tool_is_a_function_of_the_host_with_its_configuration() -> None:
    tool = {
        "component_type": "BuiltinTool", "id": "look", "name": "look_around", "tool_type": "lookup",
        "configuration": {"depth": 2}, "executor_name": ["ours"], "tool_version": "1.0",
        "inputs": [port("query")], "outputs": [port("found")],
    }  # fmt: skip
    model = ScriptedModel([asks_for(("look_around", {"query": "a"})), "Done."])

    def lookup(query: str, configuration: dict[str, int]) -> str:
        return f"{query} at {configuration['depth']}"

    own = agent_flow(agent(tool))
    flow = compile_flow(own, models={"*": model}, tools={"lookup": lookup})
    assert drive(flow, {"topic": "bees"}).status == "completed"
    assert results_of(model) == ["a at 2"]
    plain = compile_flow(own, models={"*": ScriptedModel(["x"])}, tools={"lookup": str.upper})
    assert drive(plain, {"topic": "bees"}).status == "completed"
    assert {one.code for one in check(own, tools=()).errors} == {"OAS092"}


def test_results_of_calls_with_one_id_are_told_apart() -> None:
    calls = tuple({"id": "x", "name": "search", "args": {"query": one}} for one in "ab")
    model = ScriptedModel([ScriptedReply(tool_calls=calls), "Done"])
    flow = compile_flow(
        agent_flow(agent(SEARCH, outputs=TEXT), TEXT),
        models={"*": model}, tools={"search": lambda query: f"{query}!"},
    )  # fmt: skip
    assert drive(flow, {"topic": "bees"}).status == "completed"
    heard = {one.tool_call_id: one.content for one in model.asked[-1].messages[-2:]}
    assert heard == {"x": "a!", "call_1_1": "b!"}
    asked = model.asked[-1].messages[-3]
    assert [call["id"] for call in asked.tool_calls] == [*heard]


def test_a_result_that_nobody_offered_is_no_tool() -> None:
    model = ScriptedModel([asks_for(("submit_result", {"report": "by call"})), "By words"])
    flow = compile_flow(agent_flow(agent(outputs=TEXT), TEXT), models={"*": model})
    assert drive(flow, {"topic": "bees"}).outputs == {"report": "By words"}
    assert "there is no tool 'submit_result'" in model.asked[-1].messages[-1].content
