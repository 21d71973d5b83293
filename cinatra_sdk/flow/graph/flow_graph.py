"""`FlowGraph`: a flow written in Python in the way of a LangGraph graph, nodes first and then edges.

A flow ends at each `End` node; no edge leads to an end.

    graph = FlowGraph("greeting", outputs=[port("text", STRING)])
    graph.add_node("start", Start(), inputs=[port("name", STRING)])
    graph.add_node(
        "greet",
        TextTemplate(template="Hello {{ name }}"),
        inputs=[port("name", STRING)],
        feeds={"name": "start.name"},
        outputs=[port("text", STRING)],
    )
    graph.add_node("end", End(), inputs=[port("text", STRING)], feeds={"text": "greet.text"})
    graph.set_entry_point("start")
    graph.add_edge("start", "greet")
    graph.add_edge("greet", "end")

`oasflow emit` writes such modules.  `written_flow` makes a flow of the graph, for runs in a store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.flow.nodes.gate_node import HumanGate
from cinatra_sdk.flow.nodes.start_and_end import End, Start
from cinatra_sdk.flow.nodes.value_nodes import DEFAULT, Branching
from cinatra_sdk.flow.plan.plan import (
    FlowPlan,
    NodePlan,
    NodeWork,
    PlannedFeed,
    PlannedRoute,
    walk_plan_paths,
)

# ----------------------------------------------------------------------------
# Whether a plan that somebody wrote can run; a plan of a checked file always can.
#
# a node without a way on      ->  ValueError: node 'greet' has no edge to a next node, and is no End


def require_runnable(plan: FlowPlan) -> None:
    """Raise `ValueError`, which names the node, for a flow that would stop in its middle."""
    if not isinstance(plan.start_node.work, Start):
        raise ValueError(  # noqa: TRY004 - a mistake in the graph, not of a type
            f"node '{plan.start}' begins the flow '{plan.id}', and is no Start"
        )
    for node in plan.nodes:
        _require_way_on(plan, node)
        if isinstance(node.work, Branching):
            _require_branches(plan, node, node.work)
        if isinstance(node.work, HumanGate):
            if len(node.outputs) != 1:
                raise ValueError(f"node '{node.id}' is a gate, and has not exactly one output")
            _require_known(plan, node, (*node.work.shows, *node.work.again))
        _require_known(plan, node, node.after)


def require_guarded_nodes(plan: FlowPlan, guards: Iterable[tuple[int, str, str]]) -> None:
    """Raise `ValueError` where a guard names a gate or a send that the flow does not have.

    guards: (step, gate, send), each node by its path, with the place of a flow among several:
            `both/[0]/review`.
    """
    by_path = {"/".join(path): node for path, node in walk_plan_paths(plan)}
    for step, gate, send in guards:
        if gate not in by_path:
            raise ValueError(f"guard of step {step}: '{gate}' is no node of the flow '{plan.id}'")
        if send not in by_path:
            raise ValueError(f"guard of step {step}: '{send}' is no node of the flow '{plan.id}'")
        work = by_path[gate].work
        if not (work.asks or work.asks_person):
            raise ValueError(f"guard of step {step}: node '{gate}' asks nobody")


def _require_way_on(plan: FlowPlan, node: NodePlan) -> None:
    routes = plan.routes_of(node.id)
    if isinstance(node.work, End):
        if routes:
            raise ValueError(f"node '{node.id}' is an End, and an edge leads on from it")
        return
    if not routes:
        raise ValueError(f"node '{node.id}' has no edge to a next node, and is no End")


def _require_branches(plan: FlowPlan, node: NodePlan, work: Branching) -> None:
    if len(node.inputs) != 1:
        raise ValueError(f"node '{node.id}' branches by one input, and has {len(node.inputs)}")
    routes = plan.routes_of(node.id)
    if DEFAULT in routes:
        return
    missing = [branch for branch in (*work.mapping.values(), DEFAULT) if branch not in routes]
    raise ValueError(f"node '{node.id}' has no edge by its branch '{missing[0]}'")


def _require_known(plan: FlowPlan, node: NodePlan, named: Iterable[str]) -> None:
    for other in named:
        if other not in plan.by_id:
            raise ValueError(f"node '{node.id}' names '{other}', which is no node of '{plan.id}'")


Source: TypeAlias = str | tuple[str, str]
"""`node.output`, or the two where a point stands in the name of the output."""
_NEXT: Final = "next"


class FlowGraph:
    """A flow under construction; `plan()` checks it and returns its plan."""

    def __init__(self, flow_id: str, *, name: str = "", outputs: Sequence[TypedPort] = ()) -> None:
        self._id, self._name, self._outputs = flow_id, name, tuple(outputs)
        self._nodes: dict[str, NodePlan] = {}
        self._given_branches: dict[str, tuple[str, ...] | None] = {}
        self._routes: list[PlannedRoute] = []
        self._routes_by_source: dict[str, list[PlannedRoute]] = {}
        self._feeds: list[PlannedFeed] = []
        self._start = ""

    def add_node(
        self,
        node_id: str,
        work: NodeWork,
        *,
        name: str = "",
        shown: str = "",
        inputs: Sequence[TypedPort] = (),
        feeds: Mapping[str, Source | Sequence[Source]] | None = None,
        outputs: Sequence[TypedPort] = (),
        branches: Sequence[str] | None = None,
        risk: str = "",
        once: bool = False,
        after: Sequence[str] = (),
    ) -> None:
        """Add a node with this work under an id.

        name:     for people.  shown: in pictures, where the name cannot stand there.
        feeds:    input → the output that feeds it, or several: the one that ran last counts.
        outputs:  those of a start and an end are their inputs, where none are given.
        branches: its ways out, where no edge leaves by some of them.
        risk:     risk class of what it does.  once: whether that happens at most once.
        after:    nodes without an edge to it that may come back here.

        Raises: `ValueError` for an id that is there already, and for a feed of no input.
        """
        if node_id in self._nodes:
            raise ValueError(f"the flow '{self._id}' has two nodes with the id '{node_id}'")
        titles = {one.title for one in inputs}
        for title, sources in (feeds or {}).items():
            if title not in titles:
                raise ValueError(f"node '{node_id}' has no input '{title}' to be fed")
            for source, output in _read_sources(sources):
                self._feeds.append(PlannedFeed(source, output, node_id, title))
        self._given_branches[node_id] = None if branches is None else tuple(branches)
        self._nodes[node_id] = NodePlan(
            id=node_id,
            name=name,
            shown=shown,
            work=work,
            inputs=tuple(inputs),
            outputs=tuple(inputs if not outputs and isinstance(work, (Start, End)) else outputs),
            risk=risk,
            once=once,
            after=tuple(after),
        )

    def set_entry_point(self, node_id: str) -> None:
        """Say which node begins.

        Raises: `ValueError` where another one does.
        """
        if self._start not in ("", node_id):
            raise ValueError(f"the flow '{self._id}' has two nodes that begin")
        self._start = node_id

    def add_edge(self, source: str, target: str, *, branch: str = _NEXT) -> None:
        """Add a way from a node to the next one.

        Raises: `ValueError` for a second way by one branch.
        """
        for route in self._routes_by_source.setdefault(source, []):
            if route.branch == branch:
                raise ValueError(f"node '{source}' has two edges by the branch '{branch}'")
        made = PlannedRoute(source, branch, target)
        self._routes_by_source[source].append(made)
        self._routes.append(made)

    def add_branches(self, source: str, targets: Mapping[str, str]) -> None:
        """Add a way for each branch of a node."""
        for branch, target in targets.items():
            self.add_edge(source, target, branch=branch)

    def plan(self) -> FlowPlan:
        """The flow as plain data.

        Raises: `ValueError` for a graph that could not run: no node begins, a way leads to or from no
        node, a node has no way on.
        """
        if not self._start:
            raise ValueError(f"the flow '{self._id}' has no entry point")
        self._require_node(self._start, "the entry point is")
        for route in self._routes:
            self._require_node(route.source, "an edge leads from")
            self._require_node(route.target, "an edge leads to")
        for feed in self._feeds:
            self._require_node(feed.source, f"'{feed.target}.{feed.input}' is fed by")
            outputs = {one.title for one in self._nodes[feed.source].outputs}
            if feed.output not in outputs:
                raise ValueError(f"node '{feed.source}' has no output '{feed.output}'")
        plan = FlowPlan(
            id=self._id,
            name=self._name or self._id,
            outputs=self._outputs,
            start=self._start,
            nodes=tuple(self._complete(node) for node in self._nodes.values()),
            routes=tuple(self._routes),
            feeds=tuple(self._feeds),
        )
        require_runnable(plan)
        return plan

    def _complete(self, node: NodePlan) -> NodePlan:
        given = self._given_branches[node.id]
        if given is None:
            given = () if isinstance(node.work, End) else self._list_branches(node.id)
        return NodePlan(
            **{name: getattr(node, name) for name in NodePlan.__slots__ if name != "branches"},
            branches=given,
        )

    def _list_branches(self, node_id: str) -> tuple[str, ...]:
        return tuple(route.branch for route in self._routes_by_source.get(node_id, ()))

    def _require_node(self, node_id: str, what: str) -> None:
        if node_id not in self._nodes:
            raise ValueError(f"{what} '{node_id}', which is no node of the flow '{self._id}'")


def _read_sources(given: Source | Sequence[Source]) -> Iterator[tuple[str, str]]:
    if isinstance(given, (str, tuple)):
        yield _read_source(given)
    else:
        for source in given:
            yield _read_source(source)


def _read_source(given: Source) -> tuple[str, str]:
    if isinstance(given, tuple):
        return given
    node, _, output = given.rpartition(".")
    return node, output
