"""A run's conversation: what its flows say, what gates ask and people answer, at every depth."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk import Decision
from cinatra_sdk.activations import stop_of
from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.flow.nodes.gate_node import Message
from cinatra_sdk.flow.plan.channel_names import MESSAGES
from cinatra_sdk.flow.plan.frame import Frame, NodeBody
from cinatra_sdk.flow.plan.plan import NodeSite
from cinatra_sdk.flow.visit.talk import read_conversation, say
from cinatra_sdk.langgraph_threads.list_channels import make_messages
from cinatra_sdk.langgraph_threads.state_channels import seal
from cinatra_sdk.runs import Stop
from cinatra_sdk.testing import drive
from oas_compiler import CompileError, Flow, compile_flow
from tests.flow.containers import mapped, parallel, texts
from tests.flow.talking_flows import say_again, talking_flow
from tests.flow.test_containers import Death, DyingSaver
from tests.flows import branching, end, flow_node, flow_of, gate, message, node, port, start

Json = dict[str, Any]
YES = "[Approved by operator]"


def run_to_end(flow: Flow, saver: Any, *, answer: Any = say_again) -> Stop:
    """The end of a run whose process dies as often as the saver lets it; the last gate is answered first."""
    config, context = flow.config(run_id="r"), flow.context(run_id="r")
    while True:
        graph = flow.graph(saver)
        try:
            snapshot = graph.get_state(config)
            stop = stop_of(snapshot)
            if stop.status in ("completed", "rejected"):
                return stop
            given: Any = None if snapshot.next or snapshot.tasks else flow.input({})
            if stop.gates:
                asked = stop.gates[-1]
                wire = Decision.of(answer(asked), by="ann").wire()
                given = Command(resume={asked.interrupt: wire})
            graph.invoke(given, config, context=context, durability="sync")
        except Death:
            saver.dead = False


def contents(stop: Stop) -> list[Any]:
    return [said["content"] for said in stop.messages]


def asking(id_: str, text: str, *inputs: Json) -> Json:
    return node(
        "InputMessageNode", id_, message=text, inputs=list(inputs),
        outputs=[port("userResponse")], cinatra={"riskClass": "read_only"},
    )  # fmt: skip


# ------------------------------------------------------------------ who says what


def test_a_gate_asks_and_a_person_answers() -> None:
    flow = compile_flow(
        flow_of(
            start(port("n", default="ann")),
            message("hello", "Two drafts"),
            asking("ask", "Which, {{ n }}?", port("n")),
            gate("plain"),
            end(port("said")),
            edges=[("start", "n", "ask", "n"), ("ask", "userResponse", "end", "said")],
        )
    )
    words = {"ask": "the second", "plain": True}
    stop = run_to_end(flow, InMemorySaver(), answer=lambda asked: words[asked.node])
    said, question, answer, implied, yes = stop.messages
    assert said == {
        "role": "assistant", "content": "Two drafts", "node": "hello", "path": "hello", "id": said["id"],
    }  # fmt: skip
    assert (question["role"], question["content"], question["gate"]) == (
        "assistant",
        "Which, ann?",
        "ask",
    )
    assert "implied" not in question
    assert (answer["role"], answer["content"], answer["gate"]) == ("user", "the second", "ask")
    assert (answer["decision"], answer["by"]) == ("approved", "ann")
    assert (implied["content"], implied["implied"]) == ("The plain", True)
    assert (yes["role"], yes["content"]) == ("user", YES)
    assert len({one["id"] for one in stop.messages}) == 5


def test_the_state_holds_messages_of_langchain_and_a_stop_makes_them() -> None:
    flow = compile_flow(flow_of(start(), message("hello", "Hi"), gate("ok"), end()))
    saver = InMemorySaver()
    stop = run_to_end(flow, saver)
    held = flow.graph(saver).get_state(flow.config(run_id="r")).values["messages"]
    made = stop.conversation()
    assert [type(one) for one in made] == [AIMessage, AIMessage, HumanMessage]
    assert [(one.id, one.content) for one in held] == [(one.id, one.content) for one in made]
    assert made == make_messages(stop.messages)
    assert made[0].additional_kwargs == {"node": "hello", "path": "hello"}


def test_a_rejection_says_who_rejected_and_why() -> None:
    flow = compile_flow(flow_of(start(), gate("ok"), message("never", "x"), end()))
    no = Decision.reject(by="ann", reason="wrong list")
    stop = run_to_end(flow, InMemorySaver(), answer=lambda _gate: no)
    assert contents(stop) == ["The ok", "[Rejected by operator] wrong list"]
    assert (stop.messages[1]["decision"], stop.messages[1]["by"]) == ("rejected", "ann")


def test_the_reason_of_an_approval_is_not_said() -> None:
    flow = compile_flow(flow_of(start(), gate("ok"), end()))
    yes = Decision.approve(by="ann", reason="between us")
    stop = run_to_end(flow, InMemorySaver(), answer=lambda _gate: yes)
    assert "between us" not in str(stop.messages)
    assert stop.decisions[0]["reason"] == "between us"


def test_a_gate_that_the_policy_skips_says_nothing() -> None:
    flow = compile_flow(flow_of(start(), gate("ok"), end()))
    policy = {"steps": [{"stepNumber": 1, "requiresApproval": False}]}
    config, context = flow.config(run_id="r"), flow.context(run_id="r", approval_policy=policy)
    graph = flow.graph(InMemorySaver())
    graph.invoke(flow.input({}), config, context=context)
    stop = stop_of(graph.get_state(config))
    assert (stop.status, stop.messages) == ("completed", ())


def test_data_that_a_person_edits_is_said_without_keys_that_only_the_host_sets() -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "object"}}}
    asks = gate("ask", output=port("answer", "object"), inputMessageSchema=schema)
    flow = compile_flow(flow_of(start(), asks, end()))
    given = {"subject": "Hi", "approval_policy": {"steps": []}}
    stop = run_to_end(flow, InMemorySaver(), answer=lambda _gate: {"answer": given})
    assert contents(stop)[1] == '{"subject": "Hi"}'


def test_a_setup_gate_asks_for_the_inputs_that_it_names() -> None:
    flow = compile_flow(flow_of(start(port("topic"), required=["topic"]), end()))
    result = drive(flow, {}, answers=["bees"])
    assert result.messages == (), "no text of the author"
    stop = run_to_end(flow, InMemorySaver(), answer=lambda _gate: "bees")
    assert contents(stop) == ["The start: topic", "bees"]


# ------------------------------------------------------------------ flows inside


@pytest.fixture
def listening(monkeypatch: pytest.MonkeyPatch) -> None:
    """OutputMessageNodes whose id begins with `hear` say what they have heard."""

    make_message = Message.make_body

    def make_body(work: Message, site: NodeSite) -> NodeBody:
        if not site.plan.id.startswith("hear"):
            return make_message(work, site)
        frame = site.frame

        def run(state: Mapping[str, Any], runtime: Any) -> Any:
            heard = read_conversation(state, runtime.context)
            text = f"{frame.id} heard " + ", ".join(str(one.content) for one in heard)
            return frame.finish(state, {}, more=say(frame, state, text))

        return NodeBody(run=run, reads=(MESSAGES,), computes=True)

    monkeypatch.setattr(Message, "make_body", make_body)


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("asks", [True, False])
def test_a_subflow_hears_what_was_said_before_it(fuse: bool, asks: bool) -> None:
    asked = [gate("ask")] if asks else []
    inner = flow_of(start(), message("in", "b"), *asked, message("hear", ""), end(), id_="inner")
    flow = compile_flow(
        flow_of(start(), message("say", "a"), flow_node("sub", inner), message("hear2", ""), end()),
        fuse=fuse,
    )
    talk = ["The ask", YES] if asks else []
    heard = "hear heard " + ", ".join(["a", "b", *talk])
    before = ["a", "b", *talk, heard]
    stop = run_to_end(flow, InMemorySaver(), answer=lambda _gate: True)
    assert contents(stop) == [*before, "hear2 heard " + ", ".join(before)]


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("asks", [True, False])
def test_parallel_branches_hear_what_was_said_when_they_began(fuse: bool, asks: bool) -> None:
    def side(number: int) -> Json:
        asked = [gate(f"ask{number}")] if asks else []
        return flow_of(
            start(port("x")), message(f"in{number}", f"in {number}"), *asked,
            message(f"hear{number}", ""), end(port(f"y{number}", default="")), id_=f"side{number}",
        )  # fmt: skip

    both = parallel(side(0), side(1))
    flow = compile_flow(
        flow_of(
            start(port("x", default="1")), message("say", "a"), both, message("after", "z"), end(),
            edges=[("start", "x", "both", "x")],
        ),
        fuse=fuse,
    )  # fmt: skip
    expected = ["a"]
    for number in (0, 1):
        own = [f"in {number}", *([f"The ask{number}", YES] if asks else [])]
        expected += [*own, f"hear{number} heard " + ", ".join(["a", *own])]
    stop = run_to_end(flow, InMemorySaver(), answer=lambda _gate: True)
    assert contents(stop) == [*expected, "z"]


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("kind", ["MapNode", "ParallelMapNode"])
def test_items_of_a_map_hear_nothing_of_each_other(kind: str) -> None:
    item = flow_of(
        start(port("x")), message("hear", ""), end(port("y")), id_="item",
        edges=[("start", "x", "end", "y")],
    )  # fmt: skip
    flow = compile_flow(
        flow_of(
            start(texts("xs", default=["1", "2"])), message("say", "a"), mapped(item, kind=kind), end(),
            edges=[("start", "xs", "each", "iterated_x")],
        )
    )  # fmt: skip
    stop = run_to_end(flow, InMemorySaver())
    assert contents(stop) == ["a", "hear heard a", "hear heard a"]
    assert [one["path"] for one in stop.messages] == ["say", "each[0]/hear", "each[1]/hear"]


@pytest.mark.usefixtures("listening")
def test_a_client_cannot_say_what_a_flow_has_heard() -> None:
    flow = compile_flow(flow_of(start(), message("hear", ""), end()))
    forged: Any = {"heard": [AIMessage("EVIL")], "mark": None}
    config = flow.config(run_id="r")
    config["configurable"]["heard"] = [AIMessage("EVIL")]
    graph = flow.graph(InMemorySaver())
    with pytest.raises(InputInvalid, match="'messages'"):
        graph.invoke({**flow.input({}), "messages": [AIMessage("EVIL")]}, config, context=forged)
    values = graph.invoke(flow.input({}), config, context=forged)
    assert [one.content for one in values["messages"]] == ["hear heard "]


@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("written", ["sealed records", "messages without a seal"])
def test_what_a_node_says_by_itself_counts_if_it_is_sealed(
    fuse: bool, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    records: list[Any] = [{"role": "assistant", "content": "hm", "node": "say"}]
    said = seal(records) if written == "sealed records" else make_messages(records)
    kept = Frame.finish
    monkeypatch.setattr(
        Frame,
        "finish",
        lambda self, *args, **more: kept(
            self, *args, **{**more, **({"more": {MESSAGES: said}} if self.id == "say" else {})}
        ),
    )
    flow = compile_flow(flow_of(start(), message("say", "a"), message("b", "b"), end()), fuse=fuse)
    expected = ["hm", "b"] if written == "sealed records" else ["b"]
    assert contents(run_to_end(flow, InMemorySaver())) == expected


# ------------------------------------------------------------------ long ones


def long_talk() -> Json:
    """A flow that says three things in each round of a loop, and asks once more after it."""
    return flow_of(
        start(),
        message("say", "round"),
        gate("more"),
        branching("choose", port("said"), {"again": "again"}),
        gate("last"),
        end(),
        edges=[("more", "userResponse", "choose", "said")],
        routes=[("start", None, "say"), ("say", None, "more"), ("more", None, "choose"),
                ("choose", "again", "say"), ("choose", "default", "last"), ("last", None, "end")],
        id_="long",
    )  # fmt: skip


class Walking(InMemorySaver):
    """A saver with no way of its own to read the history of a list."""

    get_delta_channel_history = BaseCheckpointSaver.get_delta_channel_history


@pytest.mark.parametrize("kind", [InMemorySaver, Walking])
@pytest.mark.parametrize("fuse", [True, False])
def test_a_long_conversation_of_a_subflow_goes_on_under_another_task(kind: Any, fuse: bool) -> None:
    flow = compile_flow(
        flow_of(start(), flow_node("sub", long_talk()), message("done", "done"), end()), fuse=fuse
    )
    saver, config, context = kind(), flow.config(run_id="r"), flow.context(run_id="r")
    graph = flow.graph(saver)
    graph.invoke(flow.input({}), config, context=context)
    for _ in range(9):
        (asked,) = stop_of(graph.get_state(config)).gates
        word = "again" if asked.visit < 9 else "on"
        wire = Decision.approve(value=word).wire()
        graph.invoke(Command(resume={asked.interrupt: wire}), config, context=context)
    # A further input makes a new task, under which the subflow has no checkpoints of its own.
    graph.invoke(flow.input({}), config, context=context)
    stop = run_to_end(flow, saver)
    rounds = [["round", "The more", "again"]] * 8 + [["round", "The more", "on"]]
    expected = [one for each in rounds for one in each]
    assert contents(stop) == [*expected, "The last", YES, "done"]
    assert len({one["id"] for one in stop.messages}) == len(stop.messages)


@pytest.mark.parametrize("subgraphs", [False, True])
@pytest.mark.parametrize("fuse", [True, False])
def test_messages_are_streamed_as_they_are_said(fuse: bool, subgraphs: bool) -> None:
    inner = flow_of(start(), message("in", "b"), message("in2", "c"), end(), id_="inner")
    flow = compile_flow(
        flow_of(start(), message("say", "a"), flow_node("sub", inner), gate("ok"), message("z", "z"), end()),
        fuse=fuse,
    )  # fmt: skip
    graph, config = flow.graph(InMemorySaver()), flow.config(run_id="r")
    told: list[Any] = []
    for given in (flow.input({}), None):
        asked = graph.get_state(config).interrupts
        start_with = Command(resume={asked[0].id: {"approved": True}}) if asked else given
        for chunk in graph.stream(
            start_with, config, context=flow.context(run_id="r"), stream_mode="messages",
            subgraphs=subgraphs,
        ):  # fmt: skip
            told.append((chunk[1] if subgraphs else chunk)[0])
    assert [one.content for one in told] == ["a", "b", "c", "The ok", YES, "z"]
    assert [one.id for one in told] == [
        one.id for one in graph.get_state(config).values["messages"]
    ]


# ------------------------------------------------------------------ random ones


LONG = 3
"""Seed of a flow whose conversation is long, so that one always is."""


def outcome(stop: Stop) -> Any:
    return stop.status, stop.messages, [{**one, "at": ""} for one in stop.decisions]


def compare_random(seed: int, deaths: int) -> int:
    """How many messages the random flow of this seed says; the same both ways, and after deaths."""
    try:
        flow = compile_flow(talking_flow(seed))
    except CompileError as error:
        raise AssertionError(f"seed {seed}: {error}") from None
    expected = outcome(run_to_end(flow, InMemorySaver()))
    plain = replace(flow, fuse=False)
    assert outcome(run_to_end(plain, InMemorySaver())) == expected, f"seed {seed}"
    chance = random.Random(seed)
    for one in [flow, plain] * deaths:
        saver = DyingSaver()
        saver.left = chance.randint(1, 60)
        assert outcome(run_to_end(one, saver)) == expected, f"seed {seed}, death at {saver.left}"
    ids = [said["id"] for said in expected[1]]
    assert len(set(ids)) == len(ids), f"seed {seed}"
    return len(ids)


def test_random_flows_have_one_conversation_however_they_run() -> None:
    seed = random.SystemRandom().randrange(10**9)
    print(f"seed {seed}")
    said = [compare_random(one, deaths=1) for one in (*range(seed, seed + 2), LONG)]
    assert max(said) > 16, "the control: some conversations are long"


@pytest.mark.long
def test_many_random_flows_have_one_conversation_however_they_run() -> None:
    seed = random.SystemRandom().randrange(10**9)
    print(f"seed {seed}")
    said = [compare_random(seed + number, deaths=4) for number in range(200)]
    assert max(said) > 100, "the control: some conversations are long"
