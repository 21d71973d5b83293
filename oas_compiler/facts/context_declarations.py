"""The context slots that a flow, and the flows that it runs, declare: a fact for hosts.

    {"metadata": {"cinatra": {"packageName": "@x/writer", "contextSlots": [{"slotId": "voice", …}]}},
     … a FlowNode with packageName "@x/drafts", whose subflow declares "brand"}
        ->  package_name "@x/writer", slots {"@x/writer": (voice,), "@x/drafts": (brand,)}

Only flows that are run count.  A flow inside another flow belongs to the package that its FlowNode
or the flow names, else to the package of the outer flow.

`read_declared_slots` is the entry point `context_slots` of the group `oasflow.flow_facts`: a host
calls it for the bytes of a stored flow, which was checked before it was stored.  No rule is applied
again, and no placeholder has a value.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.context.slot_declarations import AgentContextSlot, DeclaredSlots, read_slots
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.build import build, open_document
from oas_compiler.control.context_slots import KEY, list_agreements
from oas_compiler.document.flow_loader import load
from oas_compiler.ir import FlowIR, FlowNode, Node, UnknownNode
from oas_compiler.kinds.registry import find_kind, find_refusal
from oas_compiler.text.input_bounds import MAX_NODES

_Agreements: TypeAlias = dict[str, tuple[str, str]]
"""Slot of one child → the (package, slot) whose selection the child receives."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Placement:
    """One flow at one place that runs it."""

    flow: FlowIR
    package: str
    """The package named by the FlowNode, else by the flow, else the package of the outer flow."""
    is_child: bool
    """Whether the FlowNode or the flow names a package: then another agent begins here."""
    around: _Placement | None
    """The outer flow; `None` for the root."""


def read_declared_slots(source: bytes) -> DeclaredSlots:
    """The declarations in the bytes of a stored flow.

    Raises: `ContextError` `oas_missing`, `slot_ambiguous` where they cannot be read.
    """
    return collect_declared_slots(_read_flow(source))


def collect_declared_slots(root: FlowIR) -> DeclaredSlots:
    """The declarations of a flow and of every flow that it runs.

    Raises: `ContextError` `oas_missing`, `slot_ambiguous` where a list of slots cannot be read;
    `oas_missing` where a flow that is run cannot be read.
    """
    placed = tuple(_walk_placements(root))
    own = root.package_name
    slots: dict[str, dict[AgentContextSlot, None]] = {own: {}}
    # a flow that is run in many places is read once, also where it belongs to other packages there
    read: dict[int, tuple[AgentContextSlot, ...]] = {}
    flows = {(one.package, id(one.flow)): one.flow for one in placed}
    for (package, key), flow in flows.items():
        if key not in read:
            read[key] = _read_flow_slots(flow)
        slots.setdefault(package, {}).update(dict.fromkeys(read[key]))
    return DeclaredSlots(
        package_name=own,
        slots={package: tuple(found) for package, found in slots.items()},
        agreed=_collect_held_agreements(placed, own),
    )


def _read_flow(source: bytes) -> FlowIR:
    """The flow in these bytes, without its checks."""
    document = open_document(source)
    if document is None:
        raise ContextError("oas_missing", "the stored flow is no JSON or YAML document")
    root = document.root
    if root is None or root.component_type != "Flow":
        raise ContextError("oas_missing", "the stored document is not a flow")
    loaded = load(document)
    if loaded is None:
        raise ContextError(
            "oas_missing",
            f"the stored flow runs more than {MAX_NODES:,} nodes, each flow counted as often as it "
            "is run",
        )
    return build(loaded, document)


def _walk_placements(root: FlowIR) -> Iterator[_Placement]:
    """Every place where a flow is run, the root first, outer flows before inner ones.

    Raises: `ContextError` `oas_missing`.
    """
    top = _Placement(flow=root, package=root.package_name, is_child=False, around=None)
    waiting = deque([top])
    while waiting:
        here = waiting.popleft()
        yield here
        for node in here.flow.nodes:
            _require_readable(node, here.flow)
            for subflow in node.subflows:
                given = node.package_name if isinstance(node, FlowNode) else ""
                named = given or subflow.package_name
                waiting.append(
                    _Placement(
                        flow=subflow,
                        package=named or here.package,
                        is_child=bool(named),
                        around=here,
                    )
                )


def _require_readable(node: Node, flow: FlowIR) -> None:
    """Refuse a node that runs flows which nobody knows: they might declare slots, or disagree.

    No such flow compiles.  A foreign node stays: its package may be missing in this process alone.
    """
    refusal = find_refusal(node.component_type) if isinstance(node, UnknownNode) else None
    if refusal is not None:
        raise ContextError("oas_missing", f"the stored flow cannot be read: {refusal.message}")
    kind = find_kind(node.component_type) if isinstance(node, UnknownNode) else None
    if node.id in flow.doubled or (kind is not None and kind.flows):
        raise ContextError(
            "oas_missing",
            "the stored flow runs a flow that cannot be read, that runs itself, or that stands "
            "inside too many others",
        )


def _read_flow_slots(flow: FlowIR) -> tuple[AgentContextSlot, ...]:
    # a flow without the word declares nothing; its metadata need not be decoded
    return read_slots(flow.cinatra.mapping().get(KEY)) if KEY in flow.cinatra.text else ()


def _collect_held_agreements(
    placed: Iterable[_Placement], own: str
) -> dict[tuple[str, str], tuple[str, str]]:
    """The agreements that hold wherever the child is run.

    An agreement removes a gate, so only the flow around a child may make it.  Where several flows
    run the same child, an agreement holds only if all of them make it: no flow speaks for another
    flow's copy of the child.  The root has no flow around it.
    """
    made: dict[tuple[str, int], dict[str, _Agreements]] = {}
    found: dict[str, _Agreements] = {}
    for one in placed:
        around = one.around
        if around is None or not one.is_child or one.package == own:
            continue
        key = around.package, id(around.flow)
        if key not in made:
            made[key] = _collect_flow_agreements(around)
        here = made[key].get(one.package, {})
        found[one.package] = dict(found.get(one.package, here).items() & here.items())
    return {
        (child, theirs): parent
        for child, agreements in found.items()
        for theirs, parent in agreements.items()
    }


def _collect_flow_agreements(placed: _Placement) -> dict[str, _Agreements]:
    """Child package → the agreements of a flow for it; two different agreements for one slot cancel
    each other.
    """
    made: dict[str, _Agreements] = {}
    undecided: set[tuple[str, str]] = set()
    for own, child, theirs in list_agreements(placed.flow):
        parent = placed.package, own
        if made.setdefault(child, {}).setdefault(theirs, parent) != parent:
            undecided.add((child, theirs))
    for child, theirs in undecided:
        del made[child][theirs]
    return made
