"""A call at most once, behind a gate inside a node that runs flows, of which nobody knows whether it
happened: the run waits for a person, and nobody goes on with it meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from oas_compiler import compile_flow
from tests.flow.containers import around, mapped
from tests.flows import end, flow_node, flow_of, gate, port, start, tool

Json = dict[str, Any]
ANN = Decision.approve(by="ann")


def item() -> Json:
    """A gate, then a tool that is called at most once."""
    act = tool("post", "post", [port("x")], [port("y")])
    act.setdefault("metadata", {}).setdefault("cinatra", {})["effect"] = "at_most_once"
    return flow_of(
        start(port("x", default="1")), gate("ask"), act, end(port("y")), id_="item",
        edges=[("start", "x", "post", "x"), ("post", "y", "end", "y")],
    )  # fmt: skip


def in_a_flow() -> Json:
    return flow_of(
        start(port("x", default="1")), flow_node("each", item()), end(port("y")),
        edges=[("start", "x", "each", "x"), ("each", "y", "end", "y")],
    )  # fmt: skip


SHAPES = {
    "flat": (item(), ["ask"]),
    "in a subflow": (in_a_flow(), ["each/ask"]),
    "in a map": (around(mapped(item(), kind="MapNode"), items=1), ["each[0]/ask"]),
    "in a parallel map": (around(mapped(item()), items=2), ["each[0]/ask", "each[1]/ask"]),
}


class Post:
    """Fails once, and does not know whether it happened."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: str) -> str:
        self.calls += 1
        if self.calls == 1:
            raise RuntimeError("the line went dead")
        return f"posted {x}"


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        yield opened


@pytest.mark.parametrize("shape", SHAPES)
def test_a_run_with_an_unknown_call_waits_and_is_left_alone(store: RunStore, shape: str) -> None:
    document, gates = SHAPES[shape]
    post = Post()
    flow = compile_flow(document, tools={"post": post})
    store.start(flow, run_id="r1")
    run = store.answer("r1", gates[0], ANN)
    assert (run.status, (run.error or {})["code"]) == ("waiting", "effect_unknown")
    assert _count_attempts(store) == 2
    assert store.sweep() == []
    assert store.work("r1").status == "waiting"
    for other in gates[1:]:  # a decision at another gate is carried out all the same
        run = store.answer("r1", other, ANN)
        assert run.status == "waiting"
    assert post.calls == len(gates)
    (unknown,) = store.unknown("r1")
    store.settle("r1", unknown.key, happened=True, value={"y": "it was posted"}, by="eve")
    (said,) = store.settlements("r1")
    assert (said.happened, said.by, said.value) == (True, "eve", {"y": "it was posted"})
    run = store.work("r1")
    assert run.status == "completed", run.error
    assert post.calls == len(gates)
    assert "it was posted" in str(run.outputs)


def _count_attempts(store: RunStore) -> int:
    return sum((event.kind, event.name) == ("run", "started") for event in store.events("r1"))
