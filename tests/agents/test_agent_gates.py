"""A person at a gate inside an agent: what they see of the conversation, and what stays of it."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk import Decision, Gate
from cinatra_sdk.activations import advance
from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.runs import Stop
from oas_compiler import compile_flow
from tests.agents.agent_flows import SEARCH, SEND, agent, agent_flow
from tests.agents.test_agent import asks_for
from tests.flow.containers import texts
from tests.flows import end, flow_of, message, node, port, start

Json = dict[str, Any]


class Driven:
    """A run in memory, driven from stop to stop."""

    def __init__(self, flow: Any, inputs: Json, script: Any) -> None:
        tools = {"search": lambda query: f"{query}!", "send": lambda to, copies: True}
        self.flow = compile_flow(flow, models={"*": ScriptedModel(script)}, tools=tools)
        self.graph = self.flow.graph(InMemorySaver())
        self.inputs = inputs

    def to_a_stop(self, *decisions: Any) -> Stop:
        left = [Decision.of(one, by="ann").wire() for one in decisions]
        return advance(
            self.graph,
            self.flow.input(self.inputs),
            self.flow.config(run_id="r"),
            context=self.flow.context(run_id="r"),
            answer=lambda _gate: left.pop(0) if left else None,
        )


def list_told(said: Any) -> list[Any]:
    """Who said it, and what: the text, or the names of the tools that are asked for."""
    return [
        (one["role"], one["content"] or [call["name"] for call in one.get("tool_calls", [])])
        for one in said
    ]


ALONE = {**agent(SEARCH, SEND), "agentspec_version": "26.1.2"}
SCRIPT = [asks_for(("search", {"query": "a"})), asks_for(("send", {"to": "ada"})), "Done."]
BEFORE = [
    ("user", "Tell Ada."), ("assistant", ["search"]), ("tool", "a!"), ("assistant", ["send"]),
]  # fmt: skip


def test_a_gate_before_a_call_has_what_was_said_until_then() -> None:
    run = Driven(ALONE, {"topic": "bees", "user_message": "Tell Ada."}, SCRIPT)
    (gate,) = run.to_a_stop().gates
    assert list_told(gate.said) == BEFORE
    assert Gate.from_json(gate.to_json()).said == gate.said


def test_a_gate_shows_no_credential_that_was_said_before_it() -> None:
    token = "sk-proj-" + "a1B2" * 12
    script = [
        asks_for(("search", {"query": token})),
        asks_for(("search", {"query": "b", "password": "hunter2hunter2"})),
        asks_for(("send", {"to": "ada"})),
        "Done.",
    ]
    run = Driven(ALONE, {"topic": "bees", "user_message": f"Use {token}"}, script)
    (gate,) = run.to_a_stop().gates
    shown = str(gate.to_json())
    assert token not in shown
    assert "hunter2" not in shown
    assert [one["role"] for one in gate.said][:2] == ["user", "assistant"]


@pytest.mark.parametrize(
    ("decision", "after"),
    [
        (False, [("assistant", "Call send"), ("user", "[Rejected by operator]")]),
        (
            Decision.deny(by="ann", reason="not today"),
            [("tool", "[Denied by operator] not today"), ("assistant", "Done.")],
        ),
        (
            True,
            [
                ("assistant", "Call send"), ("user", "[Approved by operator]"), ("tool", "true"),
                ("assistant", "Done."),
            ],
        ),
    ],
    ids=["rejected", "denied", "approved"],
)  # fmt: skip
def test_what_was_said_before_a_decision_stays_and_the_decision_stands_once(
    decision: Any, after: Any
) -> None:
    run = Driven(ALONE, {"topic": "bees", "user_message": "Tell Ada."}, SCRIPT)
    assert list_told(run.to_a_stop(decision).messages) == [*BEFORE, *after]


def test_a_worker_that_is_rejected_leaves_what_it_said() -> None:
    worker = {**agent(SEND, id="worker"), "name": "Worker", "system_prompt": "Work.", "inputs": []}
    manager = {
        "component_type": "ManagerWorkers", "id": "team", "name": "Team",
        "group_manager": {**agent(), "system_prompt": "Manage.", "inputs": []}, "workers": [worker],
    }  # fmt: skip
    script = [asks_for(("Worker", {"message": "Go on."})), asks_for(("send", {"to": "ada"}))]
    run = Driven({**manager, "agentspec_version": "26.1.2"}, {"user_message": "Tell Ada."}, script)
    (gate,) = run.to_a_stop().gates
    assert list_told(gate.said) == [("user", "Go on."), ("assistant", ["send"])]
    said = list_told(run.to_a_stop(False).messages)
    assert said[:4] == [
        ("user", "Tell Ada."), ("assistant", ["Worker"]), ("user", "Go on."), ("assistant", ["send"]),
    ]  # fmt: skip


def test_each_gate_of_a_map_has_the_words_of_its_own_element() -> None:
    own = {**agent(SEND), "system_prompt": "Do {{ x }}.", "inputs": [port("x")]}
    inside = flow_of(
        start(port("x")), node("AgentNode", "work", agent=own), end(port("y")), id_="item",
        edges=[("start", "x", "work", "x"), ("start", "x", "end", "y")],
    )  # fmt: skip
    each = node(
        "ParallelMapNode", "each", subflow=inside, inputs=[texts("iterated_x")],
        outputs=[texts("collected_y")],
    )  # fmt: skip
    flow = flow_of(
        start(texts("xs")), message("say", text="Before."), each, end(),
        edges=[("start", "xs", "each", "iterated_x")],
    )  # fmt: skip

    def script(asked: Any) -> Any:
        return asks_for(("send", {"to": str(asked.messages[0].content)}))

    gates = Driven(flow, {"xs": ["a", "b"]}, script).to_a_stop().gates
    told = [[one.get("tool_calls", one["content"]) for one in gate.said] for gate in gates]
    assert [said[0] for said in told] == ["Before.", "Before."]
    assert [said[1][0]["args"]["to"] for said in told] == ["Do a.", "Do b."]


def test_a_pause_keeps_the_last_messages_only_and_cuts_what_is_too_long() -> None:
    script = [*[asks_for(("search", {"query": "a"}))] * 30, asks_for(("send", {"to": "ada"}))]
    (gate,) = Driven(agent_flow(agent(SEARCH, SEND)), {"topic": "x"}, script).to_a_stop().gates
    assert len(gate.said) == 20
    long = Driven(ALONE, {"topic": "x", "user_message": "y" * 30_000}, [SCRIPT[1]])
    assert list_told(long.to_a_stop().gates[0].said) == [("assistant", ["send"])]


def test_a_question_of_an_agent_has_its_words() -> None:
    script = [asks_for(("ask_user", {"question": "Which hive?"})), "The red one."]
    run = Driven(agent_flow(agent(asks=True)), {"topic": "bees"}, script)
    (gate,) = run.to_a_stop().gates
    assert gate.question == "Which hive?"
    (call,) = Driven(agent_flow(agent(SEND)), {"topic": "x"}, [SCRIPT[1]]).to_a_stop().gates
    assert call.question == ""
