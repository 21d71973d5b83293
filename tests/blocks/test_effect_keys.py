"""The idempotency key of a block's call: the same for one visit, whatever came between; else another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from cinatra_sdk.blocks.host_node import seal_host_fields, terminal_node
from cinatra_sdk.blocks.inner_graph import subgraph
from cinatra_sdk.blocks.platform_steps import llm_step
from cinatra_sdk.errors import FlowError
from cinatra_sdk.langgraph_threads.host_context import HostContext, host_context
from cinatra_sdk.langgraph_threads.state_channels import GovernedState, HostOnly
from cinatra_sdk.outside.http_calls.protocol import PlatformCall
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, port, start

CONFIG: Any = {"configurable": {"thread_id": "t1"}}
TEXT: Any = {"text": {"type": "string"}}
FIRST: Any = {"topic": "x"}


class Died(BaseException):
    """The process goes away."""


class Dying:
    """Makes each call, and dies after the ones that are named, before anybody has the answer."""

    def __init__(self, *dies_after: int) -> None:
        self.dies_after = dies_after
        self.calls: list[PlatformCall] = []

    def call(self, call: PlatformCall) -> Any:
        self.calls.append(call)
        if len(self.calls) in self.dies_after:
            raise Died
        return {"text": f"text {len(self.calls)}"}

    async def acall(self, call: PlatformCall) -> Any:
        return self.call(call)

    def describe(self) -> dict[str, Any]:
        return {"kind": "dying"}

    @property
    def keys(self) -> list[str]:
        return [call.idempotency_key for call in self.calls]


class Input(TypedDict, total=False):
    topic: str


class State(GovernedState):
    topic: str
    rounds: int
    draft_output: Any
    send_output: Annotated[dict[str, Any], HostOnly]


class OwnState(TypedDict, total=False):
    """Has the keys that a block needs, and no count of visits."""

    topic: str
    rounds: int
    bearer_token: Annotated[str, HostOnly]
    approval_policy: Annotated[Any, HostOnly]
    run: Annotated[dict[str, Any], HostOnly]
    status: str
    draft_output: Any


class Narrow(TypedDict, total=False):
    """What a node is handed that names the keys it reads."""

    topic: str
    bearer_token: Annotated[str, HostOnly]
    run: Annotated[dict[str, Any], HostOnly]


def step(platform: Any, node: str = "draft", **more: Any) -> Any:
    return llm_step(platform, node=node, agent_id="@t/a", user="x", outputs=TEXT, **more)


def in_a_loop(
    block: Any, *, rounds: int = 1, state: Any = State, saver: Any = None, reads: Any = None
) -> Any:
    """host → draft → count → draft, so many times round."""
    builder = StateGraph(state, context_schema=HostContext, input_schema=Input)
    builder.add_node("host", seal_host_fields({"steps": []}))
    builder.add_node("draft", block, input_schema=reads)
    builder.add_node("count", lambda state: {"rounds": state.get("rounds", 0) + 1})
    builder.add_edge(START, "host")
    builder.add_edge("host", "draft")
    builder.add_edge("draft", "count")
    builder.add_conditional_edges(
        "count", lambda state: "draft" if state["rounds"] < rounds else END, ["draft", END]
    )
    return builder.compile(checkpointer=saver or InMemorySaver())


def died(run: Callable[[], Any]) -> None:
    with pytest.raises((Died, FlowError)):  # a compiled node says so in its own words
        run()


def compiled_inside(platform: Any) -> Any:
    described = flow_of(
        start(), api("write", outputs=[port("text")]), end(port("text")),
        edges=[("write", "text", "end", "text")],
    )  # fmt: skip
    flow = compile_flow(described, platform=platform)
    return subgraph(
        flow.graph(), node="draft", inputs={"inputs": {}}, own_policy=True,
        outputs={"text": "{{ outputs.text }}"},
    )  # fmt: skip


BLOCKS: dict[str, Callable[[Any], Any]] = {"call": step, "graph inside": compiled_inside}


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("how", ["resume", "further input"])
def test_a_call_that_is_made_again_after_a_crash_has_the_same_key(block: str, how: str) -> None:
    platform = Dying(1)
    graph = in_a_loop(BLOCKS[block](platform))
    died(lambda: graph.invoke(FIRST, CONFIG, durability="sync"))
    graph.invoke(None if how == "resume" else FIRST, CONFIG, durability="sync")
    first, again = platform.keys
    assert first == again


@pytest.mark.parametrize("block", BLOCKS)
def test_the_same_on_an_event_loop(block: str) -> None:
    platform = Dying(1)
    graph = in_a_loop(BLOCKS[block](platform))

    async def run() -> None:
        with suppress(Died, FlowError):
            await graph.ainvoke(FIRST, CONFIG, durability="sync")
        await graph.ainvoke(FIRST, CONFIG, durability="sync")

    asyncio.run(run())
    first, again = platform.keys
    assert first == again


@pytest.mark.parametrize("block", BLOCKS)
def test_every_time_round_a_loop_has_a_key_of_its_own(block: str) -> None:
    platform = Dying()
    in_a_loop(BLOCKS[block](platform), rounds=3).invoke(FIRST, CONFIG, durability="sync")
    assert len(set(platform.keys)) == len(platform.keys) == 3


@pytest.mark.parametrize("block", BLOCKS)
def test_a_crash_in_a_later_round_repeats_the_key_of_that_round(block: str) -> None:
    platform = Dying(2)
    graph = in_a_loop(BLOCKS[block](platform), rounds=3)
    died(lambda: graph.invoke(FIRST, CONFIG, durability="sync"))
    graph.invoke(FIRST, CONFIG, durability="sync")
    first, second, *rest = platform.keys
    assert rest[0] == second
    assert len({first, second, *rest}) == len(platform.keys) - 1


def test_a_node_that_is_handed_a_part_of_the_state_counts_all_the_same() -> None:
    platform = Dying()
    graph = in_a_loop(step(platform), rounds=3, reads=Narrow)
    graph.invoke(FIRST, CONFIG, durability="sync")
    assert len(set(platform.keys)) == 3


def test_a_graph_that_keeps_no_count_has_a_key_for_each_task_of_the_engine() -> None:
    platform = Dying(1)
    graph = in_a_loop(step(platform), rounds=3, state=OwnState)
    died(lambda: graph.invoke(FIRST, CONFIG, durability="sync"))
    graph.invoke(None, CONFIG, durability="sync")
    first, again, *rest = platform.keys
    assert first == again
    assert len({first, *rest}) == 3


@pytest.mark.parametrize("rounds", [{"draft": 41}, {"draft": 0}, "1", None])
def test_a_client_cannot_set_the_count(rounds: Any) -> None:
    platform = Dying()
    graph = in_a_loop(step(platform))
    graph.invoke(FIRST, CONFIG, durability="sync")
    graph.update_state(CONFIG, {"visits": rounds, "rounds": 0}, as_node="count")
    graph.invoke({**FIRST, "visits": rounds}, CONFIG, durability="sync")
    plain = Dying()
    in_a_loop(step(plain), rounds=2).invoke(FIRST, CONFIG, durability="sync")
    assert platform.keys == plain.keys


def test_two_threads_of_one_run_id_have_keys_of_their_own() -> None:
    platform = Dying()
    graph = in_a_loop(step(platform))
    for thread in ("t1", "t2"):
        config: Any = {"configurable": {"thread_id": thread}}
        graph.invoke(FIRST, config, context=host_context(run_id="r1"), durability="sync")
    assert len(set(platform.keys)) == 2


def test_what_a_graph_inside_had_come_to_is_not_called_for_again() -> None:
    """It ended, and the process went away before the graph around it had kept that."""

    class Forgetful(InMemorySaver):
        loses = True

        def put(self, config: Any, checkpoint: Any, *args: Any) -> Any:
            if self.loses and "draft_output" in checkpoint["channel_values"]:
                self.loses = False
                raise Died
            return super().put(config, checkpoint, *args)

        def put_writes(self, config: Any, writes: Any, *args: Any, **more: Any) -> None:
            if not self.loses or all(key != "draft_output" for key, _ in writes):
                super().put_writes(config, writes, *args, **more)

    platform = Dying()
    graph = in_a_loop(compiled_inside(platform), saver=Forgetful())
    died(lambda: graph.invoke(FIRST, CONFIG, durability="sync"))
    graph.invoke(FIRST, CONFIG, durability="sync")
    assert len(platform.calls) == 1
    assert graph.get_state(CONFIG).values["draft_output"] == {"text": "text 1"}


def test_two_blocks_in_one_step_are_both_counted() -> None:
    platform = Dying(3)
    builder = StateGraph(Both, context_schema=HostContext, input_schema=Input)
    builder.add_node("host", seal_host_fields({"steps": []}))
    builder.add_node("one", step(platform, "one"))
    builder.add_node("two", step(platform, "two"))
    builder.add_node("last", step(platform, "last"))
    builder.add_node("terminal", terminal_node())
    builder.add_edge(START, "host")
    for name in ("one", "two"):
        builder.add_edge("host", name)
    builder.add_edge(["one", "two"], "last")
    builder.add_edge("last", "terminal")
    builder.add_edge("terminal", END)
    graph = builder.compile(checkpointer=InMemorySaver())
    died(lambda: graph.invoke(FIRST, CONFIG, durability="sync"))
    assert graph.get_state(CONFIG).values["visits"] == {"one": 1, "two": 1}


class Both(GovernedState):
    topic: str
    one_output: Any
    two_output: Any
    last_output: Any
