"""A checked flow as a plan: each node with what it does, without anything of a host.

In: `FlowIR` and the approval that it implies.  Out: `cinatra_sdk.flow.plan.FlowPlan`, of which the
SDK makes a graph, and `emit/` a module.
"""

from __future__ import annotations

from collections.abc import Collection

from cinatra_sdk.flow.plan import FlowPlan, NodePlan, PlannedFeed, PlannedRoute
from oas_compiler.control.approval import Approval
from oas_compiler.control.hearing import find_heard_gates
from oas_compiler.ir import AT_MOST_ONCE, FlowIR, Node, Path, open_flows
from oas_compiler.lower.registry import PlanSite, plain_ports, plan_work
from oas_compiler.lower.reopening import returning_to
from oas_compiler.text.safe import safe


def plan_flow(flow: FlowIR, approval: Approval) -> FlowPlan:
    """The plan of `flow`.

    Its edges stand in the order of its nodes, so that flows that say the same have equal plans.
    """
    return _plan_flow(flow, approval, (), find_heard_gates(flow))


def _plan_flow(flow: FlowIR, approval: Approval, around: Path, heard: Collection[Path]) -> FlowPlan:
    """around: the path of the node that runs the flow.  heard: see `find_heard_gates`."""
    nodes = tuple(_plan_node(flow, node, approval, around, heard) for node in flow.nodes)
    return FlowPlan(
        id=flow.id,
        name=flow.name,
        outputs=plain_ports(flow.outputs),
        start=flow.start,
        nodes=nodes,
        routes=tuple(
            PlannedRoute(node.id, branch, target)
            for node in nodes
            for branch, target in flow.routes_of(node.id).items()
        ),
        feeds=tuple(
            PlannedFeed(edge.source, edge.output, edge.target, edge.input)
            for node in nodes
            for port in node.inputs
            for edge in flow.feeds.get((node.id, port.title), ())
        ),
    )


def _plan_node(
    flow: FlowIR, node: Node, approval: Approval, around: Path, heard: Collection[Path]
) -> NodePlan:
    path = (*around, node.id)
    inside = tuple(
        _plan_flow(inner, approval, place, heard) for place, inner in open_flows(node, path)
    )
    site = PlanSite(
        node=node, flow=flow, path=path, approval=approval, inside=inside, is_heard=path in heard
    )
    shown = safe(node.name)
    return NodePlan(
        id=node.id,
        name=node.name,
        shown="" if shown == node.name else shown,
        work=plan_work(site),
        inputs=plain_ports(node.inputs),
        outputs=plain_ports(node.outputs),
        branches=node.branches,
        risk=node.risk_class or node.behind.risk_class,
        once=node.effect == AT_MOST_ONCE,
        after=returning_to(flow, node),
    )
