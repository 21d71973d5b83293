"""Whole runs on Postgres: of a stored run to its gate, from its answer on, and to the end.

In: a flow with gates, a database, a number of rounds.  Out: one row of figures.

| part | ours | by hand |
|---|---|---|
| park | `store.start` | `graph.invoke` up to the interrupt |
| answer | `store.answer`, approved | `graph.invoke(Command(resume=…))` |

Ours also keeps the run, its gates, who decided, and what was called; the hand-written graph of the
same nodes (`benchmarks.by_hand`) keeps LangGraph's checkpoints and nothing else, and takes its
connection from a pool.  Both take turns.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.types import Command
from psycopg_pool import ConnectionPool

from benchmarks.by_hand import write_graph
from benchmarks.figures import timed
from cinatra_sdk import Decision, RunStore
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.langgraph_threads.serializer import STRICT_SERIALIZER
from cinatra_sdk.postgres.connection import OPTIONS
from cinatra_sdk.testing import sampled_inputs, simulation
from oas_compiler import Flow, compile_flow

REAL = "email-outreach-agent"


def list_sources(corpus: Path) -> list[Any]:
    """A flow of two calls with a gate between them, and a real flow where the corpus is there."""
    real = corpus / REAL
    return [one_gate(), *([real] if real.exists() else [])]


def one_gate() -> dict[str, Any]:
    """draft → review → send, each call with the text of the one before."""
    texts = {name: {"title": name, "type": "string"} for name in ("topic", "draft", "told")}
    nodes: list[dict[str, Any]] = [
        {"component_type": "StartNode", "id": "start",
         "inputs": [{**texts["topic"], "default": "bees"}]},
        _call("write", "draft", texts["topic"], texts["draft"]),
        {"component_type": "InputMessageNode", "id": "review", "inputs": [texts["draft"]],
         "outputs": [{"title": "note", "type": "string"}]},
        _call("send", "send", texts["draft"], texts["told"]),
        {"component_type": "EndNode", "id": "end", "outputs": [texts["told"]]},
    ]  # fmt: skip
    ids = [node["id"] for node in nodes]
    edges = [("start", "topic", "write"), ("write", "draft", "review"), ("write", "draft", "send"),
             ("send", "told", "end")]  # fmt: skip
    return {
        "agentspec_version": "26.1.0", "component_type": "Flow", "id": "one-gate", "name": "One gate",
        "metadata": {"cinatra": {"type": "flow", "packageName": "@benchmark/one-gate"}},
        "inputs": nodes[0]["inputs"], "outputs": nodes[-1]["outputs"],
        "start_node": {"$component_ref": "start"},
        "nodes": [{"$component_ref": node_id} for node_id in ids],
        "control_flow_connections": [
            {"component_type": "ControlFlowEdge", "name": f"c{number}",
             "from_node": {"$component_ref": a}, "to_node": {"$component_ref": b}}
            for number, (a, b) in enumerate(itertools.pairwise(ids))
        ],
        "data_flow_connections": [
            {"component_type": "DataFlowEdge", "name": f"d{number}",
             "source_node": {"$component_ref": a}, "source_output": title,
             "destination_node": {"$component_ref": b}, "destination_input": title}
            for number, (a, title, b) in enumerate(edges)
        ],
        "$referenced_components": {node["id"]: {"name": node["id"], **node} for node in nodes},
    }  # fmt: skip


def _call(node: str, path: str, given: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    return {
        "component_type": "ApiNode", "id": node, "http_method": "POST",
        "url": "{{CINATRA_BASE_URL}}/api/" + path, "inputs": [given], "outputs": [made],
        "data": {"text": "{{ " + given["title"] + " }}"},
    }  # fmt: skip


@dataclass(slots=True)
class Parts:
    """Seconds of one run."""

    park: float = 0.0
    answers: list[float] = field(default_factory=list)

    @property
    def whole(self) -> float:
        return self.park + sum(self.answers)


Run = Callable[[str], Parts]


def measure(source: Any, dsn: str, *, repeat: int) -> dict[str, Any]:
    """Milliseconds of each part, and the ratios of ours to the hand-written graph's."""
    flow = compile_flow(source)
    flow = flow.with_platform(simulation(flow))
    with ours(flow, dsn) as stored, by_hand(flow, dsn) as written:
        rounds = [_take_turns(f"{flow.id}-{n}", n, stored, written) for n in range(repeat + 1)]
        del rounds[0]  # which warmed both up
    row: dict[str, Any] = {"flow": flow.id, "gates": len(rounds[0][0].answers)}
    for part, read in _PARTS.items():
        pairs = [(read(mine), read(theirs)) for mine, theirs in rounds]
        row[f"{part}_ms"] = round(statistics.median(mine for mine, _ in pairs) * 1e3, 2)
        row[f"{part}_hand_ms"] = round(statistics.median(hand for _, hand in pairs) * 1e3, 2)
        row[f"{part}_ratio"] = round(statistics.median(mine / hand for mine, hand in pairs), 2)
    return row


_PARTS: dict[str, Callable[[Parts], float]] = {
    "park": lambda parts: parts.park,
    "answer": lambda parts: statistics.median(parts.answers),
    "whole": lambda parts: parts.whole,
}


def _take_turns(name: str, number: int, stored: Run, written: Run) -> tuple[Parts, Parts]:
    if number % 2 == 0:
        mine = stored(f"{name}-ours")
        return mine, written(f"{name}-hand")
    theirs = written(f"{name}-hand")
    return stored(f"{name}-ours"), theirs


@contextmanager
def ours(flow: Flow, dsn: str) -> Iterator[Run]:
    given = sampled_inputs(flow)
    with RunStore.open(dsn) as store:

        def run(run_id: str) -> Parts:
            parts, kept = Parts(), []
            parts.park = timed(lambda: kept.append(store.start(flow, given, run_id=run_id)))
            while kept[-1].waiting:
                gate: Gate = kept[-1].waiting[0]
                decision = Decision.approve(by="ann", **_value_of(gate))

                def answer(gate_id: str = gate.id, made: Decision = decision) -> None:
                    kept.append(store.answer(run_id, gate_id, made, flow=flow))

                parts.answers.append(timed(answer))
            if kept[-1].status != "completed":
                raise AssertionError(f"the stored run ended as {kept[-1].status}: {kept[-1].error}")
            return parts

        yield run


@contextmanager
def by_hand(flow: Flow, dsn: str) -> Iterator[Run]:
    given = sampled_inputs(flow)
    with ConnectionPool(dsn, kwargs=OPTIONS, min_size=1, max_size=2) as pool:
        graph = write_graph(flow.ir, flow.platform).compile(
            PostgresSaver(pool, serde=STRICT_SERIALIZER)
        )

        def run(thread: str) -> Parts:
            config: Any = {"configurable": {"thread_id": thread}, "recursion_limit": 1000}
            parts = Parts()
            kept: list[Any] = []

            def invoke(command: Any) -> None:
                kept.append(graph.invoke(command, config, durability="sync"))

            parts.park = timed(lambda: invoke({"inputs": given}))
            while kept[-1].get("__interrupt__"):
                waiting = kept[-1]["__interrupt__"][0]
                resume = Command(resume={waiting.id: {"approved": True}})
                parts.answers.append(timed(lambda: invoke(resume)))  # noqa: B023 - called at once
            return parts

        yield run


def _value_of(gate: Gate) -> dict[str, Any]:
    example = gate.example()
    return {} if example is True else {"value": example}
