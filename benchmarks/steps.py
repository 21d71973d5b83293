"""Time and bytes per superstep: a compiled chain against hand-written graphs doing the same work.

In: numbers of nodes, a place to keep checkpoints.  Out: one row of figures per number of nodes.

The graphs take turns (A B C A B C …), so that whatever else the machine does falls on all of them.
A ratio is the median over the rounds of "compiled / reference in the same round", per superstep;
`run_ratio` is the same for the whole run, with the compiled graph's start and end nodes in it, and
`fused_ratio` for the whole run as users have it: nodes that only compute share a superstep.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver

from benchmarks import database
from benchmarks.chain import TOPIC, bare_strings, chain_document, hand_written, merged_dict
from benchmarks.figures import timed
from cinatra_sdk.postgres.connection import Rows
from oas_compiler import compile_flow
from oas_compiler.lower.flow import Flow

REFERENCE = "hand"
AIM = 1.15
"""Compiled to hand-written, by issue 2."""
GLANCES = 3
"""Rounds in which the other hand-written graphs take part: no ratio depends on them."""
_OURS = ("compiled", "fused")
"""With a superstep for each node, and with as few as nodes that only compute need."""
PATIENCE = 1_000_000
"""Characters of all outputs together, above which the graphs that grow quadratically stay out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way to build the chain."""

    run: Callable[[str], str]
    """From a thread id to the last node's text."""
    supersteps: int


Saver = BaseCheckpointSaver[Any] | None
_threads = itertools.count()


@contextmanager
def place(name: str, dsn: str | None = None) -> Iterator[tuple[Saver, Rows | None]]:
    """Where checkpoints go: `none`, `memory` or `postgres`, the last with its connection."""
    if name == "postgres":
        with database.connection(dsn) as rows:
            yield PostgresSaver(rows), rows
    else:
        yield (InMemorySaver() if name == "memory" else None), None


def variants(nodes: int, size: int, saver: Saver) -> dict[str, Variant]:
    """The compiled chain and the three hand-written ones (of a very large chain, the best of them)."""
    graphs = {
        REFERENCE: (hand_written, of_last_dict),
        "strings": (bare_strings, _of_last_string),
        "merged": (merged_dict, _of_merged),
    }
    flow = compile_flow(chain_document(nodes, size))
    made = {
        "compiled": compiled(replace(flow, fuse=False), nodes, saver),
        "fused": compiled(flow, nodes, saver),
    }
    for name, (build, text_of) in graphs.items():
        if name != REFERENCE and nodes * size > PATIENCE:
            continue
        made[name] = by_hand(build(nodes, size).compile(checkpointer=saver), nodes, saver, text_of)
    return made


def measure(
    nodes: Sequence[int],
    saver: Saver,
    *,
    size: int,
    repeat: int,
) -> list[dict[str, Any]]:
    """One row of times for every number of nodes."""
    return [_times(count, size, saver, repeat) for count in nodes]


def sizes(nodes: Sequence[int], saver: Saver, rows: Rows, *, size: int) -> list[dict[str, Any]]:
    """One row of bytes per superstep for every number of nodes; `saver` writes through `rows`."""
    return [_bytes(count, size, saver, rows) for count in nodes]


def _times(nodes: int, size: int, saver: Saver, repeat: int) -> dict[str, Any]:
    chosen = variants(nodes, size, saver)
    return {"nodes": nodes, "output": size, **compared(chosen, saver, repeat=repeat)}


def compared(chosen: Mapping[str, Variant], saver: Saver, *, repeat: int) -> dict[str, Any]:
    """Milliseconds per superstep of each, and both ratios of `compiled` to the reference.

    Raises: `AssertionError` where they do not end with the same text.
    """
    _agree(chosen, saver)
    seconds: dict[str, list[float]] = {name: [] for name in chosen}
    for round_ in range(repeat):
        order = [name for name in chosen if round_ < GLANCES or name in {*_OURS, REFERENCE}]
        for name in order if round_ % 2 == 0 else reversed(order):
            thread = _thread()
            seconds[name].append(timed(lambda: chosen[name].run(thread)))  # noqa: B023 - called at once
            _forget(saver, thread)
    row: dict[str, Any] = {}
    for name, variant in chosen.items():
        row[f"{name}_ms"] = round(statistics.median(seconds[name]) / variant.supersteps * 1e3, 3)
    wholes = {name: _compare(seconds[name], seconds[REFERENCE]) for name in _OURS if name in chosen}
    steps = chosen[REFERENCE].supersteps / chosen["compiled"].supersteps
    row |= {"ratio": round(wholes["compiled"] * steps, 2)}
    row |= {"run_ratio": round(wholes["compiled"], 2)}
    return row | ({"fused_ratio": round(wholes["fused"], 2)} if "fused" in wholes else {})


def _compare(ours: list[float], theirs: list[float]) -> float:
    return statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))


def _bytes(nodes: int, size: int, saver: Saver, rows: Rows) -> dict[str, Any]:
    row: dict[str, Any] = {"nodes": nodes, "output": size}
    per_step, whole = {}, {}
    for name, variant in variants(nodes, size, saver).items():
        thread = _thread()
        variant.run(thread)
        left = database.written(rows, thread).values()
        _forget(saver, thread)
        whole[name] = sum(table.bytes for table in left)
        per_step[name] = whole[name] / variant.supersteps
        row[f"{name}_bytes"] = round(per_step[name])
        row[f"{name}_rows"] = round(sum(table.rows for table in left) / variant.supersteps, 1)
    return row | {
        "ratio": round(per_step["compiled"] / per_step[REFERENCE], 2),
        "run_ratio": round(whole["compiled"] / whole[REFERENCE], 2),
    }


def _agree(chosen: Mapping[str, Variant], saver: Saver) -> None:
    """Run each once, which also warms it up.  Raises: `AssertionError` where the texts differ."""
    texts = {}
    for name, variant in chosen.items():
        thread = _thread()
        texts[name] = variant.run(thread)
        _forget(saver, thread)
    if len(set(texts.values())) != 1:
        raise AssertionError(f"the graphs do not do the same work: {sorted(texts)}")


def compiled(flow: Flow, nodes: int, saver: Saver) -> Variant:
    """The run of a compiled chain of `nodes` nodes between its start and its end node."""
    graph = flow.graph(saver)
    how: dict[str, Any] = {} if saver is None else {"durability": "sync"}

    def run(thread: str) -> str:
        given, config = flow.input({"topic": TOPIC}), flow.config(run_id=thread)
        state = graph.invoke(given, config, context=flow.context(run_id=thread), **how)
        text: str = state["outputs"]["text"]
        return text

    return Variant(run=run, supersteps=nodes + 2)  # the start node and the end node


def by_hand(
    graph: Any, nodes: int, saver: Saver, text_of: Callable[[dict[str, Any], int], str]
) -> Variant:
    """The run of a hand-written chain; `text_of` reads the last node's text from its state."""
    how: dict[str, Any] = {} if saver is None else {"durability": "sync"}

    def run(thread: str) -> str:
        config = {"recursion_limit": nodes + 10, "configurable": {"thread_id": thread}}
        return text_of(graph.invoke({"topic": TOPIC}, config, **how), nodes)

    return Variant(run=run, supersteps=nodes)


def of_last_dict(state: dict[str, Any], nodes: int) -> str:
    """The text of the last node where each keeps a dict under a key of its own."""
    text: str = state[f"text.step_{nodes - 1:03}"]["text"]
    return text


def _of_last_string(state: dict[str, Any], nodes: int) -> str:
    text: str = state[f"text.step_{nodes - 1:03}"]
    return text


def _of_merged(state: dict[str, Any], nodes: int) -> str:
    text: str = state["texts"][f"step_{nodes - 1:03}"]
    return text


def _thread() -> str:
    return f"thread-{next(_threads):06}"


def _forget(saver: Saver, thread: str) -> None:
    if saver is not None:
        saver.delete_thread(thread)
