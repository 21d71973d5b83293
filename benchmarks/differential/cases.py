"""Flows of plain Agent Spec without a model, each with its inputs and the answers of people."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One run."""

    name: str
    flow: Json
    inputs: Json = field(default_factory=dict)
    answers: tuple[Any, ...] = ()
    why: str = ""
    """Where the runtimes differ: what the language says, or why we chose so."""


def port(title: str, kind: Any = "string", **more: Any) -> Json:
    return {"title": title, **({"type": kind} if isinstance(kind, str) else kind), **more}


def node(kind: str, name: str, **more: Any) -> Json:
    return {"component_type": kind, "id": name, "name": name, **more}


def tool(name: str, inputs: Sequence[Json], outputs: Sequence[Json]) -> Json:
    about = {"description": name, "inputs": list(inputs), "outputs": list(outputs)}
    return node("ServerTool", name, **about)


SQUARE = tool("square", [port("x", "number")], [port("y", "number")])
FAIL = tool("fail", [port("x", "number")], [port("y", "number")])
COUNT = tool("count", [port("n", "integer")], [port("m", "integer")])
IS_DONE = tool("is_done", [port("n", "integer")], [port("done")])
ECHO = tool("echo", [port("text")], [port("said")])
TRUE = tool("is_true", [], [port("flag", "boolean")])
OBJECT = tool("make_object", [], [port("thing", "object")])


def start(*ports: Json) -> Json:
    return node("StartNode", "start", inputs=list(ports), outputs=list(ports))


def end(*ports: Json, name: str = "end", branch: str = "next") -> Json:
    return node("EndNode", name, inputs=list(ports), outputs=list(ports), branch_name=branch)


def call(name: str, of: Json) -> Json:
    return node("ToolNode", name, tool=of, inputs=of["inputs"], outputs=of["outputs"])


def flow(
    *nodes: Json,
    routes: Sequence[tuple[str, str, str]] = (),
    data: Sequence[tuple[str, str, str, str]] | None = (),
    outputs: Sequence[Json] | None = None,
    name: str = "flow",
) -> Json:
    """routes: (from, branch, to), in addition to those from each node to the next where none leaves it."""
    left = {source for source, _, _ in routes}
    ways = [*routes]
    for one, other in pairwise(nodes):
        if one["id"] not in left and one["component_type"] != "EndNode":
            ways.append((one["id"], "", other["id"]))
    ends = [one for one in nodes if one["component_type"] == "EndNode"]
    own = outputs if outputs is not None else ends[0]["outputs"]
    edges = None if data is None else [_data(index, *edge) for index, edge in enumerate(data)]
    return {
        **node("Flow", name), "agentspec_version": "26.1.2",
        "inputs": nodes[0]["inputs"], "outputs": list(own), "start_node": _ref("start"),
        "nodes": [_ref(one["id"]) for one in nodes],
        "control_flow_connections": [_control(index, *way) for index, way in enumerate(ways)],
        "data_flow_connections": edges,
        "$referenced_components": {one["id"]: copy.deepcopy(one) for one in nodes},
    }  # fmt: skip


def inner(made: Json, prefix: str) -> Json:
    """A flow inside another: its components have ids of their own."""
    renamed = {name: f"{prefix}_{name}" for name in made["$referenced_components"]}

    def rename(value: Any) -> Any:
        if isinstance(value, list):
            return [rename(one) for one in value]
        if not isinstance(value, dict):
            return value
        found = {key: rename(member) for key, member in value.items()}
        if "$component_ref" in found:
            found["$component_ref"] = renamed.get(found["$component_ref"], found["$component_ref"])
        if found.get("component_type") in {"ControlFlowEdge", "DataFlowEdge", "ServerTool"}:
            found["id"] = f"{prefix}_{found['id']}"
        elif found.get("id") in renamed:
            found["id"] = renamed[found["id"]]
        return found

    block = {renamed[name]: rename(one) for name, one in made["$referenced_components"].items()}
    rest = {key: value for key, value in made.items() if key != "agentspec_version"}
    about = {"id": prefix, "name": prefix, "$referenced_components": block}
    return {**rename({**rest, "$referenced_components": {}}), **about}


def _ref(name: str) -> Json:
    return {"$component_ref": name}


def _control(index: int, source: str, branch: str, target: str) -> Json:
    return {
        **node("ControlFlowEdge", f"c{index}"), "from_node": _ref(source),
        "from_branch": branch or None, "to_node": _ref(target),
    }  # fmt: skip


def _data(index: int, source: str, output: str, target: str, into: str) -> Json:
    return {
        **node("DataFlowEdge", f"d{index}"), "source_node": _ref(source), "source_output": output,
        "destination_node": _ref(target), "destination_input": into,
    }  # fmt: skip


def _branching(mapping: Json, *more: tuple[str, str, str], key: Any = "string") -> Json:
    title = port("key", key)
    own = port("branching_mapping_key")
    return flow(
        start(title),
        node("BranchingNode", "choose", mapping=mapping, inputs=[own], outputs=[],
             branches=sorted({*mapping.values(), "default"})),
        call("left", {**ECHO, "id": "echo-left"}), end(port("said"), name="end"),
        call("right", {**ECHO, "id": "echo-right"}), end(port("said"), name="end2"),
        routes=[("choose", "a", "left"), ("choose", "default", "right"), ("left", "", "end"),
                ("right", "", "end2"), *more],
        data=[("start", "key", "choose", "branching_mapping_key"), ("start", "key", "left", "text"),
              ("start", "key", "right", "text"), ("left", "said", "end", "said"),
              ("right", "said", "end2", "said")],
    )  # fmt: skip


def _squares(kind: str, reducer: str | None = None) -> Json:
    one = flow(start(port("x", "number")), call("square_node", SQUARE), end(port("y", "number")),
               data=[("start", "x", "square_node", "x"), ("square_node", "y", "end", "y")])  # fmt: skip
    lists = {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]}
    collected: Any = (
        {"type": "array", "items": {"type": "number"}} if reducer in {None, "append"} else "number"
    )
    about = {"reducers": {"y": reducer}} if reducer else {}
    each = node(kind, "each", subflow=inner(one, "inside"), inputs=[port("iterated_x", lists)],
                outputs=[port("collected_y", collected)], **about)  # fmt: skip
    numbers = port("numbers", {"type": "array", "items": {"type": "number"}})
    return flow(start(numbers), each, end(port("collected_y", collected)),
                data=[("start", "numbers", "each", "iterated_x"), ("each", "collected_y", "end", "collected_y")])  # fmt: skip


def _catching(of: Json, *, node_default: bool) -> Json:
    inside = flow(start(port("x", "number")), call("try_it", of), end(port("y", "number")),
                  data=[("start", "x", "try_it", "x"), ("try_it", "y", "end", "y")],
                  outputs=[port("y", "number") if node_default else port("y", "number", default=-1)])  # fmt: skip
    told = port(
        "caught_exception_info", {"anyOf": [{"type": "string"}, {"type": "null"}]}, default=None
    )
    given = port("y", "number", default=-1)
    return flow(
        start(port("x", "number")),
        node("CatchExceptionNode", "careful", subflow=inner(inside, "inside"), inputs=[port("x", "number")],
             outputs=[given, told], branches=["caught_exception_branch", "next"]),
        end(port("y", "number")),
        routes=[("careful", "next", "end"), ("careful", "caught_exception_branch", "end")],
        data=[("start", "x", "careful", "x"), ("careful", "y", "end", "y")],
    )  # fmt: skip


def _asking() -> Json:
    return flow(
        start(),
        node("InputMessageNode", "ask", message="Who?", inputs=[], outputs=[port("name")]),
        call("say", ECHO), end(port("said")),
        data=[("ask", "name", "say", "text"), ("say", "said", "end", "said")],
    )  # fmt: skip


def _around(made: Json) -> Json:
    inside = inner(made, "inside")
    return flow(
        start(*made["inputs"]), node("FlowNode", "run", subflow=inside, inputs=made["inputs"], outputs=made["outputs"],
                                     branches=["next"]), end(*made["outputs"]),
        data=[*(("start", one["title"], "run", one["title"]) for one in made["inputs"]),
              *(("run", one["title"], "end", one["title"]) for one in made["outputs"])],
    )  # fmt: skip


def _loop() -> Json:
    return flow(
        start(port("n", "integer")), call("step", COUNT), call("test", IS_DONE),
        node("BranchingNode", "choose", mapping={"yes": "out"}, inputs=[port("branching_mapping_key")], outputs=[],
             branches=["default", "out"]),
        end(port("m", "integer")),
        routes=[("choose", "out", "end"), ("choose", "default", "step")],
        data=[("start", "n", "step", "n"), ("step", "m", "step", "n"), ("step", "m", "test", "n"),
              ("test", "done", "choose", "branching_mapping_key"), ("step", "m", "end", "m")],
    )  # fmt: skip


def _parallel() -> Json:
    halves = [
        inner(
            flow(start(port(into, "number")), call("square_node", {**SQUARE, "inputs": SQUARE["inputs"]}),
                 end(port(out, "number")),
                 data=[("start", into, "square_node", "x"), ("square_node", "y", "end", out)]),
            f"half_{out}",
        )
        for into, out in (("a", "first"), ("b", "second"))
    ]  # fmt: skip
    ins = [port("a", "number"), port("b", "number")]
    outs = [port("first", "number"), port("second", "number")]
    return flow(
        start(*ins), node("ParallelFlowNode", "both", subflows=halves, inputs=ins, outputs=outs), end(*outs),
        data=[*(("start", one["title"], "both", one["title"]) for one in ins),
              *(("both", one["title"], "end", one["title"]) for one in outs)],
    )  # fmt: skip


def _casting(of: Json, out: str, kind: str) -> Json:
    return flow(start(), call("make", of), end(port("value", kind)), data=[("make", out, "end", "value")])  # fmt: skip


def list_cases() -> Iterator[Case]:
    squares = flow(start(port("x", "number")), call("work", SQUARE), end(port("y", "number")),
                   data=[("start", "x", "work", "x"), ("work", "y", "end", "y")])  # fmt: skip
    yield Case(name="a tool", flow=squares, inputs={"x": 3})
    yield Case(name="an input with a wrong type", flow=squares, inputs={"x": "three"},
               why="A value is checked against the schema of its input before the run begins.")  # fmt: skip
    yield Case(name="an input that is missing", flow=squares, inputs={},
               why="An input without a value and without a default is asked for before the run; none of its nodes runs.")  # fmt: skip
    yield Case(name="an input that is not declared", flow=squares, inputs={"x": 3, "z": 1},
               why="A name that the flow does not declare is told to the caller and left out.")  # fmt: skip
    branching = _branching({"a": "a"})
    yield Case(name="a branch by its key", flow=branching, inputs={"key": "a"})
    yield Case(name="the default branch", flow=branching, inputs={"key": "b"})
    flags = flow(
        start(), call("make", TRUE),
        node("BranchingNode", "choose", mapping={"true": "yes"}, inputs=[port("branching_mapping_key")], outputs=[],
             branches=["default", "yes"]),
        end(), end(name="end2", branch="other"),
        routes=[("choose", "yes", "end"), ("choose", "default", "end2")],
        data=[("make", "flag", "choose", "branching_mapping_key")],
    )  # fmt: skip
    yield Case(name="a branch by a boolean", flow=flags,
               why="A value becomes a string by its JSON text, `true`, before it is compared with the keys.")  # fmt: skip
    for reducer in (None, "sum", "average", "max", "min"):
        name = f"a map, {reducer}" if reducer else "a map"
        yield Case(name=name, flow=_squares("MapNode", reducer), inputs={"numbers": [1, 2, 3]},
                   why="The reducer of an output says how its values are put together." if reducer else "")  # fmt: skip
    yield Case(name="a map over nothing", flow=_squares("MapNode"), inputs={"numbers": []})
    yield Case(name="the greatest of nothing", flow=_squares("MapNode", "max"), inputs={"numbers": []},
               why="There is no greatest of no values: the output is null.")  # fmt: skip
    yield Case(name="a parallel map", flow=_squares("ParallelMapNode"), inputs={"numbers": [3, 1, 2]},
               why="The adapter has no ParallelMapNode.")  # fmt: skip
    yield Case(name="parallel flows", flow=_parallel(), inputs={"a": 2, "b": 3},
               why="The adapter has no ParallelFlowNode.")  # fmt: skip
    yield Case(name="a flow inside", flow=_around(squares), inputs={"x": 3})
    for fails in (False, True):
        for node_default in (False, True):
            where = "the node" if node_default else "the subflow"
            name = (
                f"an error that is caught, default of {where}"
                if fails
                else f"no error, default of {where}"
            )
            yield Case(name=name, flow=_catching(FAIL if fails else SQUARE, node_default=node_default), inputs={"x": 3},
                       why="After a failure the outputs have the defaults of the node, else of the subflow.")  # fmt: skip
    yield Case(name="a question", flow=_asking(), answers=("Ada",))
    yield Case(name="a question in a flow inside", flow=_around(_asking()), answers=("Ada",),
               why="The question of a flow inside is asked like any other.")  # fmt: skip
    yield Case(name="a loop of 40 rounds", flow=_loop(), inputs={"n": 0})
    yield Case(name="an object as a string", flow=_casting(OBJECT, "thing", "string"),
               why="A value becomes a string by its JSON text.")  # fmt: skip
    yield Case(name="a boolean as an integer", flow=_casting(TRUE, "flag", "integer"),
               why="A boolean becomes a number: true is 1.")  # fmt: skip
    two = flow(
        start(port("x")), call("one", {**ECHO, "id": "e1"}), call("two", {**ECHO, "id": "e2"}), end(port("said")),
        data=[("start", "x", "one", "text"), ("one", "said", "two", "text"), ("one", "said", "end", "said"),
              ("two", "said", "end", "said")],
    )  # fmt: skip
    yield Case(name="two sources of one input", flow=two, inputs={"x": "hi"})
    named = flow(start(port("text")), call("say", ECHO), end(port("said")), data=None)
    yield Case(name="no data edges: by name", flow=named, inputs={"text": "hi"})
    none = flow(start(port("text")), call("say", ECHO), end(port("said")), data=[])
    yield Case(name="an empty list of data edges", flow=none, inputs={"text": "hi"},
               why="An empty list connects nothing, so that the tool has no input.")  # fmt: skip
    short = flow(
        start(port("x")), end(port("x")), data=[("start", "x", "end", "x")],
        outputs=[port("x"), port("more", default="none")],
    )  # fmt: skip
    yield Case(name="an output with a default that no end has", flow=short, inputs={"x": "hi"},
               why="An output that the reached end does not have takes the default of the flow.")  # fmt: skip
    yield Case(name="two edges from one branch", flow=_branching({"a": "a"}, ("choose", "a", "right")), inputs={"key": "a"},
               why="One branch has one edge: the file is refused.")  # fmt: skip
    yield Case(name="an edge from a branch that is not there", flow=_branching({"a": "a"}, ("choose", "c", "right")),
               inputs={"key": "a"}, why="The file is refused.")  # fmt: skip
    loose = flow(
        start(port("key")),
        node("BranchingNode", "choose", mapping={"a": "a"}, inputs=[port("branching_mapping_key")], outputs=[],
             branches=["a", "default"]),
        end(port("key")), routes=[("choose", "a", "end")],
        data=[("start", "key", "choose", "branching_mapping_key"), ("start", "key", "end", "key")],
    )  # fmt: skip
    yield Case(name="a branch that leads nowhere", flow=loose, inputs={"key": "b"},
               why="A run could end nowhere: the file is refused.")  # fmt: skip
    said = flow(
        start(port("x")),
        node("OutputMessageNode", "say", message="I say {{x}} and {{ x }} {{y}}", inputs=[port("x")], outputs=[]),
        end(port("x")), data=[("start", "x", "say", "x"), ("start", "x", "end", "x")],
    )  # fmt: skip
    yield Case(name="a placeholder without an input", flow=said, inputs={"x": "{{x}}"},
               why="The inputs of a node follow from its placeholders: one that is not declared is a mistake.")  # fmt: skip
