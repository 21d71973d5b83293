"""Whether a plan that somebody wrote can run; a plan of a checked file always can.

a node without a way on      ->  ValueError: node 'greet' has no edge to a next node, and is no End
"""

from __future__ import annotations

from collections.abc import Iterable

from cinatra_sdk.flow.nodes.branching import DEFAULT, Branching
from cinatra_sdk.flow.nodes.end import End
from cinatra_sdk.flow.nodes.gate import HumanGate
from cinatra_sdk.flow.nodes.start import Start
from cinatra_sdk.flow.plan import FlowPlan, NodePlan, walk_plan_paths


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
