"""The node that an event tells of.

find_node(flow, "outer#2/each[3]/draft")  ->  the node `draft` of the flow inside `each` inside `outer`
"""

from __future__ import annotations

from cinatra_sdk.events.event import split_path
from oas_compiler.ir import FlowIR, Node


def find_node(flow: FlowIR, path: str) -> Node | None:
    """The node at a path of events; None where there is none."""
    flows: tuple[FlowIR, ...] = (flow,)
    node, place = None, 0
    for node_id, item in split_path(path):
        # Of one flow inside, the item is an element of a map; of several it is the flow's place.
        place = place if len(flows) > 1 else 0
        node = flows[place].by_id.get(node_id) if place < len(flows) else None
        if node is None:
            return None
        flows, place = node.subflows, item or 0
    return node
