"""Where the parts of an edge stand in the file.

    part_of(subject, route.place, "to_node")   ->   the place of that member of the edge

Not a rule.  An edge that the author did not write stands where the flow or its node stands.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.ir import DataEdge, FlowIR, Place
from oas_compiler.text.marks import child


def part_of(subject: Subject, edge: Place, member: str) -> Place:
    """The place of one member of an edge that is written in the file."""
    return subject.place(child(edge.pointer, member))


def input_of(subject: Subject, flow: FlowIR, edge: DataEdge) -> Place:
    """The place of `destination_input`; of an edge that is implied, the place it has."""
    target = flow.by_id.get(edge.target)
    implied = edge.place == flow.place or (target is not None and edge.place == target.place)
    return edge.place if implied else part_of(subject, edge.place, "destination_input")
