"""What acts at most once, where the host gave no ledger: the memory of the process that began the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from cinatra_sdk.blocks.host_node import seal_host_fields
from cinatra_sdk.blocks.platform_steps import child_agent
from cinatra_sdk.errors import EffectRefused, EffectUnknown
from cinatra_sdk.langgraph_threads.host_context import host_context
from cinatra_sdk.langgraph_threads.state_channels import GovernedState, HostOnly
from cinatra_sdk.outside.effects import memory_ledgers
from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.lower.flow import Flow
from tests.flows import Json, end, flow_node, flow_of, gate, port, start, tool

ONCE = {"cinatra": {"effect": "at_most_once"}}


def mailing(send: Callable[..., Any], *, before: tuple[Json, ...] = ()) -> Flow:
    """Calls `send` at most once, after the nodes before it."""
    return compile_flow(mailing_file(*before), tools={"send": send})


def mailing_file(*before: Json) -> Json:
    called = {**tool("mail", "send", [port("to")], [port("id")]), "metadata": ONCE}
    edges = [("start", "to", "mail", "to"), ("mail", "id", "end", "id")]
    nodes = (start(port("to", default="ann")), *before, called, end(port("id")))
    return flow_of(*nodes, edges=edges)


class Sender:
    """Counts what is sent; fails after the letter has gone out where it is told to."""

    def __init__(self, *failures: bool) -> None:
        self.sent: list[str] = []
        self._failures = list(failures)

    def __call__(self, to: str) -> str:
        self.sent.append(to)
        if self._failures and self._failures.pop(0):
            raise TimeoutError("no answer")
        return f"letter {len(self.sent)}"


def test_a_driven_flow_acts_at_most_once() -> None:
    sender = Sender()
    result = drive(mailing(sender))
    assert (result.status, result.outputs) == ("completed", {"id": "letter 1"})


def test_a_graph_of_its_own_runs_such_a_flow_whatever_keeps_its_checkpoints() -> None:
    sender = Sender()
    flow = mailing(sender)
    assert flow.graph().invoke(flow.input({}))["outputs"] == {"id": "letter 1"}
    assert asyncio.run(flow.graph().ainvoke(flow.input({})))["outputs"] == {"id": "letter 2"}
    kept = flow.graph(InMemorySaver()).invoke(flow.input({}), flow.config(run_id="r"))
    assert kept["outputs"] == {"id": "letter 3"}


def test_a_stream_runs_such_a_flow() -> None:
    *_, last = mailing(Sender()).stream({})
    assert last.name == "completed"


def test_a_subflow_acts_at_most_once() -> None:
    sender = Sender()
    outer = flow_of(start(), flow_node("inner", {**mailing_file(), "id": "letters"}), end())
    assert drive(compile_flow(outer, tools={"send": sender})).status == "completed"
    assert sender.sent == ["ann"]


def test_two_runs_with_one_name_know_nothing_of_each_other() -> None:
    sender = Sender()
    flow = mailing(sender, before=(gate("ok"),))
    config = flow.config(run_id="same")
    first, second = flow.graph(InMemorySaver()), flow.graph(InMemorySaver())
    first.invoke(flow.input({"to": "ann"}), config)
    second.invoke(flow.input({"to": "bob"}), config)
    for graph in (first, second):
        graph.invoke(Command(resume={"approved": True}), config)
    assert sender.sent == ["ann", "bob"]


@pytest.mark.parametrize("loops", [False, True])
def test_a_call_that_may_have_happened_is_not_made_again(*, loops: bool) -> None:
    sender = Sender(True)
    flow, saver = mailing(sender), InMemorySaver()
    graph, config = flow.graph(saver), flow.config(run_id="r")

    def go_on(given: Any) -> Any:
        return asyncio.run(graph.ainvoke(given, config)) if loops else graph.invoke(given, config)

    for given in (flow.input({}), None, None):
        with pytest.raises(EffectUnknown):
            go_on(given)
    assert sender.sent == ["ann"]


def test_a_run_that_another_process_began_is_refused_and_nothing_is_called() -> None:
    sender = Sender()
    flow, saver = mailing(sender, before=(gate("ok"),)), InMemorySaver()
    graph, config = flow.graph(saver), flow.config(run_id="r")
    graph.invoke(flow.input({}), config)
    memory_ledgers._begin_process()  # what a new process begins with; the checkpoints are kept
    with pytest.raises(EffectRefused, match="process that began the run is gone") as caught:
        graph.invoke(Command(resume={"approved": True}), config)
    assert (caught.value.code, sender.sent) == ("ledger_missing", [])
    # a host that has a ledger of its own goes on
    context = host_context(ledger=MemoryLedger())
    assert graph.invoke(None, config, context=context)["outputs"] == {"id": "letter 1"}


def test_a_run_that_began_with_a_ledger_gets_none_in_memory_later() -> None:
    sender = Sender()
    flow, saver = mailing(sender, before=(gate("ok"),)), InMemorySaver()
    graph, config = flow.graph(saver), flow.config(run_id="r")
    graph.invoke(flow.input({}), config, context=host_context(ledger=MemoryLedger()))
    with pytest.raises(EffectRefused, match="no ledger would know of it"):
        graph.invoke(Command(resume={"approved": True}), config)
    assert sender.sent == []


def test_a_client_gives_a_run_no_ledger_by_its_input() -> None:
    graph = mailing(Sender()).graph(InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    graph.update_state(config, {"run": {"ledger": "made-up.1"}}, as_node="__start__")
    assert "run" not in graph.get_state(config).values


def test_the_oldest_ledgers_are_let_go_and_their_runs_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory_ledgers, "_MOST", 1)
    process = memory_ledgers._Process()
    first = process.find(1)
    assert first is process.find(1)
    assert isinstance(process.find(2), MemoryLedger)
    assert process.find(1) is None


def test_results_of_what_may_happen_again_are_not_kept() -> None:
    again = mailing_file()
    again["$referenced_components"]["mail"]["metadata"] = {}
    sender = Sender()
    flow, saver = compile_flow(again, tools={"send": sender}), InMemorySaver()
    before = dict(memory_ledgers._process.ledgers)
    flow.graph(saver).invoke(flow.input({}), flow.config(run_id="r"))
    assert memory_ledgers._process.ledgers == before


class _State(GovernedState, total=False):
    sent: Annotated[dict[str, Any], HostOnly]


def test_a_graph_written_by_hand_acts_at_most_once_too() -> None:
    platform = SimulatedPlatform({"mail": {"id": "letter 1"}})
    graph: Any = StateGraph(_State, context_schema=type(host_context()))
    graph.add_node("host", seal_host_fields())
    graph.add_node(
        "mail",
        child_agent(
            platform, node="mail", package="@test/mailer", input_mapping={},
            outputs={"id": {"type": "string"}}, into="sent", sealed=True, at_most_once=True,
        ),
    )  # fmt: skip
    graph.add_edge(START, "host")
    graph.add_edge("host", "mail")
    graph.add_edge("mail", END)
    config: Any = {"configurable": {"thread_id": "t"}}
    state = graph.compile(checkpointer=InMemorySaver()).invoke({}, config)
    assert "sent" in state
    assert len(platform.calls) == 1
