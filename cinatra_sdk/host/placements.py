"""The flows that a flow runs: the root, and every flow that a FlowNode inside it leads to.

In: a decoded flow.  Out: one `Placement` for every place where a flow is run, the root first.

    {"nodes": [{"$component_ref": "drafts_step"}], "$referenced_components": {
        "drafts_step": {"component_type": "FlowNode", "subflow": {"$component_ref": "drafts"}, …},
        "drafts": {"component_type": "Flow", …}, "left": {"component_type": "Flow", …}}}
        ->  the root; "drafts", around it the root.  Nothing runs "left": it does not count.

References are resolved as the compiler resolves them: in a Cinatra file a flow with components of
its own sees only those components; elsewhere names are looked up outwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.context.errors import ContextError

MAX_NODES: Final = 10_000
"""Nodes that are read, counted once per run of a node; the compiler's limit is half of this."""
_REFERENCE: Final = "$component_ref"
_DEFINITIONS: Final = "$referenced_components"

Scope: TypeAlias = tuple[Mapping[str, JsonValue], ...]
"""The blocks of definitions in scope at one place, the innermost first."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placement:
    """One flow at one place that runs it."""

    flow: Mapping[str, JsonValue]
    package: str
    """The package named by the FlowNode, else by the flow, else the package of the outer flow."""
    is_child: bool
    """Whether the FlowNode or the flow names a package: then another agent begins here."""
    around: Placement | None
    """The outer flow; `None` for the root."""
    scope: Scope

    def agreed(self) -> Iterator[tuple[str, str, str]]:
        """(slot of this flow, child package, slot of the child), of `parentSatisfiedContextSlots`.

        Malformed entries are left out.
        """
        listed = about(self.flow).get("parentSatisfiedContextSlots")
        for entry in listed if isinstance(listed, list) else ():
            if isinstance(entry, dict):
                own, child = entry.get("parentSlotId"), entry.get("childPackage")
                theirs = entry.get("childSlotId", own)
                if isinstance(own, str) and isinstance(child, str) and isinstance(theirs, str):
                    yield own, child, theirs


def placements(document: dict[str, JsonValue]) -> Iterator[Placement]:
    """Raises: `ContextError` `oas_missing` where flows run each other without end."""
    root, scope = _resolve_reference(document, _extend_scope(document, (), strict=False))
    if not isinstance(root, dict):
        return
    metadata = root.get("metadata")
    strict = isinstance(metadata, dict) and isinstance(metadata.get("cinatra"), dict)
    top = Placement(
        flow=root,
        package=text(about(root), "packageName"),
        is_child=False,
        around=None,
        scope=_extend_scope(root, scope, strict=strict),
    )
    waiting, looked_at = deque([top]), 0
    while waiting:
        here = waiting.popleft()
        yield here
        nodes = here.flow.get("nodes")
        for node in nodes if isinstance(nodes, list) else ():
            looked_at += 1
            if looked_at > MAX_NODES:
                raise ContextError(
                    "oas_missing",
                    f"the stored flow runs more than {MAX_NODES:,} nodes, each flow counted as "
                    "often as it is run",
                )
            found = _find_placement(node, here, strict=strict)
            if found is not None:
                waiting.append(found)


def about(component: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """`metadata.cinatra` of a component; empty where the component has no such object."""
    metadata = component.get("metadata")
    found = metadata.get("cinatra") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def text(values: Mapping[str, JsonValue], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""


def _find_placement(value: JsonValue, here: Placement, *, strict: bool) -> Placement | None:
    """The flow that one entry of `nodes` runs; `None` where it is no FlowNode."""
    node, scope = _resolve_reference(value, here.scope)
    if not isinstance(node, dict) or node.get("component_type") != "FlowNode":
        return None
    flow, scope = _resolve_reference(node.get("subflow"), _extend_scope(node, scope, strict=strict))
    if not isinstance(flow, dict) or flow.get("component_type") != "Flow":
        return None
    named = text(about(node), "packageName") or text(about(flow), "packageName")
    return Placement(
        flow=flow,
        package=named or here.package,
        is_child=bool(named),
        around=here,
        scope=_extend_scope(flow, scope, strict=strict),
    )


def _resolve_reference(value: JsonValue, scope: Scope) -> tuple[JsonValue, Scope]:
    """The component behind a reference, with the scope of its definition; any other value
    unchanged.

    `None` for an undefined reference and for one that leads back to itself.
    """
    followed: set[int] = set()
    while isinstance(value, dict) and _REFERENCE in value:
        name = text(value, _REFERENCE)
        if id(value) in followed:
            return None, scope
        followed.add(id(value))
        while scope and name not in scope[0]:
            scope = scope[1:]
        value = scope[0][name] if scope else None
    return value, scope


def _extend_scope(component: Mapping[str, JsonValue], scope: Scope, *, strict: bool) -> Scope:
    """The definitions in scope inside a component."""
    block = component.get(_DEFINITIONS)
    if not isinstance(block, dict):
        return scope
    alone = strict and component.get("component_type") == "Flow"
    return (block,) if alone else (block, *scope)
