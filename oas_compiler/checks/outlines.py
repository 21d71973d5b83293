"""Reads the outline of a document: nodes, control edges, and the flows inside the nodes.

    {"component_type": "MapNode", "id": "each", "subflow": {"$component_ref": "mail"}}
        -> OutlineNode(id="each", type="MapNode", inner=(Outline(pointer="/…/mail", …),))

Read from the document and not from the IR, so that maps, catch branches and parallel flows count
even if they cannot run yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from oas_compiler.checks.risk_words import means_send
from oas_compiler.control.outline import Outline, OutlineEdge, OutlineNode
from oas_compiler.document.scope import Document, Located
from oas_compiler.document.types import is_known, is_plugin_type
from oas_compiler.ir import JsonValue
from oas_compiler.kinds.registry import find_kind
from oas_compiler.text.bounds import MAX_DEPTH
from oas_compiler.text.marks import child


def read_outline(document: Document) -> Outline | None:
    """The root flow; `None` where the document's root is none."""
    root = document.root
    if root is None or root.component_type != "Flow":
        return None
    return _Reader(document).flow(root, ())


class _Reader:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._flows: dict[str, Outline] = {}

    def flow(self, located: Located, around: tuple[str, ...]) -> Outline:
        """Read a flow, each once; `around` are the pointers of the flows that it stands in."""
        if located.pointer in self._flows:
            return self._flows[located.pointer]
        located = self._document.enter(located)
        nodes: dict[str, OutlineNode] = {}
        by_id: dict[str, str] = {}
        for entry in _list_entries(located, "nodes"):
            node = self._document.locate(entry)
            if node is not None and node.component_type and node.pointer not in nodes:
                nodes[node.pointer] = self._read_node(node, (*around, located.pointer))
                by_id.setdefault(nodes[node.pointer].id, node.pointer)
        flow = Outline(
            pointer=located.pointer,
            start=self._end(located, "start_node", by_id),
            nodes=nodes,
            edges=self._read_edges(located, nodes, by_id),
        )
        self._flows[located.pointer] = flow
        return flow

    def _read_edges(
        self, located: Located, nodes: Mapping[str, OutlineNode], by_id: Mapping[str, str]
    ) -> dict[str, tuple[OutlineEdge, ...]]:
        """Pointer of a node → the edges out of it; those that could not be read are left out."""
        edges: dict[str, list[OutlineEdge]] = {}
        for entry in _list_entries(located, "control_flow_connections"):
            edge = self._document.locate(entry)
            if edge is None:
                continue
            source = self._end(edge, "from_node", by_id)
            target = self._end(edge, "to_node", by_id)
            # a run ends at an EndNode, even if an edge leaves it (OAS047)
            if source and target and nodes[source].type != "EndNode":
                branch = _read_text(edge, "from_branch") or "next"
                made = OutlineEdge(branch=branch, target=target, pointer=edge.pointer)
                edges.setdefault(source, []).append(made)
        return {source: tuple(found) for source, found in edges.items()}

    def _read_node(self, node: Located, around: tuple[str, ...]) -> OutlineNode:
        node = self._document.enter(node)
        own = _read_cinatra_block(node)
        behind = self._find_tool_or_agent(node)
        risk = _choose_risk_class(
            own.get("riskClass"), _read_cinatra_block(behind).get("riskClass")
        )
        runs = behind.value if behind is not None else None
        asks = isinstance(runs, dict) and runs.get("requires_confirmation") is True
        asks = asks or (behind is None and _find_member(node, "tool") is not None)
        if node.component_type == "AgentNode":
            approval = own.get(
                "requiresApproval", _read_cinatra_block(behind).get("requiresApproval")
            )
            asks = asks or approval is True
        return OutlineNode(
            pointer=node.pointer,
            id=_read_text(node, "id"),
            type=node.component_type,
            cinatra=own,
            risk_class=risk,
            sends=node.component_type != "InputMessageNode" and means_send(risk),
            confirmed=asks,
            branch=_read_text(node, "branch_name") or "next",
            inner=tuple(self._inner(node, around)),
            is_gap=self._is_gap(node),
        )

    def _is_gap(self, node: Located) -> bool:
        always_runs = _always_runs_a_flow(node)
        lacks_flow = always_runs and _find_member(node, "subflow") is None
        if lacks_flow or _is_misspelt(node):
            return True
        located = [self._document.locate(member) for member in _list_run_members(node)]
        if any(found is None or _is_misspelt(found) for found in located):
            return True
        types = {found.component_type for found in located if found is not None}
        wrong = {found for found in types if is_known(found)}
        return always_runs and not wrong <= {"Flow"}

    def _inner(self, node: Located, around: tuple[str, ...]) -> Iterator[Outline]:
        for member in _list_run_members(node):
            found = self._document.locate(member)
            if found is None or found.component_type != "Flow":
                continue
            # a flow inside itself, or too deep, was reported where it was read
            if found.pointer not in around and len(around) <= MAX_DEPTH:
                yield self.flow(found, around)

    def _find_tool_or_agent(self, node: Located) -> Located | None:
        """The tool or agent that the node runs."""
        member = _find_member(node, "tool") or _find_member(node, "agent")
        return self._document.locate(member) if member is not None else None

    def _end(self, located: Located, name: str, by_id: Mapping[str, str]) -> str:
        """Pointer of the flow's node that a member means; empty if it means no node.

        The id decides, as in load.py: a copy of a node, written in place of a reference, means the
        node that the flow lists.
        """
        member = _find_member(located, name)
        found = self._document.locate(member) if member is not None else None
        return by_id.get(_read_text(found, "id"), "") if found is not None else ""


def _choose_risk_class(own: JsonValue, behind: JsonValue) -> str:
    """The risk class that counts: a node acts as its tool does, so the tool's class may win."""
    classes = [risk for risk in (own, behind) if isinstance(risk, str) and risk.strip()]
    return next(filter(means_send, classes), classes[0] if classes else "")


def _is_misspelt(located: Located) -> bool:
    """Whether the component's type is misspelt; types of plugins are only unknown."""
    kind, value = located.component_type, located.value
    foreign = isinstance(value, dict) and "component_plugin_name" in value
    return not foreign and not is_plugin_type(kind) and not is_known(kind)


def _list_run_members(node: Located) -> list[Located]:
    """The members that hold what a node runs, a flow or an agent."""
    members = [_find_member(node, "subflow"), _find_member(node, "agent")]
    return [*(member for member in members if member is not None), *_list_entries(node, "subflows")]


def _find_member(located: Located, name: str) -> Located | None:
    value = located.value.get(name) if isinstance(located.value, dict) else None
    if not isinstance(value, dict):
        return None
    return Located(value, child(located.pointer, name), located.scope)


def _list_entries(located: Located, name: str) -> list[Located]:
    value = located.value.get(name) if isinstance(located.value, dict) else None
    if not isinstance(value, list):
        return []
    return [
        Located(item, f"{located.pointer}/{name}/{index}", located.scope)
        for index, item in enumerate(value)
        if isinstance(item, dict)
    ]


def _read_text(located: Located, name: str) -> str:
    value = located.value.get(name) if isinstance(located.value, dict) else None
    return value if isinstance(value, str) else ""


def _read_cinatra_block(located: Located | None) -> dict[str, JsonValue]:
    value = located.value if located is not None else None
    metadata = value.get("metadata") if isinstance(value, dict) else None
    found = metadata.get("cinatra") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def _always_runs_a_flow(node: Located) -> bool:
    """Whether a node of this kind has one subflow and nothing else to run."""
    kind = find_kind(node.component_type)
    return kind is not None and kind.flows == ("subflow",)
