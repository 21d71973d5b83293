"""Small plain documents of Agent Spec, and what becomes of them.

outcome = run(line(start(port("x")), end(port("x"))), {"x": "1"})    ->   completed, {"x": "1"}
codes_of(document)                                                   ->   {"OAS064"}
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from benchmarks.differential.cases import call, end, flow, inner, node, port, start, tool
from cinatra_sdk.testing import Result, drive
from oas_compiler import CompileError, check, compile_flow

__all__ = ["call", "end", "flow", "inner", "node", "port", "start", "tool"]

Json = dict[str, Any]
NULLABLE: Json = {"anyOf": [{"type": "string"}, {"type": "null"}]}
BRANCHING_KEY = "branching_mapping_key"


def array(items: str | Json) -> Json:
    return {"type": "array", "items": {"type": items} if isinstance(items, str) else items}


def line(*nodes: Json, **more: Any) -> Json:
    """Nodes one after the other; each takes equal names from the nodes before it."""
    return flow(*nodes, data=None, **more)


def around(one: Json, inputs: Sequence[Json] = (), outputs: Sequence[Json] = ()) -> Json:
    """A flow of one node that has these inputs and outputs."""
    return flow(
        start(*inputs), one, end(*outputs),
        data=[*(("start", own["title"], one["id"], own["title"]) for own in inputs),
              *((one["id"], own["title"], "end", own["title"]) for own in outputs)],
    )  # fmt: skip


def ref(name: str) -> Json:
    return {"$component_ref": name}


def parts(document: Json) -> Json:
    found: Json = document["$referenced_components"]
    return found


def changed(document: Json, change: Callable[[Json], object]) -> Json:
    """A copy after a change."""
    made = copy.deepcopy(document)
    change(made)
    return made


def add(document: Json, *nodes: Json) -> None:
    """Lists further nodes."""
    for one in nodes:
        parts(document)[one["id"]] = one
        document["nodes"].append(ref(one["id"]))


def lead(document: Json, source: str, target: str, branch: str | None = None) -> None:
    """A further control edge."""
    edges = document["control_flow_connections"]
    edges.append(
        {**node("ControlFlowEdge", f"more{len(edges)}"), "from_node": ref(source),
         "from_branch": branch, "to_node": ref(target)}
    )  # fmt: skip


def feed(document: Json, source: str, output: str, target: str, into: str) -> None:
    """A further data edge."""
    edges = document["data_flow_connections"]
    edges.append(
        {**node("DataFlowEdge", f"fed{len(edges)}"), "source_node": ref(source), "source_output": output,
         "destination_node": ref(target), "destination_input": into}
    )  # fmt: skip


def run(
    document: Json, inputs: Mapping[str, Any] | None = None, *, answers: Any = None, **parts_: Any
) -> Result:
    return drive(compile_flow(document, **parts_), inputs or {}, answers=answers)


def codes_of(document: Json) -> set[str]:
    """The codes of the errors for which a document is refused; tools are the host's."""
    refused: set[str] = set()
    try:
        compile_flow(document)
    except CompileError as error:
        refused = {one.code for one in error.diagnostics.errors} - {"OAS092"}
    assert refused <= {one.code for one in check(document).errors}
    return refused


class Waiting:
    """A run of a plain graph, resumed by values."""

    def __init__(
        self, document: Json, inputs: Mapping[str, Any] | None = None, **more: Any
    ) -> None:
        self.flow = compile_flow(document, **more)
        self.graph = self.flow.graph(InMemorySaver())
        self.config = self.flow.config(run_id="r")
        self.context = self.flow.context(run_id="r")
        self.state = self._invoke(self.flow.input(inputs or {}))

    @property
    def interrupts(self) -> list[Any]:
        return list(self.graph.get_state(self.config).interrupts)

    def resume(self, value: Any) -> Any:
        self.state = self._invoke(Command(resume=value))
        return self.state.get("outputs")

    def _invoke(self, given: Any) -> Any:
        return self.graph.invoke(given, self.config, context=self.context)
