"""A node that asks before it acts: confirmed, denied, rejected; and what was shown is what is sent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk import Decision
from cinatra_sdk.activations import stop_of
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.testing import adrive, drive
from oas_compiler import Flow, compile_flow
from tests.flows import end, flow_of, gate, message, node, port, start, tool

CONFIG: Any = {"configurable": {"thread_id": "r1"}}


class Mail:
    def __init__(self) -> None:
        self.sent: list[str] = []

    def send(self, to: str) -> str:
        self.sent.append(to)
        return f"sent to {to}"


def mailing(mail: Mail, **fields: Any) -> Flow:
    asking = tool("mail", "send", [port("to")], [port("told")])
    asking["tool"]["requires_confirmation"] = True
    made = flow_of(
        start(port("to", default="bob")), asking, message("say", "{{ told }}", port("told")), end(port("told")),
        edges=[("start", "to", "mail", "to"), ("mail", "told", "say", "told"), ("mail", "told", "end", "told")],
    )  # fmt: skip
    return compile_flow(made, tools={"send": mail.send}, **fields)


@pytest.mark.parametrize("run", [drive, lambda *a, **k: asyncio.run(adrive(*a, **k))])
@pytest.mark.parametrize("fuse", [True, False])
def test_a_confirmed_call_is_made_once_as_it_was_shown(run: Any, fuse: bool) -> None:
    mail = Mail()
    result = run(mailing(mail, fuse=fuse), answers=[True])
    assert result.outputs == {"told": "sent to bob"}
    assert mail.sent == ["bob"]
    (asked,) = result.gates
    assert asked.id == "mail"
    assert asked.values == {"call": "send", "arguments": {"to": "bob"}}


@pytest.mark.parametrize("run", [drive, lambda *a, **k: asyncio.run(adrive(*a, **k))])
def test_a_denied_call_is_not_made_and_the_run_goes_on(run: Any) -> None:
    mail = Mail()
    result = run(mailing(mail), answers=[Decision.deny(by="ann", reason="not today")])
    assert result.status == "completed"
    assert result.outputs == {"told": "[Denied by operator] not today"}
    assert result.messages == ("[Denied by operator] not today",)
    assert mail.sent == []
    (decided,) = result.decisions
    assert (decided["approved"], decided["denied"], decided["by"]) == (False, True, "ann")


def test_a_rejected_call_ends_the_run() -> None:
    mail = Mail()
    result = drive(mailing(mail), answers=[False])
    assert (result.status, result.outputs, mail.sent) == ("rejected", None, [])
    assert "denied" not in result.decisions[0]


@pytest.mark.parametrize("policy", [None, {"steps": []}])
def test_no_policy_skips_the_question(policy: Any) -> None:
    mail = Mail()
    flow = mailing(mail)
    result = drive(flow, context=flow.context(approval_policy=policy))
    assert (result.status, mail.sent) == ("waiting", [])


def test_a_gate_that_stands_before_no_call_takes_no_denial() -> None:
    flow = compile_flow(flow_of(start(), gate("ask"), end()))
    with pytest.raises(AnswerInvalid, match="nothing can be denied"):
        drive(flow, answers=[Decision.deny(by="ann")])


def gate_of_mail(flow: Flow) -> Gate:
    result = drive(flow)
    return result.gates[0]


@pytest.mark.parametrize(
    "answer",
    [
        {"approved": True, "denied": True},
        {"approved": True, "value": "send it to eve"},
        {"approved": False, "denied": "yes"},
        {"denied": True},
        {"approved": False, "denied": True, "value": 1},
    ],
)
def test_an_answer_that_says_two_things_is_refused(answer: Any) -> None:
    with pytest.raises(AnswerInvalid):
        gate_of_mail(mailing(Mail())).read(answer)


@pytest.mark.parametrize(
    ("decision", "approved", "reason"),
    [
        ({"type": "approve"}, True, ""),
        ({"type": "reject"}, False, ""),
        ({"type": "reject", "message": "not today"}, False, "not today"),
    ],
)
def test_the_words_of_langchain_are_understood(
    decision: dict[str, str], approved: bool, reason: str
) -> None:
    answer = gate_of_mail(mailing(Mail())).read({"decisions": [decision]})
    assert (answer.approved, answer.denied, answer.reason) == (approved, not approved, reason)


@pytest.mark.parametrize(
    "decisions",
    [
        [],
        [{"type": "approve"}] * 2,
        [{"type": "edit", "edited_action": {}}],
        ["approve"],
        "approve",
    ],
)
def test_other_decisions_of_langchain_are_refused(decisions: Any) -> None:
    with pytest.raises(AnswerInvalid):
        gate_of_mail(mailing(Mail())).read({"decisions": decisions})


@pytest.mark.parametrize(
    ("decision", "key"),
    [
        ({"type": "approve", "edited_action": {"name": "mail", "args": {"to": "eve"}}}, "edited_action"),
        ({"type": "approve", "args": {"to": "eve"}}, "args"),
        ({"type": "approve", "approved": False}, "approved"),
        ({"type": "approve", "message": "but to eve"}, "message"),
        ({"type": "reject", "args": {}, "message": "no"}, "args"),
    ],
)  # fmt: skip
def test_a_decision_of_langchain_that_says_more_is_refused(
    decision: dict[str, Any], key: str
) -> None:
    with pytest.raises(AnswerInvalid, match=f"has unknown keys: {key}") as refused:
        gate_of_mail(mailing(Mail())).read({"decisions": [decision]})
    assert "as it was shown, or not at all" in str(refused.value)


@pytest.mark.parametrize("message", [0, None, ["no"], {"text": "no"}])
def test_a_message_of_langchain_that_is_no_text_is_refused(message: Any) -> None:
    with pytest.raises(AnswerInvalid, match="message of the decision is not a string"):
        gate_of_mail(mailing(Mail())).read({"decisions": [{"type": "reject", "message": message}]})


@pytest.mark.parametrize("kind", ["approve", "reject"])
def test_the_name_of_who_decided_may_stand_beside_it(kind: str) -> None:
    answer = gate_of_mail(mailing(Mail())).read({"decisions": [{"type": kind}], "by": "ann"})
    assert (answer.approved, answer.by) == (kind == "approve", "ann")


def test_a_decision_beside_an_answer_in_our_words_is_refused() -> None:
    with pytest.raises(AnswerInvalid, match="unknown keys: decisions"):
        gate_of_mail(mailing(Mail())).read({"decisions": [{"type": "approve"}], "approved": False})


def test_a_decision_cannot_approve_and_deny() -> None:
    with pytest.raises(ValueError, match="not both"):
        Decision(approved=True, denied=True)


def test_what_differs_from_what_was_shown_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    mail = Mail()
    flow = mailing(mail)
    saver, context = InMemorySaver(), flow.context(run_id="r1")
    graph = flow.graph(saver)
    graph.invoke(flow.input({}), CONFIG, context=context)
    # Somebody who writes into the database changes what the call is made of, after it was shown.
    from cinatra_sdk.flow.plan.frame import Frame

    gather = Frame.gather

    def tampered(self: Frame, state: Any) -> dict[str, Any]:
        values = gather(self, state)
        if self.id == "mail" and self.shown(state) and self.visit(state) == 1:
            return {"to": "eve"}
        return values

    monkeypatch.setattr(Frame, "gather", tampered)
    (waiting,) = stop_of(graph.get_state(CONFIG)).gates
    graph.invoke(Command(resume={waiting.interrupt: {"approved": True}}), CONFIG, context=context)
    (again,) = stop_of(graph.get_state(CONFIG)).gates
    assert (again.id, mail.sent) == ("mail#2", [])
    graph.invoke(Command(resume={again.interrupt: {"approved": True}}), CONFIG, context=context)
    assert mail.sent == ["bob"]
    assert stop_of(graph.get_state(CONFIG)).status == "completed"


@pytest.mark.parametrize("run", [drive, lambda *a, **k: asyncio.run(adrive(*a, **k))])
def test_a_confirmed_node_that_feeds_itself_acts_with_what_was_shown(run: Any) -> None:
    number, counted = port("n", "integer"), [0, 1, 2]
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
    tools = {"add": lambda n: n + 1, "is_done": lambda n: "yes" if n == 3 else "no"}
    result = run(compile_flow(made, tools=tools), {"n": 0}, answers=[True] * 3)
    assert result.outputs == {"n": 3}
    assert [gate.values["arguments"] for gate in result.gates] == [{"n": n} for n in counted]
    assert [gate.id for gate in result.gates] == ["add", "add#2", "add#3"]


def test_another_source_that_ran_last_still_wins_when_a_confirmed_node_acts() -> None:
    number = port("n", "integer")
    asking = tool("ask", "keep", [number], [number])
    asking["tool"]["requires_confirmation"] = True
    made = flow_of(
        start(number), asking, tool("raise", "raise", [number], [number]),
        node("BranchingNode", "choose", mapping={"12": "stop"}, branches=["stop", "default"],
             inputs=[port("branching_mapping_key")]),
        end(number),
        routes=[("start", None, "ask"), ("ask", None, "raise"), ("raise", None, "choose"),
                ("choose", "stop", "end"), ("choose", "default", "ask")],
        edges=[("start", "n", "ask", "n"), ("ask", "n", "ask", "n"), ("raise", "n", "ask", "n"),
               ("ask", "n", "raise", "n"), ("raise", "n", "choose", "branching_mapping_key"), ("raise", "n", "end", "n")],
    )  # fmt: skip
    kept: list[int] = []
    tools = {"keep": lambda n: kept.append(n) or n, "raise": lambda n: n + 1}
    result = drive(compile_flow(made, tools=tools), {"n": 10}, answers=[True] * 2)
    assert (result.outputs, kept) == ({"n": 12}, [10, 11])


def test_the_answer_is_kept_before_the_call_is_made() -> None:
    class Failing(Mail):
        def send(self, to: str) -> str:
            super().send(to)
            if len(self.sent) < 3:
                raise RuntimeError("no network")
            return "sent"

    mail = Failing()
    flow = mailing(mail)
    saver, context = InMemorySaver(), flow.context(run_id="r1")
    graph = flow.graph(saver)
    graph.invoke(flow.input({}), CONFIG, context=context)
    (waiting,) = stop_of(graph.get_state(CONFIG)).gates
    given: Any = Command(resume={waiting.interrupt: {"approved": True}})
    for _ in range(2):
        with pytest.raises(Exception, match="no network"):
            flow.graph(saver).invoke(given, CONFIG, context=context)
        assert stop_of(flow.graph(saver).get_state(CONFIG)).gates == ()
        given = None
    flow.graph(saver).invoke(None, CONFIG, context=context)
    assert stop_of(flow.graph(saver).get_state(CONFIG)).outputs == {"told": "sent"}
    assert mail.sent == ["bob"] * 3
