"""The context slots of a flow, each with its selecting FlowNode and the consumers of the selection.

    "contextSlots": [{"slotId": "brand", …}], a FlowNode "context_brand" whose subflow calls
    /api/context-resolve, an edge from it into write.contextSlotBindings
        -> Slot(id="brand", node=context_brand, bindings=(that edge,))

In: flows that could be built.  Out: one `SlotFlow` per flow that declares slots.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.ir import ApiNode, DataEdge, EndNode, FlowIR, FlowNode, JsonValue, StartNode

if TYPE_CHECKING:
    from oas_compiler.package.package import Package

SELECTION_AGENT: Final = "@cinatra-ai/context-selection-agent"
KEY: Final = "contextSlots"
AGREED: Final = "parentSatisfiedContextSlots"
RESOLVE: Final = "/api/context-resolve"
FINALIZE: Final = "/api/context-finalize"
BINDINGS: Final = "contextSlotBindings"
REFS: Final = "contextRefs"
SELECTION_INPUTS: Final = ("parentRunId", "parentPackageName", "slotId", "projectId")
MARKERS: Final = (
    "author-placed-context-resolution-for-",
    "loader-injected-context-resolution-for-",
)
"""The texts before the slot's id in `metadata.cinatra.purpose` of a selecting FlowNode."""
MAX_SLOTS: Final = 64
"""Slots of one flow that are followed through it; real flows have one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slot:
    """One declared slot."""

    id: str
    pointer: str
    """Of its declaration."""
    node: FlowNode | None
    """The FlowNode that selects for it; `None` when there is none."""
    pretender: FlowNode | None
    """One that carries the slot's name and selects nothing."""
    bindings: tuple[DataEdge, ...]
    """The edges that carry the selection to a consumer."""
    from_parent: bool
    """Whether every flow around it hands it a selection: `parentSatisfiedContextSlots`."""
    astray: FlowNode | None
    """Where nothing selects for the slot: a FlowNode that selects for one nobody declared."""

    @property
    def binding_names(self) -> tuple[str, str]:
        return BINDINGS, own_name(self.id)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SlotFlow:
    """A flow that declares slots."""

    flow: FlowIR
    slots: tuple[Slot, ...]
    """Those with a usable id, each id once, at most MAX_SLOTS."""

    @property
    def is_whole(self) -> bool:
        """Whether everything of the flow could be read; what a gap hides is not missing."""
        return not self.flow.gaps

    def taken_as(self, slot: Slot) -> tuple[str, ...]:
        """The input names of consumers for the selection; the plain name is for a flow's only
        slot.
        """
        return slot.binding_names if len(self.slots) == 1 else slot.binding_names[1:]

    def consumers(self, slot: Slot) -> tuple[tuple[str, str], ...]:
        """Node and input of each that takes what is selected; Start and End only pass values."""
        names = self.taken_as(slot)
        return tuple(
            (node.id, port.title)
            for node in self.flow.nodes
            if not isinstance(node, (StartNode, EndNode))
            for port in node.inputs
            if port.title in names
        )


def read_slots(flows: Iterable[FlowIR]) -> tuple[SlotFlow, ...]:
    flows = tuple(flows)
    agreed = _collect_agreed_slots(flows)
    made = (_slot_flow(flow, agreed.get(id(flow), frozenset())) for flow in flows)
    return tuple(found for found in made if found is not None)


def package_of(node: FlowNode) -> str:
    """The child agent that a FlowNode runs; empty for a part of the flow itself."""
    return node.package_name or node.subflow.package_name


def handed_on(flow: FlowIR) -> tuple[tuple[str, str, str], ...]:
    """The different agreements of a flow, at most MAX_SLOTS; see `list_agreements`."""
    return tuple(islice(dict.fromkeys(list_agreements(flow)), MAX_SLOTS))


def list_agreements(flow: FlowIR) -> Iterator[tuple[str, str, str]]:
    """(slot of this flow, child package, slot of the child): selections handed on by agreement.

    Malformed entries are left out.
    """
    if AGREED not in flow.cinatra.text:
        return
    listed = flow.cinatra.mapping().get(AGREED)
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict):
            own, package = entry.get("parentSlotId"), entry.get("childPackage")
            theirs = entry.get("childSlotId", own)
            if isinstance(own, str) and isinstance(package, str) and isinstance(theirs, str):
                yield own, package, theirs


def own_name(slot_id: str) -> str:
    """The input of a consumer that stands for one slot of several."""
    return f"{slot_id}ContextSlotBindings"


def marked_slot(node: FlowNode) -> str:
    """The slot that a FlowNode's `purpose` names; empty where it names none."""
    purpose = node.cinatra.mapping().get("purpose")
    if isinstance(purpose, str):
        for marker in MARKERS:
            if purpose.startswith(marker):
                return purpose.removeprefix(marker)
    return ""


def dependency_pointers(package: Package) -> Iterator[tuple[str, JsonValue]]:
    """Where package.json depends on the selection agent, with the range written there.

    Both forms count: the map `cinatra.agentDependencies` and the list `cinatra.dependencies`.
    """
    # Imported late: whoever gives a package has loaded its readers, and compiling needs none of them.
    from oas_compiler.package.package import range_of

    declared = package.cinatra.get("agentDependencies")
    if isinstance(declared, dict) and SELECTION_AGENT in declared:
        name = SELECTION_AGENT.replace("/", "~1")
        yield f"/cinatra/agentDependencies/{name}", declared[SELECTION_AGENT]
    listed = package.cinatra.get("dependencies")
    for index, entry in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(entry, dict) and entry.get("packageName") == SELECTION_AGENT:
            constraint, _ = range_of(entry)
            found = None if entry.get("versionConstraint") is None else constraint
            yield f"/cinatra/dependencies/{index}", found


def is_selection_agent(package: Package, own_name: JsonValue) -> bool:
    """Whether this is the selection agent's own package; it needs no entry for itself."""
    return SELECTION_AGENT in (package.manifest.get("name"), own_name)


# ---------------------------------------------------------------------------- finding


def _collect_agreed_slots(flows: Iterable[FlowIR]) -> dict[int, frozenset[str]]:
    """Flow by its `id()` → slots of which every place that runs it says that the parent fills them."""
    agreed: dict[int, frozenset[str]] = {}
    for flow in flows:
        by_package: dict[str, set[str]] = {}
        for _, package, theirs in handed_on(flow):
            by_package.setdefault(package, set()).add(theirs)
        for node in flow.nodes:
            given = node.package_name if isinstance(node, FlowNode) else ""
            for inner in node.subflows:
                filled = frozenset(by_package.get(given or inner.package_name, ()))
                agreed[id(inner)] = agreed.get(id(inner), filled) & filled
    return agreed


def _slot_flow(flow: FlowIR, agreed: frozenset[str]) -> SlotFlow | None:
    # a flow without the word declares nothing; its metadata need not be decoded
    if KEY not in flow.cinatra.text:
        return None
    listed = flow.cinatra.mapping().get(KEY)
    pointers: dict[str, str] = {}
    for index, entry in enumerate(listed if isinstance(listed, list) else ()):
        slot_id = entry.get("slotId") if isinstance(entry, dict) else None
        if isinstance(slot_id, str) and slot_id.strip() and len(pointers) < MAX_SLOTS:
            pointers.setdefault(slot_id, f"{flow.place.pointer}/metadata/cinatra/{KEY}/{index}")
    if not pointers:
        return None
    named = {node.id: node for node in flow.nodes if isinstance(node, FlowNode)}
    selecting = {node.id: node for node in named.values() if resolving(node.subflow)}
    chosen = _match_slot_nodes(flow, selecting, pointers)
    edges: dict[str, list[DataEdge]] = {}
    for edge in flow.data_edges:
        if edge.source in selecting:
            edges.setdefault(edge.source, []).append(edge)
    used = {node.id for node in chosen.values()}
    astray = next((node for node in selecting.values() if node.id not in used), None)
    handed = handed_on(flow)
    slots = tuple(
        Slot(
            id=slot_id,
            pointer=pointer,
            node=chosen.get(slot_id),
            pretender=_find_pretender(slot_id, named, selecting),
            bindings=_select_binding_edges(
                flow,
                {slot_id, *(theirs for own, _, theirs in handed if own == slot_id)},
                edges.get(chosen[slot_id].id, ()) if slot_id in chosen else (),
            ),
            from_parent=slot_id in agreed,
            astray=astray if slot_id not in chosen else None,
        )
        for slot_id, pointer in pointers.items()
    )
    return SlotFlow(flow=flow, slots=slots)


def resolving(flow: FlowIR) -> tuple[ApiNode, ...]:
    """The nodes of a flow that ask for the candidates of a slot."""
    return tuple(
        node
        for node in flow.nodes
        if isinstance(node, ApiNode) and node.url.rstrip("/").endswith(RESOLVE)
    )


def modes_of(flow: FlowIR) -> dict[str, JsonValue]:
    """Slot → the `selectionMode` that its declaration gives."""
    listed = flow.cinatra.mapping().get(KEY)
    return {
        str(one["slotId"]): one.get("selectionMode")
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict) and isinstance(one.get("slotId"), str)
    }


def _match_slot_nodes(
    flow: FlowIR, selecting: Mapping[str, FlowNode], slots: Collection[str]
) -> dict[str, FlowNode]:
    """Slot → the FlowNode that selects for it: by its marker, its id, its `slotId`.

    A FlowNode that names no slot by any of them selects for one that is left over.
    """
    found: dict[str, FlowNode] = {}
    free = dict(selecting)
    naming: set[str] = set()
    for names in (marked_slot, _read_slot_from_id, lambda node: _given_slot(flow, node)):
        for node in list(free.values()):
            slot_id = names(node)
            if slot_id:
                naming.add(node.id)
            if slot_id in slots and slot_id not in found:
                found[slot_id] = free.pop(node.id)
    left = [slot_id for slot_id in slots if slot_id not in found]
    nameless = [node for node in free.values() if node.id not in naming]
    found.update(zip(left, nameless, strict=False))
    return found


def _read_slot_from_id(node: FlowNode) -> str:
    return node.id.removeprefix("context_") if node.id.startswith("context_") else ""


def _given_slot(flow: FlowIR, node: FlowNode) -> str:
    """The slot id that a FlowNode is fed: the default of the StartNode's input behind `slotId`."""
    start = flow.by_id.get(flow.start)
    fed = {edge.output for edge in flow.data_edges_into(node.id) if edge.input == "slotId"}
    ports = [port for port in (start.outputs if start else ()) if port.title in fed]
    ports += [port for port in node.inputs if port.title == "slotId"]
    for port in ports:
        value = port.default.value() if port.default is not None else None
        if isinstance(value, str) and value:
            return value
    return ""


def _find_pretender(
    slot_id: str, named: Mapping[str, FlowNode], selecting: Mapping[str, FlowNode]
) -> FlowNode | None:
    node = named.get(f"context_{slot_id}")
    return node if node is not None and node.id not in selecting else None


def _select_binding_edges(
    flow: FlowIR, slot_ids: Collection[str], edges: Iterable[DataEdge]
) -> tuple[DataEdge, ...]:
    """The edges that carry a selection on, under the slot's id or under the one of a child."""
    into = {BINDINGS, *(own_name(slot_id) for slot_id in slot_ids)}
    out_of = into | {REFS, *(f"{slot_id}ContextRefs" for slot_id in slot_ids)}
    return tuple(
        edge
        for edge in edges
        if edge.input in into
        and edge.output in out_of
        and edge.target in flow.by_id
        and not isinstance(flow.by_id[edge.target], EndNode)
    )
