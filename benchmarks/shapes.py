"""Whole runs of a chain, a loop and a fan-out: compiled, written by hand, and by other runtimes.

In: a place to keep checkpoints, and other runtimes.  Out: one row for each shape and size.

| shape | the OAS flow | by hand |
|---|---|---|
| chain | nodes that render a text, one after the other | a node for each (`benchmarks.chain`) |
| loop | a node that adds a letter to a text and a BranchingNode, until it is long enough | a node and a router |
| fan-out | a ParallelMapNode over a flow of one node that renders a text | `Send` to a node for each element, and a list that collects |

These have nodes of a plugin, which the other runtimes do not know; those of `benchmarks.portable`
have none.  All take turns, and have to come to the same.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from benchmarks.chain import TOPIC, chain_document, hand_written
from benchmarks.documents import PORTS, fan_document, loop_document, node_document
from benchmarks.figures import timed
from benchmarks.portable import PORTABLE, Shape, fan_by_hand, in_turn
from benchmarks.shape_peers import Peer
from benchmarks.steps import Saver, of_last_dict
from cinatra_sdk.data.templates.flow_templates import Renderer
from oas_compiler import compile_flow

Json = dict[str, Any]
Run = Callable[[str], Any]
"""From a thread id to what the run comes to."""
Timed = Callable[[], tuple[float, Any] | str]
"""Seconds and end of one run; why there is none."""
CHAINS = (100,)
LOOPS = (1_000,)
FANS = (100, 1_000)
_BY_HAND: Final = "hand"
_PATIENCE: Final = 4.0
"""Seconds of a run above which one of it has to do; its ratio is that of ours by this one."""
_NO_PEERS: Final[Mapping[str, Peer]] = {}
_threads = itertools.count()


def measure(
    saver: Saver,
    *,
    repeat: int,
    chains: Sequence[int] = CHAINS,
    loops: Sequence[int] = LOOPS,
    fans: Sequence[int] = FANS,
    portable: Sequence[tuple[str, Callable[[int], Shape], Sequence[int]]] = PORTABLE,
    peers: Mapping[str, Peer] = _NO_PEERS,
) -> Iterator[dict[str, Any]]:
    """repeat: rounds; a run of 1,000 is as long as ten others, and has a third of them.

    Raises: `AssertionError` where a compiled run and its reference come to different ends.
    """
    made = [
        *(("chain", size, _chain) for size in chains),
        *(("loop", size, _loop) for size in loops),
        *(("fan-out", size, _fan_of_texts) for size in fans),
    ]
    for name, size, build in made:
        ours, hand = build(size, saver)
        others = {_BY_HAND: _time_here(hand, saver)}
        yield _compare(name, size, _time_here(ours, saver), others, repeat)
    for name, make, sizes in portable:
        for size in sizes:
            shape = make(size)
            ours = _time_here(_compile_shape(shape, saver), saver)
            hand = _by_hand(shape.graph, saver, shape.inputs, size)
            others = {_BY_HAND: _time_here(_take_output(hand, shape.output), saver)}
            others |= {one: _time_there(one, peer, shape) for one, peer in peers.items()}
            yield _compare(name, size, ours, others, repeat)


def _compare(
    shape: str, size: int, ours: Timed, others: Mapping[str, Timed], repeat: int
) -> dict[str, Any]:
    """Ratios of ours by another one in the same round; below 1: ours takes less time."""
    row: dict[str, Any] = {"shape": shape, "size": size, "ours_ms": 0.0}
    _, wanted = _require_run(ours())
    runs = {}
    for name, run in others.items():
        first = run()
        if isinstance(first, str):
            row[f"{name}_ms"] = first
            continue
        assert first[1] == wanted, f"{name}: {str(first[1])[:200]} is not {str(wanted)[:200]}"
        runs[name] = run if first[0] < _PATIENCE else _repeat(first)
    rounds = _take_turns({"": ours, **runs}, repeat if size < 1_000 else max(3, repeat // 3))
    row["ours_ms"] = _median_ms([one[""] for one in rounds])
    for name in runs:
        row[f"{name}_ms"] = _median_ms([one[name] for one in rounds])
        ratio = statistics.median(one[""] / one[name] for one in rounds)
        row["ratio" if name == _BY_HAND else f"by_{name}"] = round(ratio, 2)
    return row


def _repeat(said: tuple[float, Any]) -> Timed:
    return lambda: said


def _take_turns(runs: Mapping[str, Timed], rounds: int) -> list[dict[str, float]]:
    names, found = list(runs), []
    for round_ in range(rounds):
        order = names if round_ % 2 == 0 else names[::-1]
        found.append({name: _require_run(runs[name]())[0] for name in order})
    return found


def _median_ms(seconds: Sequence[float]) -> float:
    return round(statistics.median(seconds) * 1e3, 2)


def _require_run(said: tuple[float, Any] | str) -> tuple[float, Any]:
    assert not isinstance(said, str), said
    return said


def _time_here(run: Run, saver: Saver) -> Timed:
    def take() -> tuple[float, Any]:
        thread, kept = f"shape-{next(_threads)}", []
        seconds = timed(lambda: kept.append(run(thread)))
        if saver is not None:
            saver.delete_thread(thread)
        return seconds, kept[0]

    return take


def _time_there(name: str, peer: Peer, shape: Shape) -> Timed:
    # The adapter has no ParallelMapNode.
    document = in_turn(shape.document) if name == "adapter" else shape.document
    refused = peer.load(document, shape.inputs, shape.output)
    return (lambda: f"refused: {refused}") if refused else peer.run


def _take_output(run: Run, output: str) -> Run:
    return lambda thread: run(thread)[output]


# ------------------------------------------------------------------ the shapes


def _chain(size: int, saver: Saver) -> tuple[Run, Run]:
    written = _by_hand(hand_written(size, 1_000), saver, {"topic": TOPIC}, size)
    return (
        _compiled(chain_document(size, 1_000), saver, {"topic": TOPIC}, "text"),
        lambda thread: of_last_dict(written(thread), size),
    )


def _loop(size: int, saver: Saver) -> tuple[Run, Run]:
    add = Renderer("{{ n }}x")
    graph: Any = StateGraph(TypedDict("Grown", {"n": str}))
    graph.add_node("add", lambda state: {"n": add.text({"n": state["n"]})})
    graph.add_edge(START, "add")
    graph.add_conditional_edges("add", lambda state: END if state["n"] == "x" * size else "add")
    written = _by_hand(graph, saver, {"n": ""}, size)
    return _compiled(loop_document(size), saver, {"n": ""}, "n"), _take_output(written, "n")


def _fan_of_texts(size: int, saver: Saver) -> tuple[Run, Run]:
    renderer = Renderer("about {{ x }}")
    item = node_document("PluginTemplateNode", "work", template="about {{ x }}", **PORTS)
    given = {"xs": [str(number) for number in range(size)]}
    graph = fan_by_hand(lambda x: renderer.text({"x": x}))
    written = _by_hand(graph, saver, given, size)
    return _compiled(fan_document(item), saver, given, "ys"), _take_output(written, "ys")


def _compile_shape(shape: Shape, saver: Saver) -> Run:
    return _compiled(shape.document, saver, shape.inputs, shape.output, tools=shape.tools)


def _compiled(
    document: Json, saver: Saver, given: Json, output: str, *, tools: Json | None = None
) -> Run:
    flow = compile_flow(document, tools=tools)
    graph = flow.graph(saver)
    how: Json = {} if saver is None else {"durability": "sync"}

    def run(thread: str) -> Any:
        config, context = flow.config(run_id=thread), flow.context(run_id=thread)
        return graph.invoke(flow.input(given), config, context=context, **how)["outputs"][output]

    return run


def _by_hand(graph: Any, saver: Saver, given: Json, size: int) -> Run:
    compiled = graph.compile(checkpointer=saver)
    how: Json = {} if saver is None else {"durability": "sync"}

    def run(thread: str) -> Any:
        config = {"recursion_limit": size + 10, "configurable": {"thread_id": thread}}
        return compiled.invoke(given, config, **how)

    return run
