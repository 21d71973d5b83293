"""The findings that unreadable parts of a flow explain, so that one flaw makes one finding.

    an edge whose "to_node" names nothing      ->  its branch does lead somewhere
    an entry of `nodes` that names nothing     ->  an edge to a node that is not listed is no news

Not a rule.  In: a flow.  Out: answers for the rules about missing parts, which ask here first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Final

from cinatra_sdk.text.spelling import LONGEST_COMPARED
from oas_compiler.ir import EndNode, FlowIR, Node, Place, StartNode, UnknownNode
from oas_compiler.text.marks import child

_MOST_PAIRS: Final = 100
"""Names that are compared with each other."""


class Gaps:
    """The gaps of one flow, arranged for lookup."""

    def __init__(self, flow: FlowIR) -> None:
        self.nodes = flow.lacks_nodes
        """Whether an entry of `nodes` could not be read."""
        routes = [gap for gap in flow.gaps if gap.kind == "route"]
        self.route_sources = frozenset(gap.source for gap in routes)
        """Ids that an unreadable control edge leaves from; "" where any node may be meant."""
        self.route_targets = frozenset(gap.target for gap in routes)
        self._branches = frozenset((gap.source, gap.branch) for gap in routes)
        self._fed = frozenset((gap.target, gap.input) for gap in flow.gaps if gap.kind == "data")
        self._ports = flow.unread_ports

    def may_leave(self, node: str, branch: str) -> bool:
        """Whether an unreadable control edge may leave `node` by `branch`."""
        return not self._branches.isdisjoint({(node, branch), ("", branch), (node, ""), ("", "")})

    def may_feed(self, node: str, title: str) -> bool:
        """Whether an unreadable data edge may end at the input `title` of `node`."""
        return not self._fed.isdisjoint({(node, title), ("", title), (node, ""), ("", "")})

    def hides_ports(self, node: Node) -> bool:
        """Whether a node may have inputs and outputs that are not known."""
        if is_vague(node) or node.id in self._ports:
            return True
        return "" in self._ports and isinstance(node, (StartNode, EndNode))


def unlisted(flow: FlowIR) -> Mapping[str, Place]:
    """Nodes that control edges name and `nodes` does not list, each with the first such edge.

    Empty where an entry of `nodes` could not be read, which may be the one that is meant, and
    without the StartNode, which start_node names as well.
    """
    if flow.lacks_nodes:
        return {}
    found: dict[str, Place] = {}
    for route in flow.routes:
        for member, end in (("from_node", route.source), ("to_node", route.target)):
            if end not in flow.by_id and end != flow.start:
                found.setdefault(end, Place(child(route.place.pointer, member)))
    return found


def meant_by(wrong: Collection[str], known: Collection[str]) -> frozenset[str]:
    """The names among `known` that misspelt names mean; a finding reports the misspelling."""
    # a handful of wrong names is worth a comparison, hundreds are not
    if not wrong or len(wrong) * len(known) > _MOST_PAIRS:
        return frozenset()
    folded = {name.casefold() for name in wrong}
    short = [name for name in known if len(name) <= LONGEST_COMPARED]
    words = [word for word in wrong if len(word) <= LONGEST_COMPARED]
    near = {found for word in words for found in get_close_matches(word, short, n=1)}
    return frozenset(name for name in known if name in near or name.casefold() in folded)


def is_vague(node: Node) -> bool:
    """Whether the ports and branches of a node are not known, for a reason that has its finding.

    A node of a type that cannot be built, or one over a flow that is not all there.
    """
    if isinstance(node, UnknownNode):
        return True
    return any(not flow.is_whole for flow in node.subflows)
