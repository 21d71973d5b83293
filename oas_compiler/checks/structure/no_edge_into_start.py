"""Nothing leads back into the StartNode: a run enters it once.

an edge with "to_node": start   ->   OAS046
"""

from __future__ import annotations

from oas_compiler.checks.structure.edges import part_of
from oas_compiler.checks.subject import Subject
from oas_compiler.ir import StartNode
from oas_compiler.rules import Report, rule


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
        for route in flow.routes:
            if isinstance(flow.by_id.get(route.target), StartNode):
                place = part_of(subject, route.place, "to_node")
                following = next(iter(flow.routes_of(route.target).values()), "")
                report(
                    f'a control edge leads from "{route.source[:80]}" into the StartNode '
                    f'"{route.target[:80]}"',
                    place,
                    hint=f'lead it to "{following[:80]}", which comes after the StartNode'
                    if following
                    else "lead it to the node after the StartNode",
                )
