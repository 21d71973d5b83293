"""Activations of a plain graph that nobody put in a row: two at once, and inputs without checkpoints.

A store has a lock for this; a plain graph has the look for forks and its idempotency keys.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.types import Command
from psycopg.conninfo import make_conninfo

from cinatra_sdk.errors import FlowError, ForkRefused
from cinatra_sdk.outside.http_calls.protocol import PlatformCall, PlatformError
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import compile_flow
from tests.attacks.graphs import ERROR
from tests.attacks.nested import CONFIG, around, hand_written_around
from tests.flows import api, end, flow_of, gate, start

FIRST: Any = {"inputs": {}}
ROW = flow_of(start(), api("a"), api("b"), api("c"), end())
GATED = flow_of(start(), api("a"), gate("review"), api("b"), api("c"), end())


class Meeting(SimulatedPlatform):
    """Two activations meet in the call of `b`, after a first one that fails: both looked by then."""

    def __init__(self, *, fails: bool = True) -> None:
        super().__init__({"b": [ERROR, {}] if fails else {}})
        self.failed = not fails
        self.both = threading.Barrier(2, timeout=60)

    def call(self, call: PlatformCall) -> Any:
        if call.node == "b" and self.failed:
            self.both.wait()
        self.failed = self.failed or call.node == "b"
        return super().call(call)


def keys_of(platform: SimulatedPlatform) -> dict[str, list[str]]:
    """Node → the key of each of its calls."""
    found: dict[str, list[str]] = defaultdict(list)
    for call in platform.calls:
        found[call.node].append(call.idempotency_key)
    return dict(found)


def compiled(described: Any) -> Callable[[Any, Any], Any]:
    return lambda platform, saver: compile_flow(described, platform=platform).graph(saver)


def approval(graph: Any) -> Command[Any] | None:
    """The answer to the gate that waits; None, which goes on, where none does."""
    waiting = graph.get_state(CONFIG).interrupts
    return Command(resume={waiting[0].id: {"approved": True}}) if waiting else None


# ------------------------------------------------------------------ two at once


@contextmanager
def two_savers(kind: str, request: pytest.FixtureRequest) -> Iterator[tuple[Any, Any]]:
    """The same checkpoints for two activations."""
    if kind == "memory":
        saver = InMemorySaver()
        yield saver, saver
        return
    dsn = make_conninfo(request.getfixturevalue("fresh_database"), options="-c search_path=oasflow")
    with ExitStack() as stack:
        one, other = (stack.enter_context(PostgresSaver.from_conn_string(dsn)) for _ in range(2))
        yield one, other


class AtNode(BaseCallbackHandler):
    """Lets two activations meet where each begins `node`: both have read their checkpoint by then."""

    raise_error = True

    def __init__(self, node: str) -> None:
        self.node = node
        self.met = False
        self.both = threading.Barrier(2, timeout=60)

    def on_chain_start(self, *_: Any, **about: Any) -> None:
        if about.get("name") == self.node:
            self.both.wait()
            self.met = True


def at_once(
    graphs: list[Any], given: Any, durability: str, *meeting: AtNode
) -> list[BaseException | None]:
    """What each activation ends with."""
    ended: list[BaseException | None] = [None] * len(graphs)

    def run(number: int) -> None:
        config: Any = {**CONFIG, "callbacks": list(meeting)}
        try:
            graphs[number].invoke(given, config, durability=durability)
        except FlowError as error:
            ended[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(graphs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ended


@pytest.mark.parametrize("durability", ["sync", "async"])
@pytest.mark.parametrize("kind", ["memory", "postgres"])
def test_of_two_answers_at_once_one_at_most_goes_on(
    kind: str, durability: str, request: pytest.FixtureRequest
) -> None:
    platform = SimulatedPlatform()
    with two_savers(kind, request) as savers:
        graphs = [compiled(GATED)(platform, saver) for saver in savers]
        graphs[0].invoke(FIRST, CONFIG, durability="sync")
        at_gate = AtNode("review")
        at_once(graphs, approval(graphs[0]), durability, at_gate)
        assert at_gate.met
    # The gate made a checkpoint of its own for each, and what acts after it sees both.
    keys = keys_of(platform)
    assert len(keys["a"]) == 1
    assert len(keys.get("b", [])) <= 1
    assert len(keys.get("c", [])) <= 1


@pytest.mark.parametrize("durability", ["sync", "async"])
@pytest.mark.parametrize("kind", ["memory", "postgres"])
def test_where_two_begin_with_a_call_it_is_made_twice_under_one_key_and_no_later_one(
    kind: str, durability: str, request: pytest.FixtureRequest
) -> None:
    platform = Meeting()
    with two_savers(kind, request) as savers:
        graphs = [compiled(ROW)(platform, saver) for saver in savers]
        with pytest.raises(PlatformError):
            graphs[0].invoke(FIRST, CONFIG, durability="sync")
        ended = at_once(graphs, None, durability)
        keys = keys_of(platform)
        # Both stood on the one checkpoint there was; a platform that knows the key acts once.
        assert len(keys["b"]) == 3
        assert len(set(keys["b"])) == 1
        assert len(keys.get("c", [])) <= 1
        assert any(isinstance(error, ForkRefused) for error in ended)
        # From here on the thread has two ends, and nothing acts on it any more.
        before = len(platform.calls)
        for graph, given in ((graphs[0], None), (graphs[1], FIRST)):
            with suppress(ForkRefused):
                graph.invoke(given, CONFIG, durability="sync")
        assert len(platform.calls) == before


def test_an_answer_that_comes_while_the_first_acts_joins_its_call_under_one_key() -> None:
    platform = Meeting(fails=False)
    saver = InMemorySaver()
    graphs = [compiled(GATED)(platform, saver) for _ in range(2)]
    graphs[0].invoke(FIRST, CONFIG, durability="sync")
    answer = approval(graphs[0])
    first = threading.Thread(target=at_once, args=([graphs[0]], answer, "sync"))
    first.start()
    while graphs[0].get_state(CONFIG).next != ("b",):
        assert first.is_alive()
    at_once([graphs[1]], answer, "sync")
    first.join()
    keys = keys_of(platform)
    assert len(keys["b"]) == 2
    assert len(set(keys["b"])) == 1
    assert len(keys.get("c", [])) <= 1


def test_two_first_inputs_at_once_make_no_call_twice_under_two_keys() -> None:
    platform = SimulatedPlatform()
    saver = InMemorySaver()
    graphs = [compiled(ROW)(platform, saver) for _ in range(2)]
    at_once(graphs, FIRST, "sync")
    for keys in keys_of(platform).values():
        assert len(keys) <= 2
        assert len(set(keys)) == 1


# ------------------------------------------------------------------ without checkpoints on the way

GRAPHS: dict[str, Callable[[Any, Any], Any]] = {
    "calls in a row, one fails": compiled(ROW),
    "a gate": compiled(GATED),
    "a subflow": compiled(around(1)),
    "by hand": lambda platform, saver: hand_written_around(platform, "by hand", saver),
}


def first_of(graph: str) -> Any:
    """A graph that is written by hand has keys of its own."""
    return {"topic": "x"} if graph == "by hand" else FIRST


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_further_input_without_checkpoints_on_the_way_repeats_no_call(graph: str) -> None:
    platform = SimulatedPlatform({"b": [ERROR, {}]} if "fails" in graph else {})
    made = GRAPHS[graph](platform, InMemorySaver())
    acts: list[Callable[[], Any]] = [
        lambda: first_of(graph),
        lambda: first_of(graph),
        lambda: approval(made),
    ] * 2
    for given in acts:
        with suppress(FlowError, PlatformError):
            made.invoke(given(), CONFIG, durability="exit")
    while made.get_state(CONFIG).next:  # and then to its end, with them
        made.invoke(approval(made), CONFIG, durability="sync")
    for node, keys in keys_of(platform).items():
        assert len(keys) == (2 if node == "b" and "fails" in graph else 1), node
        assert len(set(keys)) == 1, node
    assert made.get_state(CONFIG).values["status"] == "completed"


@pytest.mark.parametrize("graph", GRAPHS)
def test_what_a_killed_process_had_called_is_called_again_under_the_same_keys(graph: str) -> None:
    """With durability "exit" nothing is kept until the graph stops."""
    keys = []
    for _process in range(2):
        platform = SimulatedPlatform()
        GRAPHS[graph](platform, InMemorySaver()).invoke(first_of(graph), CONFIG, durability="exit")
        keys.append(keys_of(platform))
    assert keys[0] == keys[1] != {}
