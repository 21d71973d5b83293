"""Calls and tools of flows, and of graphs written by hand, go through the door of the host."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

from cinatra_sdk import HostContext, RunStore, host_context
from cinatra_sdk.blocks.host_node import seal_host_fields
from cinatra_sdk.blocks.platform_steps import child_agent, llm_step
from cinatra_sdk.errors import EffectDiffers, EffectRefused, EffectUnknown, NodeFailed
from cinatra_sdk.langgraph_threads.state_channels import GovernedState
from cinatra_sdk.outside.effects import execution
from cinatra_sdk.outside.effects.door import EffectNews, Verdict, current_key
from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
from cinatra_sdk.outside.http_calls.protocol import PlatformCall, PlatformUnreachable
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import compile_flow
from tests.flows import end, flow_of, node, port, start

TOKEN = "run-token-4711"
LENT = "crm-secret-0815"
TEXT: Any = {"text": {"type": "string"}}


class Watched(SimulatedPlatform):
    """Keeps the whole calls; a call may be told to fail, or to change its answer each time."""

    def __init__(self, *fails: BaseException) -> None:
        super().__init__()
        self.fails = list(fails)
        self.seen: list[PlatformCall] = []

    def call(self, call: PlatformCall) -> Any:
        self.seen.append(call)
        if self.fails:
            raise self.fails.pop(0)
        return {"text": f"text {len(self.seen)}", "echo": [TOKEN, LENT]}

    async def acall(self, call: PlatformCall) -> Any:
        return self.call(call)


def http_flow(platform: Any, *, tools: Any = None, effect: str = "", topic: str = "t") -> Any:
    """start → write (a call), whose text is the flow's output."""
    cinatra = {"riskClass": "read_only", **({"effect": effect} if effect else {})}
    write = node(
        "ApiNode", "write", http_method="POST", url="{{CINATRA_BASE_URL}}/api/write?z={{CRM_KEY}}",
        data={"topic": topic, "key": "{{CRM_KEY}}"}, headers={"X-Crm": "a {{CRM_KEY}}"},
        query_params={"k": "{{CRM_KEY}}"}, outputs=[port("text")], cinatra=cinatra,
    )  # fmt: skip
    flow = flow_of(start(), write, end(port("text")), edges=[("write", "text", "end", "text")])
    return compile_flow(flow, platform=platform, env={"CRM_KEY": LENT})


def tool_flow(function: Callable[..., Any], *, effect: str = "", number: int = 1) -> Any:
    out = port("out")
    described = {
        "component_type": "ServerTool", "id": "t", "name": "send", "description": "",
        "inputs": [port("n", "integer", default=number)], "outputs": [out],
    }  # fmt: skip
    cinatra = {"riskClass": "read_only", **({"effect": effect} if effect else {})}
    flow = flow_of(
        start(), node("ToolNode", "send", tool=described, cinatra=cinatra), end(out),
        edges=[("send", "out", "end", "out")],
    )  # fmt: skip
    return compile_flow(flow, tools={"send": function}, env={"CRM_KEY": LENT})


def invoke_flow(flow: Any, **context: Any) -> Any:
    """A run of the flow on a thread that has nothing stored: as after lost checkpoints."""
    given = host_context(run_id="r1", run_token=TOKEN, **context)
    graph = flow.graph(InMemorySaver())
    return graph.invoke(flow.input({}), flow.config(run_id="r1"), context=given)["outputs"]


def ainvoke_flow(flow: Any, **context: Any) -> Any:
    async def run() -> Any:
        given = host_context(run_id="r1", run_token=TOKEN, **context)
        graph = flow.graph(InMemorySaver())
        return await graph.ainvoke(flow.input({}), flow.config(run_id="r1"), context=given)

    return asyncio.run(run())["outputs"]


class State(GovernedState):
    ask_output: Any


def invoke_block(block: Any, **context: Any) -> Any:
    builder = StateGraph(State, context_schema=HostContext)
    builder.add_node("host_node", seal_host_fields({"steps": []}))
    builder.add_node("ask", block)
    builder.add_edge(START, "host_node")
    builder.add_edge("host_node", "ask")
    builder.add_edge("ask", END)
    graph = builder.compile(checkpointer=InMemorySaver())
    given = host_context(run_id="r1", run_token=TOKEN, **context)
    config: Any = {"configurable": {"thread_id": "t1"}}
    return graph.invoke({}, config, context=given)["ask_output"]


def ask_model(platform: Any, **more: Any) -> Any:
    return llm_step(platform, node="ask", agent_id="@t/a", user="x", outputs=TEXT, **more)


def ask_agent(platform: Any, **more: Any) -> Any:
    return child_agent(
        platform, node="ask", package="@t/a", input_mapping={"a": "b"}, outputs=TEXT, **more
    )


RUNS: dict[str, Callable[..., Any]] = {
    "a call of a flow": lambda platform, **context: invoke_flow(http_flow(platform), **context),
    "the same on a loop": lambda platform, **context: ainvoke_flow(http_flow(platform), **context),
    "a model by hand": lambda platform, **context: invoke_block(ask_model(platform), **context),
    "an agent by hand": lambda platform, **context: invoke_block(ask_agent(platform), **context),
}
runs = pytest.mark.parametrize("run", RUNS.values(), ids=RUNS.keys())


@runs
def test_a_stored_result_is_replayed_and_no_request_leaves(run: Callable[..., Any]) -> None:
    platform, ledger = Watched(), MemoryLedger()
    first = run(platform, ledger=ledger)
    assert run(platform, ledger=ledger.next_activation()) == first == {"text": "text 1"}
    assert len(platform.seen) == 1


@runs
def test_a_call_that_was_cut_off_is_made_again_under_its_key(run: Callable[..., Any]) -> None:
    platform = Watched(PlatformUnreachable("no answer in time", node="x"))
    ledger = MemoryLedger()
    with pytest.raises(PlatformUnreachable):
        run(platform, ledger=ledger)
    run(platform, ledger=ledger.next_activation())
    first, again = platform.seen
    assert first == again
    assert first.idempotency_key == again.idempotency_key != ""


@runs
def test_a_host_with_a_ledger_sends_what_one_without_sends(run: Callable[..., Any]) -> None:
    plain, kept = Watched(), Watched()
    run(plain)
    run(kept, ledger=MemoryLedger(), allow=lambda _effect: Verdict.allow())
    assert plain.seen == kept.seen
    assert [call.headers for call in plain.seen] == [call.headers for call in kept.seen]


@runs
def test_no_request_leaves_where_the_policy_refuses(run: Callable[..., Any]) -> None:
    platform = Watched()
    with pytest.raises(EffectRefused, match="not on Sundays"):
        run(platform, allow=lambda _effect: Verdict.refuse("not on Sundays"))
    assert platform.seen == []


@runs
def test_neither_the_ledger_nor_a_watcher_sees_a_secret(run: Callable[..., Any]) -> None:
    platform, ledger = Watched(PlatformUnreachable(f"{TOKEN} {LENT}", node="x")), MemoryLedger()
    news: list[EffectNews] = []
    with pytest.raises(PlatformUnreachable):
        run(platform, ledger=ledger, on_effect=news.append)
    run(platform, ledger=ledger, on_effect=news.append)
    seen = repr([(one, one.effect.arguments) for one in news]) + repr(list(ledger.rows.values()))
    assert [one.stage for one in news] == ["begun", "failed", "begun", "done"]
    # A block by hand is given no placeholders, so only a flow knows their values.
    assert TOKEN not in seen
    assert LENT not in repr(news[-1].effect.arguments)


def test_arguments_name_placeholders_in_place_of_their_values() -> None:
    news: list[EffectNews] = []
    invoke_flow(http_flow(Watched()), on_effect=news.append)
    effect = news[0].effect
    assert effect.capability == "POST {{CINATRA_BASE_URL}}/api/write"
    assert effect.arguments == {
        "method": "POST", "url": "{{CINATRA_BASE_URL}}/api/write?z={{CRM_KEY}}",
        "headers": {"X-Crm": "a {{CRM_KEY}}"}, "query": {"k": "{{CRM_KEY}}"},
        "body": {"topic": "t", "key": "{{CRM_KEY}}"},
    }  # fmt: skip
    assert (effect.kind, effect.path, effect.visit, effect.risk) == (
        "http",
        "write",
        1,
        "read_only",
    )


def test_a_request_that_became_another_is_neither_sent_nor_answered() -> None:
    platform, ledger = Watched(), MemoryLedger()
    invoke_flow(http_flow(platform), ledger=ledger)
    with pytest.raises(EffectDiffers):
        invoke_flow(http_flow(platform, topic="another"), ledger=ledger)
    assert len(platform.seen) == 1


class Gone(BaseException):
    """The process goes away."""


def at_most_once(platform: Any, **context: Any) -> Any:
    return invoke_flow(http_flow(platform, effect="at_most_once"), **context)


def block_at_most_once(platform: Any, **context: Any) -> Any:
    return invoke_block(ask_model(platform, at_most_once=True), **context)


once = pytest.mark.parametrize("run", [at_most_once, block_at_most_once])


@once
def test_what_may_act_at_most_once_is_not_called_again(run: Callable[..., Any]) -> None:
    platform, ledger = Watched(PlatformUnreachable("late", node="x")), MemoryLedger()
    for _ in range(3):
        with pytest.raises(EffectUnknown, match="unknown whether"):
            run(platform, ledger=ledger)
        ledger = ledger.next_activation()
    assert len(platform.seen) == 1
    assert platform.seen[0].once


@once
def test_a_person_settles_it(run: Callable[..., Any]) -> None:
    platform, ledger = Watched(PlatformUnreachable("late", node="x")), MemoryLedger()
    with pytest.raises(EffectUnknown):
        run(platform, ledger=ledger)
    ledger.settle(platform.seen[0].idempotency_key, None)
    assert run(platform, ledger=ledger) == {"text": "text 2"}


@once
def test_the_process_that_began_a_run_keeps_a_ledger_where_its_host_gives_none(
    run: Callable[..., Any],
) -> None:
    platform = Watched()
    run(platform)
    assert len(platform.seen) == 1


@once
def test_it_is_refused_where_nobody_keeps_a_ledger(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "find_ledger", lambda: "no ledger would know of it")
    platform = Watched()
    with pytest.raises(EffectRefused, match="ledger="):
        run(platform)
    assert platform.seen == []


# ---------------------------------------------------------------------------- tools


FLOWS = pytest.mark.parametrize("invoke", [invoke_flow, ainvoke_flow])


@FLOWS
def test_a_tool_finds_the_key_of_its_effect(invoke: Any) -> None:
    keys: list[str] = []

    def send(n: int) -> str:
        keys.append(current_key())
        return "sent"

    ledger = MemoryLedger()
    invoke(tool_flow(send), ledger=ledger)
    invoke(tool_flow(send))
    assert keys[0] == keys[1] == next(iter(ledger.rows))
    assert len(keys[0]) == 64


def test_the_key_of_a_tool_is_made_as_that_of_a_call() -> None:
    keys: list[str] = []
    invoke_flow(tool_flow(lambda n: keys.append(current_key()) or "x"))
    platform = Watched()
    invoke_flow(http_flow(platform))
    made = {one: hashlib.sha256(f"\nr1\n\n{one}".encode()).hexdigest() for one in ("send", "write")}
    assert (keys[0], platform.seen[0].idempotency_key) == (made["send"], made["write"])


@FLOWS
def test_the_result_of_a_tool_is_replayed(invoke: Any) -> None:
    calls: list[int] = []

    def send(n: int) -> str:
        calls.append(n)
        return f"sent {len(calls)} {TOKEN} {LENT}"

    ledger = MemoryLedger()
    first = invoke(tool_flow(send), ledger=ledger)
    assert invoke(tool_flow(send), ledger=ledger.next_activation()) == first
    assert calls == [1]
    kept = repr(list(ledger.rows.values()))
    assert TOKEN not in kept
    assert LENT not in kept


@FLOWS
def test_no_tool_is_called_where_the_policy_refuses(invoke: Any) -> None:
    calls: list[int] = []
    with pytest.raises(EffectRefused, match="too dear"):
        invoke(
            tool_flow(lambda n: calls.append(n) or "x"),
            allow=lambda effect: Verdict.refuse(f"{effect.capability} is too dear"),
        )
    assert calls == []


@FLOWS
@pytest.mark.parametrize(
    ("error", "kind"), [(TimeoutError("late"), "transient"), (LookupError("no"), "permanent")]
)
def test_the_class_of_a_failed_tool_is_that_of_its_own_error(
    invoke: Any, error: Exception, kind: str
) -> None:
    news: list[EffectNews] = []

    def send(n: int) -> str:
        raise error

    with pytest.raises(NodeFailed, match=f"tool 'send' raised {type(error).__name__}") as caught:
        invoke(tool_flow(send), ledger=MemoryLedger(), on_effect=news.append)
    assert caught.value.__cause__ is None
    assert news[-1].failure is not None
    assert news[-1].failure.kind == kind


def test_a_tool_at_most_once_is_not_called_again() -> None:
    calls: list[int] = []

    def send(n: int) -> str:
        calls.append(n)
        raise LookupError("half way through")

    ledger = MemoryLedger()
    for _ in range(2):
        with pytest.raises(EffectUnknown, match="unknown whether"):
            invoke_flow(tool_flow(send, effect="at_most_once"), ledger=ledger)
    assert calls == [1]


# ---------------------------------------------------------------------------- the store


def test_a_run_of_the_store_asks_the_policy_of_its_host(fresh_database: str) -> None:
    platform = Watched()
    flow = http_flow(platform)
    with RunStore.open(fresh_database) as store:
        refusing = host_context(run_id="r1", allow=lambda _effect: Verdict.refuse("not today"))
        run = store.start(flow, run_id="r1", context=refusing)
        assert (run.status, (run.error or {})["code"]) == ("failed", "policy_refused")
        assert platform.seen == []
        assert store.resume("r1").status == "completed"
