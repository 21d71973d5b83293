"""A call that a person edits: made with exactly their arguments, kept before and after, told on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk import AnswerInvalid, Decision
from cinatra_sdk.activations import stop_of
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.outside.effects.door import current_key
from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.testing import adrive, drive
from oas_compiler import Flow, compile_flow
from tests.agents.agent_flows import SEND, agent
from tests.agents.test_agent import asks_for
from tests.agents.test_agent_gates import list_told
from tests.flows import end, flow_of, node, port, start, tool

BOB = {"to": "bob", "copies": 2}
SHAPES: list[Any] = [
    {"approved": True, "value": BOB},
    [{"type": "edit", "args": {"action": "send", "args": BOB}}],
    {"decisions": [{"type": "edit", "edited_action": {"name": "send", "args": BOB}}]},
]


class Mail:
    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.keys: list[str] = []

    def send(self, to: str, copies: int) -> str:
        self.sent.append({"to": to, "copies": copies})
        self.keys.append(current_key())
        return f"sent to {to}"


def mailing(mail: Mail, kind: str = "ServerTool", **fields: Any) -> Flow:
    asking = tool("mail", "send", [port("to"), port("copies", "integer")], [port("told")])
    asking["tool"] |= {"requires_confirmation": True, "component_type": kind}
    made = flow_of(
        start(port("to", default="ann"), port("copies", "integer", default=1)), asking, end(port("told")),
        edges=[("start", "to", "mail", "to"), ("start", "copies", "mail", "copies"), ("mail", "told", "end", "told")],
    )  # fmt: skip
    return compile_flow(made, tools={"send": mail.send}, **fields)


@pytest.mark.parametrize("run", [drive, lambda *a, **k: asyncio.run(adrive(*a, **k))])
@pytest.mark.parametrize("fuse", [True, False])
def test_an_edited_call_is_made_once_with_exactly_these_arguments(run: Any, fuse: bool) -> None:
    mail = Mail()
    edit = Decision.approve(by="ann", value=BOB)
    result = run(mailing(mail, fuse=fuse), answers=[edit])
    assert (result.outputs, mail.sent) == ({"told": "sent to bob"}, [BOB])
    (decided,) = result.decisions
    assert decided["edited"] == {"before": {"to": "ann", "copies": 1}, "after": BOB}
    assert decided["by"] == "ann"


@pytest.mark.parametrize("answer", SHAPES, ids=str)
def test_a_graph_takes_an_edit_in_every_dialect(answer: Any) -> None:
    mail = Mail()
    flow = mailing(mail)
    graph, own = flow.graph(InMemorySaver()), {"config": flow.config(run_id="r"), "context": flow.context(run_id="r")}  # fmt: skip
    graph.invoke(flow.input({}), **own)
    graph.invoke(Command(resume=answer), **own)
    assert mail.sent == [BOB]
    assert stop_of(graph.get_state(own["config"])).outputs == {"told": "sent to bob"}


@pytest.mark.parametrize(
    "answer",
    [
        {"approved": True, "value": {"to": "bob"}},
        {"approved": True, "value": {**BOB, "bcc": "eve"}},
        {"approved": True, "value": {**BOB, "copies": "2"}},
        [{"type": "edit", "args": {"action": "delete", "args": BOB}}],
    ],
    ids=str,
)
def test_an_edit_that_the_tool_does_not_take_leaves_the_gate_open(answer: Any) -> None:
    mail = Mail()
    flow = mailing(mail)
    graph, own = flow.graph(InMemorySaver()), {"config": flow.config(run_id="r"), "context": flow.context(run_id="r")}  # fmt: skip
    graph.invoke(flow.input({}), **own)
    with pytest.raises(AnswerInvalid, match="gate 'mail', 'mail': "):
        graph.invoke(Command(resume=answer), **own)
    assert (len(graph.get_state(own["config"]).interrupts), mail.sent) == (1, [])


def test_an_edit_that_changes_nothing_is_an_approval() -> None:
    mail = Mail()
    same = {"to": "ann", "copies": 1}
    result = drive(mailing(mail), answers=[Decision.approve(value=same)])
    assert mail.sent == [same]
    assert "edited" not in result.decisions[0]


def test_the_key_of_an_edited_call_is_one_of_its_arguments() -> None:
    keys = []
    for value in (None, BOB, {**BOB, "to": "eve"}, BOB):
        mail = Mail()
        flow = mailing(mail)
        answer = Decision.approve(value=value) if value else True
        drive(flow, context=flow.context(run_id="r"), answers=[answer])
        keys += mail.keys
    assert len(keys) == 4
    assert len(set(keys)) == 3
    assert keys[1] == keys[3]


def test_an_edited_call_that_crashed_is_made_again_under_one_key() -> None:
    class Failing(Mail):
        def send(self, to: str, copies: int) -> str:
            told = super().send(to, copies)
            if len(self.sent) < 3:
                raise RuntimeError("no network")
            return told

    mail = Failing()
    flow = mailing(mail)
    saver, context, config = InMemorySaver(), flow.context(run_id="r"), flow.config(run_id="r")
    flow.graph(saver).invoke(flow.input({}), config, context=context)
    given: Any = Command(resume={"approved": True, "value": BOB})
    for _ in range(2):
        with pytest.raises(Exception, match="no network"):
            flow.graph(saver).invoke(given, config, context=context)
        given = None
    flow.graph(saver).invoke(None, config, context=context)
    assert mail.sent == [BOB] * 3
    assert len(set(mail.keys)) == 1


def test_the_next_visit_of_an_edited_node_begins_with_its_own_inputs() -> None:
    number = port("n", "integer")
    adding = tool("add", "add", [number], [number])
    adding["tool"]["requires_confirmation"] = True
    made = flow_of(
        start(number), adding, tool("look", "is_done", [number], [port("done")]),
        node("BranchingNode", "choose", mapping={"yes": "stop"}, branches=["stop", "default"],
             inputs=[port("branching_mapping_key")]),
        end(number),
        routes=[("start", None, "add"), ("add", None, "look"), ("look", None, "choose"),
                ("choose", "stop", "end"), ("choose", "default", "add")],
        edges=[("start", "n", "add", "n"), ("add", "n", "add", "n"), ("add", "n", "look", "n"),
               ("look", "done", "choose", "branching_mapping_key"), ("add", "n", "end", "n")],
    )  # fmt: skip
    given: list[int] = []
    tools = {"add": lambda n: given.append(n) or n + 1, "is_done": lambda n: "yes" if n > 11 else "no"}  # fmt: skip
    result = drive(
        compile_flow(made, tools=tools), {"n": 0}, answers=[Decision.approve(value={"n": 10}), True]
    )
    assert (given, result.outputs) == ([10, 11], {"n": 12})


@pytest.mark.parametrize("answer", SHAPES, ids=str)
def test_the_model_is_told_that_a_person_changed_its_call(answer: Any) -> None:
    script = [asks_for(("send", {"to": "ada"})), "Done."]
    flow = {**agent(SEND), "agentspec_version": "26.1.2"}
    sent: list[Any] = []
    model = ScriptedModel(script)
    made = compile_flow(
        flow, models={"*": model}, tools={"send": lambda to, copies: bool(sent.append((to, copies))) or True}
    )  # fmt: skip
    graph, own = made.graph(InMemorySaver()), {"config": made.config(run_id="r"), "context": made.context(run_id="r")}  # fmt: skip
    graph.invoke(made.input({"topic": "bees", "user_message": "Tell Ada."}), **own)
    graph.invoke(Command(resume=answer), **own)
    assert sent == [("bob", 2)]
    told = list_told(stop_of(graph.get_state(own["config"])).messages)
    arguments = '{"to": "bob", "copies": 2}'
    assert told == [
        ("user", "Tell Ada."),
        ("assistant", ["send"]),
        ("assistant", "Call send"),
        ("user", f"[Changed by operator] {arguments}"),
        ("tool", f"[Changed by operator] The call was made with {arguments}\ntrue"),
        ("assistant", "Done."),
    ]
    assert model.asked[-1].text == told[4][1]


def test_a_call_that_is_run_by_the_caller_is_edited_before_its_result_is_asked_for() -> None:
    flow = mailing(Mail(), "ClientTool")
    result = drive(flow, answers={"mail": [Decision.approve(value=BOB), Decision.approve(value="sent")]})  # fmt: skip
    assert [gate.values["arguments"] for gate in result.gates] == [{"to": "ann", "copies": 1}, BOB]
    assert result.outputs == {"told": "sent"}


def test_a_gate_that_was_kept_says_again_what_may_be_edited() -> None:
    (gate,) = drive(mailing(Mail())).gates
    again = Gate.from_json(gate.to_json())
    assert again.form == gate.form
    assert again.is_editable
    assert again.check(Decision.approve(value=BOB)).value == BOB


def test_a_denied_call_was_never_edited() -> None:
    mail = Mail()
    result = drive(mailing(mail), answers=[Decision.deny(by="ann")])
    assert (mail.sent, "edited" in result.decisions[0]) == ([], False)
