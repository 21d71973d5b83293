"""Branches without a gate: many at a time, each done once, whatever stops or pauses another one."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextvars import ContextVar
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from cinatra_sdk import Decision, RunStore, host_context
from cinatra_sdk.activations import stop_of
from cinatra_sdk.errors import EffectRefused
from cinatra_sdk.flow.branches import journal
from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
from cinatra_sdk.testing import adrive, drive
from oas_compiler import Flow, compile_flow
from tests.flow.containers import around, mapped, texts
from tests.flows import end, flow_of, node, port, start, tool

Json = dict[str, Any]
TEXTS: Json = {"type": "array", "items": {"type": "string"}}
WAIT = 60
"""Seconds after which a test that waits for something gives it up."""


def item_with(name: str) -> Json:
    return flow_of(
        start(port("x")), tool("call", name, [port("x")], [port("y")]), end(port("y")),
        id_="item", edges=[("start", "x", "call", "x"), ("call", "y", "end", "y")],
    )  # fmt: skip


def mapping(work: Any, *, items: int, kind: str = "ParallelMapNode", **options: Any) -> Flow:
    """Calls `work` with the texts "0", "1", …"""
    made = around(mapped(item_with("work"), kind=kind), items=items)
    return compile_flow(made, tools={"work": work}, **options)


def invoke(flow: Flow, graph: Any, given: Any, *, loops: bool, **options: Any) -> Any:
    config = {**flow.config(run_id="r"), **options.pop("config", {})}
    context = flow.context(run_id="r")
    if loops:
        return asyncio.run(graph.ainvoke(given, config, context=context, **options))
    return graph.invoke(given, config, context=context, **options)


both = pytest.mark.parametrize("loops", [False, True], ids=["threads", "event loop"])
kinds = pytest.mark.parametrize("kind", ["MapNode", "ParallelMapNode"])
RUNS = [drive, lambda *a, **k: asyncio.run(adrive(*a, **k))]
durabilities = pytest.mark.parametrize("durability", ["sync", "async", "exit"])
runs = pytest.mark.parametrize("run", RUNS, ids=["threads", "event loop"])


# ------------------------------------------------------------------ many


@both
@pytest.mark.parametrize("keeps", [False, True], ids=["no checkpoints", "checkpoints"])
def test_nested_maps_of_more_elements_than_there_are_threads_end(
    *, loops: bool, keeps: bool
) -> None:
    # With a task of the engine for each branch, every thread waits for branches that have none.
    inner = mapped(item_with("work"), id_="inner")
    side = flow_of(
        start(texts("ks")), inner, end(texts("ys")), id_="side",
        edges=[("start", "ks", "inner", "iterated_x"), ("inner", "collected_y", "end", "ys")],
    )  # fmt: skip
    lists = {"type": "array", "items": TEXTS}
    outer = node(
        "ParallelMapNode", "outer", subflow=side,
        inputs=[{"title": "iterated_ks", **lists}], outputs=[{"title": "collected_ys", **lists}],
    )  # fmt: skip
    given = [["a", "b", "c"]] * 50
    flow = compile_flow(
        flow_of(
            start({"title": "kss", "default": given, **lists}), outer, end({"title": "yss", **lists}),
            edges=[("start", "kss", "outer", "iterated_ks"), ("outer", "collected_ys", "end", "yss")],
        ),
        tools={"work": lambda x: x.upper()},
    )  # fmt: skip
    graph = flow.graph(InMemorySaver() if keeps else None)
    state = invoke(flow, graph, flow.input({}), loops=loops)
    assert state["outputs"] == {"yss": [["A", "B", "C"]] * 50}


@both
def test_the_hosts_bound_holds(*, loops: bool) -> None:
    running, most, lock = [0], [0], threading.Lock()
    met = threading.Barrier(2)

    def work(x: str) -> str:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        met.wait(WAIT)  # the control: two of them run at a time
        with lock:
            running[0] -= 1
        return x

    flow = mapping(work, items=8)
    state = invoke(flow, flow.graph(), flow.input({}), loops=loops, config={"max_concurrency": 2})
    assert state["outputs"] == {"ys": [str(number) for number in range(8)]}
    assert most[0] == 2


# ------------------------------------------------------------------ once


class WatchedSaver(InMemorySaver):
    """Sets `kept` once the result of the element "0" is stored; from then on it loses every write."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = threading.Event()

    def put(self, *args: Any, **kwargs: Any) -> Any:
        if self.kept.is_set():
            return args[0]
        return super().put(*args, **kwargs)

    def put_writes(self, config: Any, writes: Any, *args: Any, **kwargs: Any) -> None:
        if self.kept.is_set():
            return
        super().put_writes(config, writes, *args, **kwargs)
        if any("each[0]" in str(value) for _, value in writes):
            self.kept.set()


@both
def test_an_element_that_has_ended_is_kept_while_another_one_still_runs(*, loops: bool) -> None:
    calls: Counter[str] = Counter()
    saver = WatchedSaver()

    def work(x: str) -> str:
        calls[x] += 1
        if x == "1":
            assert saver.kept.wait(WAIT), "the control: the first element is stored"
        return f"done {x}"

    flow = mapping(work, items=2)
    invoke(flow, flow.graph(saver), flow.input({}), loops=loops, durability="sync")
    # Nothing after that was stored: as if the process had died there.
    after = InMemorySaver()
    after.storage, after.writes, after.blobs = saver.storage, saver.writes, saver.blobs
    state = invoke(flow, flow.graph(after), None, loops=loops, durability="sync")
    assert state["outputs"] == {"ys": ["done 0", "done 1"]}
    assert calls == {"0": 1, "1": 2}


@both
@kinds
@durabilities
def test_what_had_ended_before_a_failure_is_not_done_again(
    kind: str, durability: str, *, loops: bool
) -> None:
    calls: Counter[str] = Counter()
    broken = ["2"]

    def work(x: str) -> str:
        calls[x] += 1
        if x in broken:
            raise RuntimeError("not this one")
        return f"done {x}"

    flow, saver = mapping(work, items=4, kind=kind), InMemorySaver()
    for given in (flow.input({}), None):  # also what the second try found is kept for the third
        with pytest.raises(Exception, match=r"item 2 .*not this one"):
            invoke(flow, flow.graph(saver), given, loops=loops, durability=durability)
    broken.clear()
    state = invoke(flow, flow.graph(saver), None, loops=loops, durability=durability)
    assert state["outputs"] == {"ys": [f"done {number}" for number in range(4)]}
    assert calls == {"0": 1, "1": 1, "2": 3, "3": 1}


@runs
@kinds
def test_code_that_pauses_gets_its_own_answer_and_no_other_element_is_done_again(
    kind: str, run: Any
) -> None:
    calls: Counter[str] = Counter()

    def work(x: str) -> str:
        calls[x] += 1
        return f"{interrupt(x)} for {x}" if x in "13" else f"done {x}"

    def answer(gate: Any) -> Any:
        return Decision.approve(by="ann", value=f"word {gate.values['request']}")

    result = run(mapping(work, items=5, kind=kind), answers=answer)
    assert result.outputs == {"ys": ["done 0", "word 1 for 1", "done 2", "word 3 for 3", "done 4"]}
    assert [one.id for one in result.gates] == ["each[1]/call", "each[3]/call"]
    assert [calls[x] for x in "024"] == [1, 1, 1]


@both
@pytest.mark.parametrize("order", [(1, 3), (3, 1)])
def test_pauses_are_answered_one_by_one_in_any_order(
    order: tuple[int, int], *, loops: bool
) -> None:
    def work(x: str) -> str:
        return f"{interrupt(x)} for {x}" if x in "13" else f"done {x}"

    flow, saver = mapping(work, items=5), InMemorySaver()
    invoke(flow, flow.graph(saver), flow.input({}), loops=loops, durability="sync")
    for number in order:
        graph = flow.graph(saver)
        (gate,) = (
            one
            for one in stop_of(graph.get_state(flow.config(run_id="r"))).gates
            if one.id == f"each[{number}]/call"
        )
        wire = gate.make_resume({"approved": True, "value": f"word {number}"})
        state = invoke(
            flow, graph, Command(resume={gate.interrupt: wire}), loops=loops, durability="sync"
        )
    assert state["outputs"] == {
        "ys": ["done 0", "word 1 for 1", "done 2", "word 3 for 3", "done 4"]
    }


@both
def test_a_rejected_pause_ends_the_run(*, loops: bool) -> None:
    def work(x: str) -> str:
        return str(interrupt(x)) if x == "1" else x

    run = RUNS[loops]
    result = run(mapping(work, items=3), answers=[Decision.reject(by="ann")])
    assert result.status == "rejected"
    assert [one["approved"] for one in result.decisions] == [False]


def test_a_stored_run_waits_at_a_pause_inside_and_goes_on(fresh_database: str) -> None:
    calls: Counter[str] = Counter()

    def work(x: str) -> str:
        calls[x] += 1
        return f"{interrupt(x)} for {x}" if x == "1" else f"done {x}"

    flow = mapping(work, items=3)
    with RunStore.open(fresh_database) as store:
        run = store.start(flow, {}, run_id="r1")
        assert [one.id for one in run.waiting] == ["each[1]/call"]
        run = store.answer("r1", "each[1]/call", Decision.approve(by="ann", value="yes"), flow=flow)
        assert run.result() == {"ys": ["done 0", "yes for 1", "done 2"]}
    assert (calls["0"], calls["2"]) == (1, 1)


def asking(sent: Counter[str]) -> Flow:
    """Sends each text, and then asks a person about the text "1"."""
    item = flow_of(
        start(port("x")), tool("send", "send", [port("x")], [port("s")]),
        tool("ask", "ask", [port("s")], [port("y")]), end(port("y")), id_="item",
        edges=[("start", "x", "send", "x"), ("send", "s", "ask", "s"), ("ask", "y", "end", "y")],
    )  # fmt: skip

    def send(x: str) -> str:
        sent[x] += 1
        return x

    def ask(s: str) -> str:
        return str(interrupt(s)) if s == "1" else s

    return compile_flow(around(mapped(item), items=3), tools={"send": send, "ask": ask})


@both
@pytest.mark.parametrize("keeps", [False, True], ids=["no checkpoints", "checkpoints"])
def test_an_effect_before_a_pause_is_made_once_until_somebody_answers(
    *, loops: bool, keeps: bool
) -> None:
    sent: Counter[str] = Counter()
    flow, saver = asking(sent), InMemorySaver() if keeps else None
    state = invoke(flow, flow.graph(saver), flow.input({}), loops=loops)
    assert [one.value["values"] for one in state["__interrupt__"]] == [{"request": "1"}]
    assert sent == {"0": 1, "1": 1, "2": 1}


@both
def test_an_effect_before_a_pause_is_made_again_after_the_answer_and_not_with_a_ledger(
    *, loops: bool
) -> None:
    for ledger, times in ((None, 2), (MemoryLedger(), 1)):
        sent: Counter[str] = Counter()
        flow, saver = asking(sent), InMemorySaver()
        config, graph = flow.config(run_id="r"), flow.graph(saver)
        context = host_context(run_id="r", ledger=ledger)
        graph.invoke(flow.input({}), config, context=context)
        (gate,) = stop_of(graph.get_state(config)).gates
        wire = gate.make_resume({"approved": True, "value": "yes"})
        resume = Command(resume={gate.interrupt: wire})
        if loops:
            state = asyncio.run(graph.ainvoke(resume, config, context=context))
        else:
            state = graph.invoke(resume, config, context=context)
        assert state["outputs"] == {"ys": ["0", "yes", "2"]}
        assert sent == {"0": 1, "1": times, "2": 1}


@both
def test_an_effect_that_is_at_most_once_is_made_in_a_branch_of_a_run_of_this_process_only(
    *, loops: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = item_with("work")
    item["$referenced_components"]["call"]["metadata"] = {"cinatra": {"effect": "at_most_once"}}
    flow = compile_flow(around(mapped(item), items=2), tools={"work": lambda x: x})
    state = invoke(flow, flow.graph(), flow.input({}), loops=loops)
    assert state["outputs"] == {"ys": ["0", "1"]}
    monkeypatch.setattr(
        "cinatra_sdk.langgraph_threads.host_context.name_run", lambda: "another-process.1"
    )
    with pytest.raises(EffectRefused, match="process that began the run is gone"):
        invoke(flow, flow.graph(), flow.input({}), loops=loops)


# ------------------------------------------------------------------ maps in maps


def nested(work: Any, *, kind: str = "MapNode", **more: Any) -> Flow:
    """Calls `work` with "0a", "0b", "0c" and "1a", "1b", "1c", in two branches of an outer node."""
    inner = mapped(item_with("work"), kind=kind, id_="inner")
    item = flow_of(
        start(port("x")), tool("split", "split", [port("x")], [texts("xs")]), inner,
        tool("join", "join", [texts("ys")], [port("y")]), end(port("y")), id_="outer_item",
        edges=[("start", "x", "split", "x"), ("split", "xs", "inner", "iterated_x"),
               ("inner", "collected_y", "join", "ys"), ("join", "y", "end", "y")],
    )  # fmt: skip

    def split(x: str) -> list[str]:
        return [f"{x}{letter}" for letter in "abc"]

    def join(ys: list[str]) -> str:
        return ",".join(ys)

    tools = {"split": split, "join": join, "work": work, **more}
    return compile_flow(around(mapped(item), items=2), tools=tools)


@runs
@kinds
def test_no_element_of_an_inner_map_that_has_ended_is_done_again_after_a_pause_of_another_one(
    kind: str, run: Any
) -> None:
    calls: Counter[str] = Counter()

    def work(x: str) -> str:
        calls[x] += 1
        return f"{interrupt(x)} for {x}" if x == "0b" else f"done {x}"

    result = run(nested(work, kind=kind), answers=[Decision.approve(by="ann", value="yes")])
    assert result.outputs == {"ys": ["done 0a,yes for 0b,done 0c", "done 1a,done 1b,done 1c"]}
    assert [calls[x] for x in ("0a", "0c", "1a", "1b", "1c")] == [1] * 5
    assert calls["0b"] == 3  # without a task, as a task that can ask, and after the answer


@runs
def test_no_element_of_an_inner_map_is_done_again_after_a_pause_beside_the_map(run: Any) -> None:
    calls: Counter[str] = Counter()

    def work(x: str) -> str:
        calls[x] += 1
        return x

    def join(ys: list[str]) -> str:
        return str(interrupt(ys)) if ys[0] == "1a" else ys[0]

    result = run(nested(work, join=join), answers=[Decision.approve(by="ann", value="yes")])
    assert result.outputs == {"ys": ["0a", "yes"]}
    assert set(calls.values()) == {1}


@both
def test_a_failure_in_an_inner_map_is_told_at_once_though_another_element_pauses(
    *, loops: bool
) -> None:
    calls: Counter[str] = Counter()

    def work(x: str) -> str:
        calls[x] += 1
        if x == "0a":
            raise RuntimeError("not this one")
        return str(interrupt(x)) if x == "0b" else x

    flow = nested(work, kind="ParallelMapNode")
    with pytest.raises(Exception, match="not this one"):
        invoke(flow, flow.graph(InMemorySaver()), flow.input({}), loops=loops)
    assert (calls["0a"], calls["0b"]) == (1, 1)


@both
def test_a_graph_of_the_same_flow_that_a_tool_runs_knows_nothing_of_the_run_around_it(
    *, loops: bool
) -> None:
    # Its branches have the places of those around, and other results.
    depth: ContextVar[int] = ContextVar("depth", default=0)

    def work(x: str) -> str:
        if depth.get():
            return f"inner {x}"
        if x == "0":
            return "outer 0"
        token = depth.set(1)
        try:
            config, context = flow.config(run_id="other"), flow.context(run_id="other")
            graph = flow.graph(InMemorySaver())
            told = graph.invoke(flow.input({}), config, context=context)["outputs"]["ys"]
        finally:
            depth.reset(token)
        return f"{interrupt(x)} {' '.join(told)}"

    flow = mapping(work, items=2)
    result = RUNS[loops](flow, answers=[Decision.approve(by="ann", value="yes")])
    assert result.outputs == {"ys": ["outer 0", "yes inner 0 inner 1"]}


# ------------------------------------------------------------------ what the code of a branch sees


class Sum(TypedDict):
    told: str


@both
def test_graphs_that_tools_run_are_not_mixed_up(*, loops: bool) -> None:
    inner: Any = StateGraph(Sum)
    inner.add_node("again", lambda state: {"told": state["told"] * 2})
    inner.add_edge(START, "again")
    inner.add_edge("again", END)
    graph = inner.compile()
    places = []

    def work(x: str) -> str:
        first = graph.invoke({"told": x})["told"]
        places.append(get_config()["configurable"]["checkpoint_ns"])
        return str(graph.invoke({"told": first})["told"])

    flow = mapping(work, items=40)
    state = invoke(flow, flow.graph(InMemorySaver()), flow.input({}), loops=loops)
    assert state["outputs"] == {"ys": [str(number) * 4 for number in range(40)]}
    assert len(set(places)) == 40


@both
def test_a_tool_sees_the_runs_config_and_the_name_of_its_branch(*, loops: bool) -> None:
    def work(x: str) -> str:
        config = get_config()
        return f"{config['configurable']['thread_id']} {config['metadata']['langgraph_node']}"

    flow = mapping(work, items=2)
    thread = flow.config(run_id="r")["configurable"]["thread_id"]
    state = invoke(flow, flow.graph(InMemorySaver()), flow.input({}), loops=loops)
    assert state["outputs"] == {"ys": [f"{thread} each[0]", f"{thread} each[1]"]}


WORD: ContextVar[str] = ContextVar("word", default="none")


@both
@kinds
def test_a_context_variable_of_the_host_is_seen_and_one_of_an_element_stays_in_it(
    kind: str, *, loops: bool
) -> None:
    def work(x: str) -> str:
        found = WORD.get()
        WORD.set(x)
        return found

    token = WORD.set("host")
    try:
        flow = mapping(work, items=20, kind=kind)
        state = invoke(flow, flow.graph(), flow.input({}), loops=loops)
    finally:
        WORD.reset(token)
    assert state["outputs"] == {"ys": ["host"] * 20}


@both
def test_tokens_of_a_model_in_a_branch_are_streamed_under_its_name(*, loops: bool) -> None:
    def work(x: str) -> str:
        return str(FakeListChatModel(responses=[f"word {x}"]).invoke("go on").content)

    flow = mapping(work, items=2)
    given: Json = {
        "config": flow.config(run_id="r"), "context": flow.context(run_id="r"), "stream_mode": "messages",
    }  # fmt: skip

    async def collect() -> list[Any]:
        return [one async for one in flow.graph().astream(flow.input({}), **given)]

    told = asyncio.run(collect()) if loops else list(flow.graph().stream(flow.input({}), **given))
    said: dict[str, str] = {}
    for chunk, about in told:
        said[about["langgraph_node"]] = said.get(about["langgraph_node"], "") + chunk.content
    assert said == {"each[0]": "word 0", "each[1]": "word 1"}


# ------------------------------------------------------------------ stops


def test_no_element_begins_after_the_process_was_told_to_stop() -> None:
    begun = []

    def work(x: str) -> str:
        begun.append(x)
        if x == "3":
            raise KeyboardInterrupt
        return x

    flow = mapping(work, items=50, max_parallel=1)
    with pytest.raises(KeyboardInterrupt):
        flow.graph().invoke(
            flow.input({}), flow.config(run_id="r"), context=flow.context(run_id="r")
        )
    assert begun == ["0", "1", "2", "3"]


def test_a_run_that_is_cancelled_begins_no_further_element() -> None:
    begun: list[str] = []

    async def run() -> None:
        cancelled = asyncio.Event()
        two = asyncio.Event()

        async def work(x: str) -> str:
            begun.append(x)
            if len(begun) == 2:
                two.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()
            return x

        flow = mapping(work, items=10, max_parallel=2)
        config, context = flow.config(run_id="r"), flow.context(run_id="r")
        graph = flow.graph(InMemorySaver())
        running = asyncio.create_task(graph.ainvoke(flow.input({}), config, context=context))
        await asyncio.wait_for(two.wait(), WAIT)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert cancelled.is_set()

    asyncio.run(run())
    assert begun == ["0", "1"]


@durabilities
def test_what_had_ended_before_the_process_was_told_to_stop_is_not_done_again(
    durability: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_PAUSE", WAIT)  # nothing is kept before the end
    calls: Counter[str] = Counter()
    stops = ["3"]

    def work(x: str) -> str:
        calls[x] += 1
        if x in stops:
            raise KeyboardInterrupt
        return f"done {x}"

    flow, saver = mapping(work, items=5, kind="MapNode"), InMemorySaver()
    with pytest.raises(KeyboardInterrupt):
        invoke(flow, flow.graph(saver), flow.input({}), loops=False, durability=durability)
    stops.clear()
    state = invoke(flow, flow.graph(saver), None, loops=False, durability=durability)
    assert state["outputs"] == {"ys": [f"done {number}" for number in range(5)]}
    assert calls == {"0": 1, "1": 1, "2": 1, "3": 2, "4": 1}


@durabilities
def test_what_had_ended_before_a_run_was_cancelled_is_not_done_again(
    durability: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(journal, "_PAUSE", WAIT)
    calls: Counter[str] = Counter()

    async def run() -> Any:
        reached, waits = asyncio.Event(), True

        async def work(x: str) -> str:
            calls[x] += 1
            if x == "3" and waits:
                reached.set()
                await asyncio.Event().wait()
            return f"done {x}"

        flow, saver = mapping(work, items=5, kind="MapNode"), InMemorySaver()
        config: Any = flow.config(run_id="r")
        options: Json = {"context": flow.context(run_id="r"), "durability": durability}
        running = asyncio.create_task(flow.graph(saver).ainvoke(flow.input({}), config, **options))
        await asyncio.wait_for(reached.wait(), WAIT)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        waits = False
        return await flow.graph(saver).ainvoke(None, config, **options)

    state = asyncio.run(run())
    assert state["outputs"] == {"ys": [f"done {number}" for number in range(5)]}
    assert calls == {"0": 1, "1": 1, "2": 1, "3": 2, "4": 1}
