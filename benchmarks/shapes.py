"""Whole runs of three shapes: a chain, a loop and a fan-out, compiled and written by hand.

In: a place to keep checkpoints.  Out: one row for each shape and size.

| shape | the OAS flow | by hand |
|---|---|---|
| chain | nodes that render a text, one after the other | a node for each (`benchmarks.chain`) |
| loop | a node that adds a letter to a text and a BranchingNode, until it is long enough | a node and a router |
| fan-out | a ParallelMapNode over a flow of one node that renders a text, or calls a tool | `Send` to a node for each element, and a list that collects |

Both take turns, and have to come to the same.
"""

from __future__ import annotations

import itertools
import operator
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from benchmarks.chain import TOPIC, chain_document, hand_written
from benchmarks.figures import timed
from benchmarks.steps import Saver, of_last_dict
from cinatra_sdk.templates.rendering import Renderer
from oas_compiler import compile_flow

Json = dict[str, Any]
Run = Callable[[str], Any]
"""From a thread id to what the run comes to."""
CHAINS = (100,)
LOOPS = (1_000,)
FANS = (100, 1_000)
_TEXT: Json = {"type": "string"}
_GROWN: Json = {"title": "n", **_TEXT}
_threads = itertools.count()


def measure(
    saver: Saver,
    *,
    repeat: int,
    chains: Sequence[int] = CHAINS,
    loops: Sequence[int] = LOOPS,
    fans: Sequence[int] = FANS,
) -> Iterator[dict[str, Any]]:
    """repeat: rounds; a run of 1,000 is as long as ten others, and has a third of them.

    Raises: `AssertionError` where a compiled run and its reference come to different ends.
    """
    made = [
        *(("chain", size, _chain) for size in chains),
        *(("loop", size, _loop) for size in loops),
        *(("fan-out", size, _fan_of_texts) for size in fans),
        *(("fan-out of tools", size, _fan_of_tools) for size in fans),
    ]
    for name, size, build in made:
        rounds = repeat if size < 1_000 else max(3, repeat // 3)
        yield {"shape": name, "size": size, **_compare(*build(size, saver), saver, rounds)}


def _compare(ours: Run, theirs: Run, saver: Saver, rounds: int) -> dict[str, float]:
    ends = [_carry_out(run, saver)[1] for run in (ours, theirs)]
    assert ends[0] == ends[1], f"{str(ends[0])[:200]} is not {str(ends[1])[:200]}"
    pairs = []
    for round_ in range(rounds):
        order = (ours, theirs) if round_ % 2 == 0 else (theirs, ours)
        seconds = {run: _carry_out(run, saver)[0] for run in order}
        pairs.append((seconds[ours], seconds[theirs]))
    return {
        "ours_ms": round(statistics.median(mine for mine, _ in pairs) * 1e3, 2),
        "hand_ms": round(statistics.median(hand for _, hand in pairs) * 1e3, 2),
        "ratio": round(statistics.median(mine / hand for mine, hand in pairs), 2),
    }


def _carry_out(run: Run, saver: Saver) -> tuple[float, Any]:
    thread, kept = f"shape-{next(_threads)}", []
    seconds = timed(lambda: kept.append(run(thread)))
    if saver is not None:
        saver.delete_thread(thread)
    return seconds, kept[0]


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
    return _compiled(loop_document(size), saver, {"n": ""}, "n"), lambda thread: written(thread)[
        "n"
    ]


def _fan_of_texts(size: int, saver: Saver) -> tuple[Run, Run]:
    renderer = Renderer("about {{ x }}")
    item = _node("PluginTemplateNode", "work", template="about {{ x }}", **_PORTS)
    return _fan(size, saver, item, lambda x: renderer.text({"x": x}))


def _fan_of_tools(size: int, saver: Saver) -> tuple[Run, Run]:
    tool = {
        "component_type": "ServerTool",
        "id": "tool",
        "name": "work",
        "description": "",
        **_PORTS,
    }
    return _fan(size, saver, _node("ToolNode", "work", tool=tool), lambda x: f"about {x}")


def _fan(size: int, saver: Saver, item: Json, work: Callable[[str], str]) -> tuple[Run, Run]:
    shape: Any = TypedDict("Spread", {"xs": list[str], "ys": Annotated[list[str], operator.add]})
    graph: Any = StateGraph(shape)
    graph.add_node("spread", lambda _state: {})
    graph.add_node("work", lambda one: {"ys": [work(one["x"])]})
    graph.add_edge(START, "spread")
    graph.add_conditional_edges(
        "spread", lambda state: [Send("work", {"x": x}) for x in state["xs"]], ["work"]
    )
    graph.add_edge("work", END)
    given = {"xs": [str(number) for number in range(size)]}
    written = _by_hand(graph, saver, given, size)
    ours = _compiled(fan_document(item), saver, given, "ys", tools={"work": work})
    return ours, lambda thread: written(thread)["ys"]


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


# ------------------------------------------------------------------ as OAS flows

_PORTS: Json = {"inputs": [{"title": "x", **_TEXT}], "outputs": [{"title": "y", **_TEXT}]}


def loop_document(size: int) -> Json:
    """Adds a letter to `n` until it has `size` of them."""
    return _flow(
        _node("StartNode", "start", inputs=[_GROWN]),
        _node("PluginTemplateNode", "add", template="{{ n }}x", inputs=[_GROWN], outputs=[_GROWN]),
        _node("BranchingNode", "way", inputs=[{"title": "key", **_TEXT}], mapping={"x" * size: "done"}),
        _node("EndNode", "end", outputs=[_GROWN]),
        control=[("start", None, "add"), ("add", None, "way"), ("way", "default", "add"), ("way", "done", "end")],
        data=[
            ("start", "n", "add", "n"), ("add", "n", "add", "n"), ("add", "n", "way", "key"),
            ("add", "n", "end", "n"),
        ],
    )  # fmt: skip


def fan_document(work: Json) -> Json:
    """Goes through the texts `xs`, each with `work` from `x` to `y`, all at the same time."""
    item = _flow(
        _node("StartNode", "begin", inputs=_PORTS["inputs"]), work,
        _node("EndNode", "finish", outputs=_PORTS["outputs"]),
        control=[("begin", None, "work"), ("work", None, "finish")],
        data=[("begin", "x", "work", "x"), ("work", "y", "finish", "y")], name="item",
    )  # fmt: skip
    texts = {"type": "array", "items": _TEXT}
    each = _node(
        "ParallelMapNode", "each", subflow=item,
        inputs=[{"title": "iterated_x", "anyOf": [_TEXT, texts]}],
        outputs=[{"title": "collected_y", **texts}],
    )  # fmt: skip
    return _flow(
        _node("StartNode", "start", inputs=[{"title": "xs", **texts}]),
        each,
        _node("EndNode", "end", outputs=[{"title": "ys", **texts}]),
        control=[("start", None, "each"), ("each", None, "end")],
        data=[("start", "xs", "each", "iterated_x"), ("each", "collected_y", "end", "ys")],
    )


def _node(kind: str, own: str, **fields: Any) -> Json:
    return {"component_type": kind, "id": own, "name": own, **fields}


def _flow(
    *nodes: Json,
    control: Sequence[tuple[str, str | None, str]],
    data: Sequence[tuple[str, str, str, str]],
    name: str = "shape",
) -> Json:
    return {
        "component_type": "Flow", "agentspec_version": "26.1.0", "id": name, "name": name,
        "inputs": nodes[0]["inputs"], "outputs": nodes[-1]["outputs"],
        "start_node": _ref(nodes[0]["id"]), "nodes": [_ref(node["id"]) for node in nodes],
        "control_flow_connections": [
            {"component_type": "ControlFlowEdge", "name": f"c{number}", "from_node": _ref(source),
             "to_node": _ref(target), **({"from_branch": branch} if branch else {})}
            for number, (source, branch, target) in enumerate(control)
        ],
        "data_flow_connections": [
            {"component_type": "DataFlowEdge", "name": f"d{number}", "source_node": _ref(source),
             "source_output": output, "destination_node": _ref(target), "destination_input": into}
            for number, (source, output, target, into) in enumerate(data)
        ],
        "$referenced_components": {node["id"]: node for node in nodes},
    }  # fmt: skip


def _ref(name: str) -> dict[str, str]:
    return {"$component_ref": name}
