"""Nodes that run flows beside each other: gates in any order, deaths, rejections, results in order.

The six experiments on which the design rests, each against the ways in which it could go wrong.
"""

from __future__ import annotations

import asyncio
import contextvars
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphInterrupt
from langgraph.types import Command

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.activations import stop_of
from cinatra_sdk.errors import RunEnded
from cinatra_sdk.flow.branches import container
from cinatra_sdk.flow.branches.branches import Branch, BranchOutcome
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.outside.http_calls.protocol import PlatformCall
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.testing import adrive, drive
from oas_compiler import Flow, compile_flow
from tests.effort import tries
from tests.flow.containers import around, checked_item, mapped, nested, parallel, texts
from tests.flows import api, end, flow_node, flow_of, gate, node, port, start

Json = dict[str, Any]
ORDERS, LOOPS = tries(6, 40), tries(5, 30)
"""Orders of answers that are tried; on an event loop."""


class Echo(SimulatedPlatform):
    """Answers `draft` with "draft of x", and `send` with "sent (what it was given)"."""

    def call(self, call: PlatformCall) -> Any:
        super().call(call)
        assert isinstance(call.body, dict)
        if call.node == "draft":
            return {"d": f"draft of {call.body['x']}"}
        return {"sent": f"sent ({call.body['d']})"}

    async def acall(self, call: PlatformCall) -> Any:
        await asyncio.sleep(random.random() / 500)
        return self.call(call)


def expected(items: int) -> list[str]:
    return [f"sent (draft of {number})" for number in range(items)]


def answer_in_any_order(
    flow: Flow, chance: random.Random, *, make_saver: Any = InMemorySaver
) -> Any:
    """The outputs, each answer given alone, to a gate that is chosen at random, by a graph made anew."""
    saver = make_saver()
    config, context = flow.config(run_id="r"), flow.context(run_id="r")
    flow.graph(saver).invoke(flow.input({}), config, context=context, durability="sync")
    for _ in range(100):
        graph = flow.graph(saver)
        stop = stop_of(graph.get_state(config))
        if not stop.gates:
            return stop.outputs
        chosen = chance.choice(stop.gates)
        resume = {chosen.interrupt: {"approved": True}}
        graph.invoke(Command(resume=resume), config, context=context, durability="sync")
    raise AssertionError("the run does not end")


def seeds(count: int) -> list[int]:
    first = random.SystemRandom().randrange(10**9)
    print(f"seed {first}")
    return [first + number for number in range(count)]


# ------------------------------------------------------------------ orders of answers


def count_right(flow: Flow, count: int, wanted: Any) -> int:
    platform_of = flow.with_platform
    return sum(
        answer_in_any_order(platform_of(Echo()), random.Random(seed)) == wanted
        for seed in seeds(count)
    )


def test_gates_of_parallel_branches_are_answered_in_any_order() -> None:
    flow = compile_flow(around(mapped(checked_item(gates=2)), items=4))
    assert count_right(flow, ORDERS, {"ys": expected(4)}) == ORDERS


def test_gates_of_nested_branches_are_answered_in_any_order() -> None:
    flow = compile_flow(nested(gates=2))
    assert count_right(flow, 12, {"ys": expected(2)}) == 12


def run_in_threads(
    branches: Sequence[Branch], *, at_once: int | None = None, ends_all: Any = None
) -> list[BranchOutcome]:
    """What does not work: threads of our own around the inner graphs."""
    contexts = [contextvars.copy_context() for _ in branches]

    def run(place: int) -> BranchOutcome:
        try:
            return BranchOutcome(result=contexts[place].run(branches[place].run))
        except GraphInterrupt as pause:
            return BranchOutcome(interrupts=tuple(pause.args[0]))

    chance = list(range(len(branches)))
    random.shuffle(chance)
    with ThreadPoolExecutor(at_once or 8) as pool:
        done = {place: pool.submit(run, place) for place in chance}
        return [done[place].result() for place in range(len(branches))]


def test_the_control_with_threads_of_our_own_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "run_branches", run_in_threads)
    flow = compile_flow(around(mapped(checked_item(gates=2)), items=4))
    right = 0
    for seed in seeds(10):
        try:
            right += answer_in_any_order(flow.with_platform(Echo()), random.Random(seed)) == {
                "ys": expected(4)
            }
        except Exception:
            continue
    assert right < 10


@pytest.mark.parametrize("concurrency", [None, 2])
def test_an_event_loop_answers_in_any_order(concurrency: int | None) -> None:
    flow = compile_flow(around(mapped(checked_item(gates=2)), items=4), max_parallel=concurrency)

    async def answer_all(seed: int) -> Any:
        chance, made = random.Random(seed), flow.with_platform(Echo())
        saver, context = InMemorySaver(), made.context(run_id="r")
        config: Any = made.config(run_id="r")
        await made.graph(saver).ainvoke(made.input({}), config, context=context, durability="sync")
        for _ in range(100):
            graph = made.graph(saver)
            stop = stop_of(await graph.aget_state(config))
            if not stop.gates:
                return stop.outputs
            chosen = chance.choice(stop.gates)
            command: Any = Command(resume={chosen.interrupt: {"approved": True}})
            await graph.ainvoke(command, config, context=context, durability="sync")
        raise AssertionError("the run does not end")

    async def answer_runs() -> list[Any]:
        return [await answer_all(seed) for seed in seeds(LOOPS)]

    assert asyncio.run(answer_runs()) == [{"ys": expected(4)}] * LOOPS


def test_several_answers_at_once_reach_their_own_branches() -> None:
    flow = compile_flow(around(mapped(checked_item(gates=1)), items=5)).with_platform(Echo())
    result = drive(flow, answers=lambda _gate: True, platform=flow.platform)
    assert result.outputs == {"ys": expected(5)}
    assert [one.id for one in result.gates] == [f"each[{number}]/ask0" for number in range(5)]
    assert len({call.idempotency_key for call in result.calls}) == 10


# ------------------------------------------------------------------ deaths


class Death(BaseException):
    pass


class DyingSaver(InMemorySaver):
    """Dies instead of its n-th write, once; what other threads write then is lost, too."""

    def __init__(self) -> None:
        super().__init__()
        self.left = 0
        self.dead = False

    def _count(self) -> None:
        if self.dead:
            raise Death
        self.left -= 1
        if self.left == 0:
            self.dead = True
            raise Death

    def put(self, *args: Any, **kwargs: Any) -> Any:
        self._count()
        return super().put(*args, **kwargs)

    def put_writes(self, *args: Any, **kwargs: Any) -> None:
        self._count()
        super().put_writes(*args, **kwargs)


def die_at(flow: Flow, point: int) -> tuple[bool, Any, Echo]:
    """(whether it died, the outputs, the platform with its calls)."""
    platform = Echo()
    flow = flow.with_platform(platform)
    saver = DyingSaver()
    saver.left = point
    config, context = flow.config(run_id="r"), flow.context(run_id="r")
    died = False
    for _ in range(60):
        graph = flow.graph(saver)
        try:
            stop = stop_of(graph.get_state(config))
            snapshot = graph.get_state(config)
            if stop.status == "completed":
                return died, stop.outputs, platform
            given: Any = None if snapshot.next or snapshot.tasks else flow.input({})
            if stop.gates:
                given = Command(resume={stop.gates[-1].interrupt: {"approved": True}})
            graph.invoke(given, config, context=context, durability="sync")
        except Death:
            died, saver.dead = True, False
    raise AssertionError("the run does not end")


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: around(mapped(checked_item()), items=3), id="map"),
        pytest.param(nested, id="nested", marks=pytest.mark.long),
    ],
)
def test_a_death_at_any_write_loses_nothing_and_repeats_no_finished_branch(
    make: Callable[[], Json],
) -> None:
    flow = compile_flow(make())
    points = 0
    for point in range(1, 200):
        died, outputs, platform = die_at(flow, point)
        items = len(outputs["ys"])
        assert outputs == {"ys": expected(items)}, f"death at write {point}"
        keys: dict[str, set[str]] = {}
        for call in platform.calls:
            keys.setdefault(call.idempotency_key, set()).add(repr((call.path, call.body)))
        assert len(keys) == 2 * items, f"death at write {point}"
        assert all(len(bodies) == 1 for bodies in keys.values())
        assert len(platform.calls) <= 2 * items + items, "what had finished is not done again"
        if not died:
            break
        points += 1
    assert points >= 15, "the control: it died"


# ------------------------------------------------------------------ a rejection


def test_a_rejection_in_one_branch_closes_the_others() -> None:
    flow = compile_flow(around(mapped(checked_item()), items=3)).with_platform(Echo())
    saver, context, config = InMemorySaver(), flow.context(run_id="r"), flow.config(run_id="r")
    graph = flow.graph(saver)
    graph.invoke(flow.input({}), config, context=context)
    waiting = stop_of(graph.get_state(config)).gates
    graph.invoke(
        Command(resume={waiting[1].interrupt: {"approved": False}}), config, context=context
    )
    stop = stop_of(graph.get_state(config))
    assert (stop.status, stop.gates) == ("rejected", ())
    late = Command(resume={waiting[0].interrupt: {"approved": True}})
    graph.invoke(late, config, context=context)
    assert stop_of(graph.get_state(config)).status == "rejected"
    assert [call.node for call in flow.platform.calls] == ["draft"] * 3  # type: ignore[attr-defined]


def decide_in_turn(
    flow: Any, saver: Any, answers: list[tuple[str, bool]], *, loops: bool = False
) -> Any:
    """The run after these answers, each given by itself."""
    config, context = flow.config(run_id="r"), flow.context(run_id="r")
    graph = flow.graph(saver)

    def invoke(given: Any) -> None:
        if loops:
            asyncio.run(graph.ainvoke(given, config, context=context))
        else:
            graph.invoke(given, config, context=context)

    invoke(flow.input({}))
    for gate_id, approved in answers:
        gates = {one.id: one for one in stop_of(graph.get_state(config)).gates}
        wire = gates[gate_id].make_resume({"approved": approved, "by": "ann"})
        invoke(Command(resume={gates[gate_id].interrupt: wire}))
    return stop_of(graph.get_state(config))


@pytest.mark.parametrize("loops", [False, True], ids=["threads", "event loop"])
def test_decisions_in_branches_that_a_rejection_cuts_off_are_the_runs(*, loops: bool) -> None:
    flow = compile_flow(around(mapped(checked_item(gates=2)), items=3), platform=Echo())
    answers = [("each[2]/ask0", True), ("each[0]/ask0", True), ("each[1]/ask0", False)]
    stop = decide_in_turn(flow, InMemorySaver(), answers, loops=loops)
    assert stop.status == "rejected"
    decided = [(one["gate"], one["approved"]) for one in stop.decisions]
    # In the order of the branches: 0 and 2 wait at their second gates.
    assert decided == [("each[0]/ask0", True), ("each[1]/ask0", False), ("each[2]/ask0", True)]


@pytest.mark.parametrize("loops", [False, True], ids=["threads", "event loop"])
@pytest.mark.parametrize("around_it", [False, True], ids=["", "in a subflow"])
def test_a_rejection_deep_inside_ends_the_run_at_once(*, loops: bool, around_it: bool) -> None:
    # Flow 1 of branch 0 has ended, flow 0 of it waits again, and branch 1 waits at first gates.
    inner = nested(gates=2)
    flow = compile_flow(_in_a_subflow(inner) if around_it else inner, platform=Echo())
    before = "sub/" if around_it else ""
    answers = [(f"{before}each[0]/both[0]/ask0", True), (f"{before}each[0]/both[1]/ask0", True),
               (f"{before}each[1]/both[0]/ask0", False)]  # fmt: skip
    stop = decide_in_turn(flow, InMemorySaver(), answers, loops=loops)
    assert (stop.status, stop.gates) == ("rejected", ())
    decided = sorted((one["gate"], one["approved"]) for one in stop.decisions)
    assert decided == sorted(answers)


def _in_a_subflow(inner: Json) -> Json:
    given = inner["$referenced_components"]["start"]["inputs"]
    return flow_of(
        start(*given),
        flow_node("sub", {**inner, "id": "inside"}),
        end(),
        edges=[("start", given[0]["title"], "sub", given[0]["title"])],
    )


def test_a_gate_two_nodes_deep_is_named_once() -> None:
    flow, saver = compile_flow(nested(), platform=Echo()), InMemorySaver()
    graph, config = flow.graph(saver), flow.config(run_id="r")
    graph.invoke(flow.input({}), config, context=flow.context(run_id="r"))
    waiting = [gate.id for gate in stop_of(graph.get_state(config)).gates]
    assert len(waiting) == len(set(waiting)) == 4


def test_a_stored_run_is_answered_in_any_order_and_rejected_for_good(fresh_database: str) -> None:
    flow = compile_flow(around(mapped(checked_item()), items=3), platform=Echo())
    with RunStore.open(fresh_database) as store:
        run = store.start(flow, {}, run_id="r1")
        assert [one.id for one in run.waiting] == [f"each[{number}]/ask0" for number in range(3)]
        for number in (2, 0, 1):
            run = store.answer("r1", f"each[{number}]/ask0", Decision.approve(by="ann"), flow=flow)
        assert run.result() == {"ys": expected(3)}
        store.start(flow, {}, run_id="r2")
        run = store.answer("r2", "each[1]/ask0", Decision.reject(by="ann"), flow=flow)
        assert (run.status, run.waiting) == ("rejected", ())
        with pytest.raises(RunEnded):
            store.answer("r2", "each[0]/ask0", Decision.approve(by="bob"), flow=flow)


# ------------------------------------------------------------------ what they compute


NUMBERS: Json = {"type": "array", "items": {"type": "integer"}}


def mapping_numbers(xs: Any, y: Any, reducer: str = "append", kind: str = "MapNode") -> Json:
    """Hands on `x` of each round, reduced, and `y` of each round, in a list."""
    item = flow_of(
        start(port("x", "integer"), port("y", "integer")),
        end(port("z", "integer"), port("w", "integer")),
        id_="item",
        edges=[("start", "x", "end", "z"), ("start", "y", "end", "w")],
    )
    either = [{"type": "integer"}, NUMBERS]
    reduced = NUMBERS if reducer == "append" else {"type": "integer"}
    each = node(
        kind,
        "each",
        subflow=item,
        reducers={"z": reducer, "w": "append"},
        inputs=[{"title": f"iterated_{name}", "anyOf": either} for name in "xy"],
        outputs=[{"title": "collected_z", **reduced}, {"title": "collected_w", **NUMBERS}],
    )
    y_type = NUMBERS if isinstance(y, list) else {"type": "integer"}
    return flow_of(
        start({"title": "xs", "default": xs, **NUMBERS}, {"title": "y", "default": y, **y_type}),
        each,
        end({"title": "zs", **reduced}, {"title": "ws", **NUMBERS}),
        edges=[
            ("start", "xs", "each", "iterated_x"),
            ("start", "y", "each", "iterated_y"),
            ("each", "collected_z", "end", "zs"),
            ("each", "collected_w", "end", "ws"),
        ],
    )


@pytest.mark.parametrize("kind", ["MapNode", "ParallelMapNode"])
@pytest.mark.parametrize(
    ("xs", "y", "reducer", "wanted"),
    [
        ([1, 3, 2], 10, "append", [1, 3, 2]),
        ([1, 3, 2], [10, 20, 30], "append", [1, 3, 2]),
        ([1, 3, 2], 10, "sum", 6),
        ([1, 3, 2], 10, "average", 2),
        ([1, 2, 4], 10, "average", 2),
        ([1, 3, 2], 10, "max", 3),
        ([1, 3, 2], 10, "min", 1),
        ([], 10, "append", []),
        ([], 10, "sum", 0),
        ([], 10, "max", None),
        ([], [], "append", []),
    ],
)
def test_rounds_are_collected_in_order(
    kind: str, xs: Any, y: Any, reducer: str, wanted: Any
) -> None:
    flow = compile_flow(mapping_numbers(xs, y, reducer, kind))
    outputs = {"zs": wanted, "ws": y if isinstance(y, list) else [y] * len(xs)}
    assert drive(flow).outputs == outputs
    assert asyncio.run(adrive(flow)).outputs == outputs


NUMBER: Json = {"type": "number"}


def giving(y: Any = NUMBER) -> Json:
    made = flow_of(
        start({"title": "x", **NUMBER}), end({"title": "y", **y}),
        id_="inside", edges=[("start", "x", "end", "y")],
    )  # fmt: skip
    return {**made, "agentspec_version": "26.1.2"}


@pytest.mark.parametrize(
    ("around_it", "declared", "wanted"),
    [
        (node("FlowNode", "run", subflow=giving()), {"type": "integer"}, 2),
        (node("ParallelFlowNode", "run", subflows=[giving()]), {"type": "string"}, "2.7"),
        (node("AgentNode", "run", agent=giving()), {"type": "integer"}, 2),
        (node("CatchExceptionNode", "run", subflow=giving()), {"type": "integer"}, 2),
        (node("MapNode", "run", subflow=giving()), {"type": "array", "items": {"type": "integer"}}, [2, 1]),
        (node("ParallelMapNode", "run", subflow=giving(), reducers={"y": "sum"}), {"type": "integer"}, 4),
        (node("MapNode", "run", subflow=giving({"type": "integer"}), reducers={"y": "average"}), NUMBER, 1.5),
    ],
)  # fmt: skip
def test_outputs_of_flows_become_what_their_node_declares(
    around_it: Json, declared: Json, wanted: Any
) -> None:
    is_map = "Map" in around_it["component_type"]
    x, given = ("iterated_x", [2.7, 1.5]) if is_map else ("x", 2.7)
    y = "collected_y" if is_map else "y"
    output = {"title": y, **declared}
    own = [output]
    routes = [("start", None, "run"), ("run", None, "end")]
    if around_it["component_type"] == "CatchExceptionNode":
        output = {**output, "default": 0}
        own = [output, {"title": "caught_exception_info", "anyOf": [{"type": "string"}, {"type": "null"}], "default": None}]  # fmt: skip
        routes.append(("run", "caught_exception_branch", "end"))
    taken = {"type": "array", "items": NUMBER} if is_map else NUMBER
    made = flow_of(
        start({"title": "given", **taken}), {**around_it, "outputs": own}, end({"title": "y", **declared}),
        routes=routes, edges=[("start", "given", "run", x), ("run", y, "end", "y")],
    )  # fmt: skip
    flow = compile_flow({**made, "agentspec_version": "26.1.2"})
    assert drive(flow, {"given": given}).outputs == {"y": wanted}
    assert asyncio.run(adrive(flow, {"given": given})).outputs == {"y": wanted}


def test_lists_of_different_lengths_fail_and_name_both() -> None:
    result = drive(compile_flow(mapping_numbers([1, 2], [1, 2, 3])))
    assert result.status == "failed"
    assert "'iterated_x' has 2, 'iterated_y' has 3" in str(result.error)


def test_parallel_flows_give_their_outputs_together() -> None:
    first = flow_of(
        start(port("x")), end(port("a")), id_="first", edges=[("start", "x", "end", "a")]
    )
    second = flow_of(
        start(port("x")), gate("ask", inputs=[port("x")]), end(port("b")),
        id_="second", edges=[("start", "x", "ask", "x"), ("ask", "userResponse", "end", "b")],
    )  # fmt: skip
    flow = compile_flow(
        flow_of(
            start(port("x", default="hi")), parallel(first, second), end(port("a"), port("b")),
            edges=[("start", "x", "both", "x"), ("both", "a", "end", "a"), ("both", "b", "end", "b")],
        )
    )  # fmt: skip
    result = drive(flow, answers=lambda _gate: "fine")
    assert result.outputs == {"a": "hi", "b": "fine"}
    assert [one.id for one in result.gates] == ["both[1]/ask"]


def test_a_round_that_fails_fails_the_run_and_the_others_are_not_done_again() -> None:
    class Choosy(Echo):
        broken = True

        def call(self, call: PlatformCall) -> Any:
            answer = super().call(call)
            if self.broken and answer == {"d": "draft of 1"}:
                raise RuntimeError("not this one")
            return answer

    item = flow_of(
        start(port("x")), api("draft", data={"x": "{{ x }}"}, inputs=[port("x")], outputs=[port("d")]),
        end(port("y")), id_="item", edges=[("start", "x", "draft", "x"), ("draft", "d", "end", "y")],
    )  # fmt: skip
    platform = Choosy()
    flow = compile_flow(around(mapped(item), items=3), platform=platform)
    saver, context, config = InMemorySaver(), flow.context(run_id="r"), flow.config(run_id="r")
    with pytest.raises(Exception, match="not this one"):
        flow.graph(saver).invoke(flow.input({}), config, context=context)
    platform.broken = False
    flow.graph(saver).invoke(None, config, context=context)
    assert flow.graph(saver).get_state(config).values["outputs"] == {
        "ys": [f"draft of {n}" for n in range(3)]
    }
    made = [call.body["x"] for call in platform.calls if isinstance(call.body, dict)]
    assert sorted(made) == ["0", "1", "1", "2"]


def test_brackets_in_an_id_are_no_item() -> None:
    flow = compile_flow(
        flow_of(
            start(texts("xs", default=["a"])),
            gate("each[0]"),
            mapped(checked_item(), id_="each"),
            end(texts("ys")),
            edges=[("start", "xs", "each", "iterated_x"), ("each", "collected_y", "end", "ys")],
        ),
        platform=Echo(),
    )
    asked: list[str] = []

    def answer(one: Gate) -> bool:
        asked.append(one.id)
        return True

    assert drive(flow, answers=answer, platform=Echo()).status == "completed"
    assert asked == ["each%5B0%5D", "each[0]/ask0"]


@pytest.mark.parametrize("bound", [1, 2, 3])
def test_no_more_branches_run_at_once_than_the_bound(bound: int) -> None:
    running, most = [0], [0]

    class Slow(Echo):
        def call(self, call: PlatformCall) -> Any:
            running[0] += 1
            most[0] = max(most[0], running[0])
            import time

            time.sleep(0.02)
            running[0] -= 1
            return super().call(call)

    flow = compile_flow(around(mapped(checked_item(gates=0)), items=8), max_parallel=bound)
    assert drive(flow, platform=Slow()).outputs == {"ys": expected(8)}
    assert most[0] <= bound
    assert bound == 1 or most[0] > 1, "the control: they run at the same time"
