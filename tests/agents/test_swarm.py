"""Agents of a Swarm hand over to each other, or ask each other."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.pipeline import check
from tests.agents.agent_flows import SEARCH, SEND, TEXT, agent, agent_flow
from tests.agents.test_agent import asks_for


def member(name: str, *tools: Any, **more: Any) -> dict[str, Any]:
    about = {"id": name.lower(), "name": name, "description": f"Knows {name}.", "inputs": []}
    return {**agent(*tools), **about, "system_prompt": f"You are {name}.", **more}


def swarm(*pairs: str, members: Any = (), **more: Any) -> dict[str, Any]:
    """pairs: `"A B"`, A may speak to B; the first agent is A."""
    named = {one["id"]: one for one in [*members, *map(member, "ABC")][::-1]}
    used = {name for pair in pairs for name in pair.lower().split()} | {"a"}
    return {
        "component_type": "Swarm", "id": "swarm", "name": "Swarm",
        "first_agent": {"$component_ref": "a"},
        "relationships": [[{"$component_ref": end} for end in pair.lower().split()] for pair in pairs],
        "$referenced_components": {name: one for name, one in named.items() if name in used}, **more,
    }  # fmt: skip


def run(own: dict[str, Any], script: Any, *, outputs: Any = (), answers: Any = None) -> Any:
    made: list[Any] = []
    tools = {
        "search": lambda query: made.append(query) or f"{query}!",
        "send": lambda to, copies: made.append((to, copies)) or True,
    }
    model = ScriptedModel(script)
    own = {"inputs": [], **own}
    flow = compile_flow(agent_flow(own, outputs), models={"*": model}, tools=tools)
    return drive(flow, {}, answers=answers), model, made


def prompts(model: ScriptedModel) -> list[str]:
    """Who was asked, at each question."""
    return [str(one.messages[0].content)[8:-1] for one in model.asked]


def names(model: ScriptedModel, index: int = 0) -> list[str]:
    return [one["function"]["name"] for one in model.asked[index].tools]


def test_who_is_handed_over_to_goes_on_and_hears_everything() -> None:
    script = [asks_for(("hand_over_to_B", {})), asks_for(("search", {"query": "bees"})), "Found."]
    own = swarm("A B", members=[member("B", SEARCH)], outputs=TEXT, handoff="always")
    ran, model, made = run(own, script, outputs=TEXT)
    assert (ran.status, ran.outputs) == ("completed", {"report": "Found."})
    assert prompts(model) == ["A", "B", "B"]
    assert made == ["bees"]
    assert [call.path for call in ran.calls] == ["work/B.search"]
    told = [str(one.content) for one in model.asked[-1].messages if isinstance(one, ToolMessage)]
    assert told == ["handed over", "bees!"]


@pytest.mark.parametrize(
    ("handoff", "offered"),
    [
        ("always", ["hand_over_to_B"]),
        ("never", ["B"]),
        ("optional", ["B", "hand_over_to_B"]),
        (None, ["B", "hand_over_to_B"]),
        (True, ["B", "hand_over_to_B"]),
        (False, ["B"]),
    ],
)
def test_the_mode_says_what_an_agent_may_do_with_another(handoff: Any, offered: Any) -> None:
    more = {} if handoff is None else {"handoff": handoff}
    ran, model, _ = run(swarm("A B", **more), ["Done."])
    assert ran.status == "completed"
    assert names(model) == offered


def test_agents_hand_over_to_and_fro() -> None:
    script = [
        asks_for(("hand_over_to_B", {}), ("hand_over_to_C", {})),
        asks_for(("hand_over_to_A", {})),
        asks_for(("hand_over_to_C", {})),
        "C has the last word.",
    ]
    own = swarm("A B", "B A", "A C", handoff="always", outputs=TEXT)
    ran, model, _ = run(own, script, outputs=TEXT)
    assert ran.outputs == {"report": "C has the last word."}
    assert prompts(model) == ["A", "B", "A", "C"]
    told = [str(one.content) for one in model.asked[1].messages if isinstance(one, ToolMessage)]
    assert told == ["handed over", "not made: the conversation was handed over before it"]


def test_an_agent_that_is_asked_does_not_ask_back() -> None:
    script = [asks_for(("B", {"message": "Well?"})), "Well.", "B is well."]
    ran, model, _ = run(swarm("A B", "B A", handoff="never", outputs=TEXT), script, outputs=TEXT)
    assert ran.outputs == {"report": "B is well."}
    assert [str(one.content) for one in model.asked[1].messages] == ["You are B.", "Well?"]
    assert names(model, 0) == ["B"]
    assert names(model, 1) == []


def test_a_confirmed_call_after_a_handover_is_asked_for_and_a_reject_ends_the_run() -> None:
    script = [asks_for(("hand_over_to_B", {})), asks_for(("send", {"to": "ada"})), "Sent."]
    own = swarm("A B", members=[member("B", SEND)])
    ran, _, made = run(own, script, answers=[True])
    assert ([gate.id for gate in ran.gates], made) == (["work/B.send"], [("ada", 1)])
    rejected, _, made = run(own, script, answers=[False])
    assert (rejected.status, made) == ("rejected", [])


def test_a_swarm_alone_in_its_file_is_spoken_to() -> None:
    own = swarm("A B", handoff="always")
    model = ScriptedModel([asks_for(("hand_over_to_B", {})), "Hello, I am B."])
    flow = compile_flow({**own, "agentspec_version": "26.1.0"}, models={"*": model})
    ran = drive(flow, {"user_message": "Who is there?"})
    assert ran.status == "completed"
    heard = [str(one.content) for one in model.asked[-1].messages]
    assert heard[:2] == ["You are B.", "Who is there?"]


def test_agents_without_end_are_stopped() -> None:
    forth, back = asks_for(("hand_over_to_B", {})), asks_for(("hand_over_to_A", {}))
    ran, _, _ = run(swarm("A B", "B A", handoff="always"), [forth, back] * 150)
    assert (ran.status, type(ran.error).__name__) == ("failed", "LimitExceeded")


def test_a_group_may_be_asked_in_a_swarm() -> None:
    group = {
        "component_type": "ManagerWorkers", "id": "b", "name": "B", "inputs": [],
        "group_manager": member("M"), "workers": [member("W")],
    }  # fmt: skip
    script = [
        asks_for(("B", {"message": "One"})),
        asks_for(("W", {"message": "Two"})),
        "Three",
        "Four",
        "Five",
    ]
    ran, model, _ = run(
        swarm("A B", members=[group], handoff="never", outputs=TEXT), script, outputs=TEXT
    )
    assert ran.outputs == {"report": "Five"}
    assert prompts(model) == ["A", "M", "W", "M", "A"]


@pytest.mark.parametrize(
    ("own", "code", "words"),
    [
        (swarm("A B", handoff="sometimes"), "OAS022", 'handoff is "sometimes"'),
        (swarm("A A"), "OAS022", "relationship to itself"),
        ({**swarm("A B"), "relationships": [["A"]]}, "OAS022", "a list of two agents"),
        ({**swarm("A B"), "relationships": [7]}, "OAS022", "a list of two agents"),
        (
            swarm("A B", "A C", members=[{**member("C"), "name": "B"}]),
            "OAS022",
            'two agents with the name "B"',
        ),
        (swarm("A B", members=[{"component_type": "Swarm", "id": "b", "name": "B"}]), "OAS", ""),
        ({**swarm("A B"), "first_agent": {"$component_ref": "nobody"}}, "OAS", "nobody"),
        ({**swarm("A B"), "first_agent": member("A")["llm_config"]}, "OAS", "an Agent"),
    ],
)
def test_a_swarm_that_means_nothing_is_refused(own: Any, code: str, words: str) -> None:
    found = check(agent_flow({"inputs": [], **own}))
    assert any(one.code.startswith(code) and words in one.message for one in found.errors), [
        (one.code, one.message) for one in found.errors
    ]


def test_a_swarm_in_which_everybody_asks_everybody_is_bounded() -> None:
    everybody = [f"A{index}" for index in range(9)]
    pairs = [f"{one} {other}" for one in everybody for other in everybody if one != other]
    own = swarm(*pairs, members=map(member, everybody))
    own["first_agent"] = {"$component_ref": "a0"}
    del own["$referenced_components"]["a"]
    assert "OAS021" in {one.code for one in check(agent_flow({"inputs": [], **own})).errors}
    small = {**own, "handoff": "always"}
    assert not check(agent_flow({"inputs": [], **small})).errors
