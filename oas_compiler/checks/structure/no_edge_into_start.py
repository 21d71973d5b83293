"""Nothing leads back into the StartNode: a run enters it once.

an edge with "to_node": start   ->   OAS046
"""

from __future__ import annotations

from oas_compiler.checks.lookup.edges import Turned, part_of
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import StartNode


@rule(
    code="OAS046",
    name="no-edge-into-start",
    severity="error",
    summary="A control edge leads into the StartNode.",
    fix="Lead the loop to the node after the StartNode.",
    source="Agent Spec, control flow",
    needs="flow",
    bad='{…, "from_node": {"$component_ref": "retry"}, "to_node": {"$component_ref": "start"}}',
    good='{…, "from_node": {"$component_ref": "retry"}, "to_node": {"$component_ref": "write"}}',
)
def no_edge_into_start(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        # a second StartNode is OAS040
        starts = [node for node in flow.nodes if isinstance(node, StartNode)]
        turned = Turned(flow)
        for route in flow.routes:
            is_start = isinstance(flow.by_id.get(route.target), StartNode)
            if is_start and (len(starts) < 2 or route.target == flow.start):
                place = part_of(subject, route.place, "to_node")
                following = next(iter(flow.routes_of(route.target).values()), "")
                is_turned = route in turned.routes
                report(
                    f'a control edge leads from "{route.source[:80]}" into the StartNode '
                    f'"{route.target[:80]}"',
                    place,
                    hint=f'turn it round: from_node "{route.target[:80]}", '
                    f'to_node "{route.source[:80]}"'
                    if is_turned
                    else f'lead it to "{following[:80]}", which comes after the StartNode'
                    if following
                    else "lead it to the node after the StartNode",
                )
