"""The chain that `steps` measures: the same work as an OAS flow and as hand-written graphs.

In: the number of nodes and the size of one node's output.  Out: an OAS document, and two
hand-written `StateGraph`s that give the same text.

    chain_document(2, 1000)   start -> step_000 -> step_001 -> end
    step_001's template       "{{ topic }} 001 after [{{ previous[:32] }}] q83hf…"

The same work, exactly: every node reads the output of the node before and the start's `topic`,
renders the same template through the same `cinatra_sdk.data.templates.flow_templates.Renderer`, and writes one text of
about `size` bytes.  Same static edges, same saver, same durability.
The filler is text that does not compress, so that bytes in the database are bytes written.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, TypeAlias

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from cinatra_sdk.data.templates.flow_templates import Renderer

Work: TypeAlias = Callable[[Mapping[str, Any]], str]
"""From `topic` and `previous` to the text of a node."""
TOPIC = "a topic of some words"


def template(index: int, size: int) -> str:
    """The template of one node; renders to about `size` characters."""
    head = f"{{{{ topic }}}} {index:03} after [{{{{ previous[:32] }}}}] "
    return head + _filler(index, max(0, size - 70))


def chain_document(nodes: int, size: int) -> dict[str, Any]:
    """The chain as an OAS flow."""
    names = step_names(nodes)
    components = [_start(), *(_step(i, name, size) for i, name in enumerate(names)), _end()]
    way = ["start", *names, "end"]
    edges = [_data("start", "topic", name, "topic") for name in names]
    edges.append(_data("start", "topic", names[0], "previous"))
    pairs = itertools.pairwise(names)
    edges += [_data(before, "text", name, "previous") for before, name in pairs]
    edges.append(_data(names[-1], "text", "end", "text"))
    return {
        "component_type": "Flow",
        "agentspec_version": "26.1.0",
        "id": f"chain_{nodes}",
        "name": f"Chain of {nodes}",
        "inputs": [_text("topic")],
        "outputs": [_text("text")],
        "start_node": _ref("start"),
        "nodes": [_ref(component["id"]) for component in components],
        "control_flow_connections": [
            {
                "component_type": "ControlFlowEdge",
                "name": f"{source}_to_{target}",
                "from_node": _ref(source),
                "to_node": _ref(target),
            }
            for source, target in itertools.pairwise(way)
        ],
        "data_flow_connections": edges,
        "$referenced_components": {component["id"]: component for component in components},
    }


def hand_written(nodes: int, size: int) -> StateGraph[Any, Any, Any, Any]:
    """The reference: one key per node, holding a dict; each node declares the keys it reads.

    The dict is what makes it a good one: the Postgres saver copies the bare strings of a state
    into every later checkpoint, but keeps a dict once.
    """
    return own_keys(
        {name: Renderer(template(i, size)).text for i, name in enumerate(step_names(nodes))}
    )


def own_keys(works: Mapping[str, Work]) -> StateGraph[Any, Any, Any, Any]:
    """A chain of nodes, each writing `{"text": …}` under a key of its own.

    works: name of the node → the function from its topic and the text before to its own text.
    """
    names = list(works)
    types: dict[str, Any] = {"topic": str, **{_key(name): dict[str, str] for name in names}}
    graph = _graph(types, last=_key(names[-1]))
    for before, name in zip(["", *names], names, strict=False):
        reads = {key: types[key] for key in ("topic", *([_key(before)] if before else []))}
        work = _own_dict(works[name], before and _key(before), _key(name))
        graph.add_node(name, work, input_schema=_schema(f"Reads_{name}", reads))
    return _in_line(graph, names)


def bare_strings(nodes: int, size: int) -> StateGraph[Any, Any, Any, Any]:
    """One key per node, holding the bare string; every node is handed the whole state."""
    names = step_names(nodes)
    graph = _graph(dict.fromkeys(["topic", *map(_key, names)], str), last=_key(names[-1]))
    for name, before, renderer in _steps(nodes, size):
        graph.add_node(name, _own_string(renderer, _key(before) if before else "topic", _key(name)))
    return _in_line(graph, names)


def merged_dict(nodes: int, size: int) -> StateGraph[Any, Any, Any, Any]:
    """The naive way: one key holding the outputs of all nodes, merged by a reducer."""
    graph = _graph({"topic": str, "texts": Annotated[dict[str, str], _merge]}, last="texts")
    for name, before, renderer in _steps(nodes, size):
        graph.add_node(name, _into_one(renderer, before, name))
    return _in_line(graph, step_names(nodes))


def _own_dict(work: Work, before: str, key: str) -> Any:
    def node(state: Any) -> dict[str, Any]:
        previous = state[before]["text"] if before else state["topic"]
        return {key: {"text": work({"topic": state["topic"], "previous": previous})}}

    return node


def _own_string(renderer: Renderer, before: str, key: str) -> Any:
    def node(state: Any) -> dict[str, Any]:
        return {key: renderer.text({"topic": state["topic"], "previous": state[before]})}

    return node


def _into_one(renderer: Renderer, before: str, name: str) -> Any:
    def node(state: Any) -> dict[str, Any]:
        previous = state["texts"][before] if before else state["topic"]
        return {"texts": {name: renderer.text({"topic": state["topic"], "previous": previous})}}

    return node


def _merge(left: dict[str, str], right: dict[str, str]) -> dict[str, str]:
    return {**left, **right}


def step_names(nodes: int) -> list[str]:
    """The ids of the chain's nodes, in order."""
    return [f"step_{index:03}" for index in range(nodes)]


def _key(name: str) -> str:
    """The state key of a node: LangGraph refuses a key that is also a node's name."""
    return f"text.{name}"


def _steps(nodes: int, size: int) -> Iterator[tuple[str, str, Renderer]]:
    """Every node: its name, the name of the one before (of the first: empty), its template."""
    before = ""
    for index, name in enumerate(step_names(nodes)):
        yield name, before, Renderer(template(index, size))
        before = name


def _graph(types: dict[str, Any], *, last: str) -> StateGraph[Any, Any, Any, Any]:
    return StateGraph(
        _schema("State", types),
        input_schema=_schema("Input", {"topic": str}),
        output_schema=_schema("Output", {last: types[last]}),
    )


def _in_line(
    graph: StateGraph[Any, Any, Any, Any], names: list[str]
) -> StateGraph[Any, Any, Any, Any]:
    for source, target in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(source, target)
    return graph


def _schema(name: str, types: dict[str, Any]) -> Any:
    return TypedDict(name, types, total=False)  # type: ignore[operator]


def _start() -> dict[str, Any]:
    return {
        "component_type": "StartNode",
        "id": "start",
        "name": "Start",
        "inputs": [_text("topic")],
    }


def _step(index: int, name: str, size: int) -> dict[str, Any]:
    return {
        "component_type": "PluginTemplateNode",
        "id": name,
        "name": f"Step {index}",
        "template": template(index, size),
        "inputs": [_text("topic"), _text("previous")],
        "outputs": [_text("text")],
    }


def _end() -> dict[str, Any]:
    return {"component_type": "EndNode", "id": "end", "name": "End", "outputs": [_text("text")]}


def _data(source: str, output: str, target: str, into: str) -> dict[str, Any]:
    return {
        "component_type": "DataFlowEdge",
        "name": f"{source}_{output}_to_{target}_{into}",
        "source_node": _ref(source),
        "source_output": output,
        "destination_node": _ref(target),
        "destination_input": into,
    }


def _ref(name: str) -> dict[str, str]:
    return {"$component_ref": name}


def _text(title: str) -> dict[str, str]:
    return {"title": title, "type": "string"}


def _filler(index: int, size: int) -> str:
    """`size` characters that look random and are the same in every run."""
    blocks = (
        hashlib.sha256(f"{index}.{block}".encode()).digest() for block in range(size // 40 + 1)
    )
    return "".join(base64.b64encode(block).decode().rstrip("=") for block in blocks)[:size]
