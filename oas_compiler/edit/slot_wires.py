"""Plans the wiring of context slots: slots without a FlowNode, their consumers, and the edits.

In: the `Source` of a flow.  Out: a `WirePlan`: the wired slots and the edits of the file; without a
slot to wire, there are no edits.

    plan_wiring(source)  ->  WirePlan(wired=(Wired(slot="brand", flow="writer", consumers=(("write",
                           "contextSlotBindings"),)),), edits=(Edit(…), …))

Error tree
    CannotWire(Exception)    `.obstacles` lists every obstacle, and the advice for it
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import (
    BINDINGS,
    KEY,
    RESOLVE,
    SELECTION_AGENT,
    Slot,
    SlotFlow,
    dependency_pointers,
    is_selection_agent,
    modes_of,
    own_name,
)
from oas_compiler.edit.slot_flow import CannotPlace, Ready, node_id, place_slots, subflow_id
from oas_compiler.findings.finding import Edit, Findings
from oas_compiler.ir import (
    NOTHING,
    DataEdge,
    EndNode,
    FlowIR,
    Json,
    JsonValue,
    Node,
    Place,
    StartNode,
)
from oas_compiler.package.package import Package
from oas_compiler.pipeline import subject_of
from oas_compiler.text.marks import child
from oas_compiler.text.source import Source

# ----------------------------------------------------------------------------
# The fewest and smallest edits that turn one JSON document into another.
#
#     `{"nodes": [{"ref": "start"}, {"ref": "end"}]}`
#     `{"nodes": [{"ref": "start"}, {"ref": "brand"}, {"ref": "end"}]}`
#         ->  Edit("/nodes/1/ref", "brand"), Edit("/nodes/-", {"ref": "end"})
#
# Inserting an element into a list moves the later elements place by place, so that the text around
# each place stays as the author wrote it.


def edits_between(before: JsonValue, after: JsonValue) -> tuple[Edit, ...]:
    """The edits of `before` after which it equals `after`; keys keep their order."""
    return tuple(_list_edits(before, after, ""))


def _list_edits(before: JsonValue, after: JsonValue, pointer: str) -> Iterator[Edit]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before:
            if key not in after:
                yield Edit(pointer=child(pointer, key), value=None)
        for key, value in after.items():
            if key in before:
                yield from _list_edits(before[key], value, child(pointer, key))
            else:
                yield Edit(pointer=child(pointer, key), value=Json.of(value))
    elif isinstance(before, list) and isinstance(after, list) and len(before) <= len(after):
        for index, value in enumerate(before):
            yield from _list_edits(value, after[index], f"{pointer}/{index}")
        for value in after[len(before) :]:
            yield Edit(pointer=f"{pointer}/-", value=Json.of(value))
    elif Json.of(before) != Json.of(after):  # not `!=`: 1 and true are equal in Python
        yield Edit(pointer=pointer, value=Json.of(after))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wired:
    """One slot that the plan wires."""

    slot: str
    flow: str
    """Id of the flow that declares the slot."""
    consumers: tuple[tuple[str, str], ...]
    """Node and input of each consumer of the selection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WirePlan:
    """The planned change of a flow file."""

    wired: tuple[Wired, ...] = ()
    edits: tuple[Edit, ...] = ()
    root_has_slots: bool = False
    """Whether the package of the file needs the selection agent: its own flow declares slots."""
    asks: bool = False
    """Whether a person chooses for a wired slot of the file, wired now or before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """One reason why a slot cannot be wired."""

    message: str
    advice: str
    """What the author can do about it."""
    place: Place = Place()


class CannotWire(Exception):
    """The slots of the file cannot be wired."""

    def __init__(self, obstacles: Sequence[Obstacle]) -> None:
        self.obstacles = tuple(obstacles)
        super().__init__("\n".join(f"{one.message}; {one.advice}" for one in obstacles))


def plan_wiring(source: Source, *, only: str = "", package_name: str = "") -> WirePlan:
    """The plan that wires the slots of a flow.

    Args:
        source: the flow file.
        only: id of the one slot that is wired; empty for all of them.
        package_name: the name in package.json, for a flow that does not say its package.

    Raises:
        CannotWire: when a slot cannot be wired; the others are not wired either.

    """
    subject = subject_of(source, Findings(), None, None)
    if subject.flow is None or subject.document.source.renamed:
        raise CannotWire([Obstacle(message="the flow cannot be built", advice=_CHECK)])
    wanting = _list_unwired_slots(subject, only)
    obstacles = list(_find_shared_slots(wanting))
    ready: list[Ready] = []
    for found, slots in wanting:
        package = found.flow.package_name or subject.flow.package_name or package_name
        looks = [_Look(subject, found, slot) for slot in slots]
        whole = [
            *_find_flow_obstacles(found, slots, package),
            *(one for look in looks for one in look.flaws()),
        ]
        obstacles += whole
        if not whole:
            consumers = tuple((look.slot.id, look.consumers) for look in looks)
            ready.append(Ready(flow=found.flow, package=package, slots=consumers))
    if obstacles:
        raise CannotWire(obstacles)
    after = copy.deepcopy(source.value)
    for one in ready:
        try:
            place_slots(after, one, subject.flows)
        except CannotPlace as reason:
            message = f'the flow "{one.flow.id[:80]}" cannot be added to: {reason}'
            flaw = Obstacle(message=message, advice=_CHECK, place=one.flow.place)
            raise CannotWire([flaw]) from None
    return WirePlan(
        wired=tuple(
            Wired(slot=slot, flow=one.flow.id, consumers=consumers)
            for one in ready
            for slot, consumers in one.slots
        ),
        edits=edits_between(source.value, after),
        root_has_slots=any(found.flow is subject.flow for found in subject.slot_flows),
        asks=any(_has_interactive_slot(found, wanting) for found in subject.slot_flows),
    )


def _has_interactive_slot(found: SlotFlow, wanting: _Wanting) -> bool:
    modes = modes_of(found.flow)
    now = {slot.id for flow, slots in wanting if flow is found for slot in slots}
    return any(
        modes.get(slot.id) == "interactive"
        for slot in found.slots
        if not slot.from_parent and (slot.node is not None or slot.id in now)
    )


_ABSENT = NOTHING
_CHECK = "mend first what oasflow check says about it"
_Wanting = list[tuple[SlotFlow, list[Slot]]]


def _list_unwired_slots(subject: Subject, only: str) -> _Wanting:
    """The flows with unwired slots, and these slots."""
    known = {slot.id for found in subject.slot_flows for slot in found.slots}
    if only and only not in known:
        declared = ", ".join(f'"{one[:80]}"' for one in sorted(known)) or "none"
        advice = did_you_mean(only, known) or f"the slots of this file are: {declared}"
        message = f'no flow declares a context slot "{only[:80]}"'
        raise CannotWire([Obstacle(message=message, advice=advice)])
    wanting = [
        (found, [slot for slot in found.slots if _lacks_node(slot) and only in {"", slot.id}])
        for found in subject.slot_flows
    ]
    return [(found, slots) for found, slots in wanting if slots]


def _lacks_node(slot: Slot) -> bool:
    return slot.node is None and not slot.from_parent


def _find_shared_slots(wanting: _Wanting) -> Iterator[Obstacle]:
    """Slots that several flows of the file declare: the owner of the FlowNode is unclear."""
    owners: dict[str, list[str]] = {}
    for found, slots in wanting:
        for slot in slots:
            owners.setdefault(slot.id, []).append(found.flow.id)
    for slot_id, flows in owners.items():
        if len(flows) > 1:
            named = " and ".join(f'"{one[:80]}"' for one in flows)
            yield Obstacle(
                message=f'the context slot "{slot_id}" has no one owner: {named} declare it',
                advice="keep it in the flow whose nodes use it, or rename it in the others",
            )


def _find_flow_obstacles(
    found: SlotFlow, slots: Sequence[Slot], package: str
) -> Iterator[Obstacle]:
    """The obstacles that prevent wiring any slot of a flow."""
    flow = found.flow
    if not found.is_whole:
        yield Obstacle(
            message=f'the flow "{flow.id[:80]}" could not be read completely',
            advice=_CHECK,
            place=flow.place,
        )
    if all(route.source != flow.start for route in flow.routes):
        yield Obstacle(
            message=f'nothing follows the StartNode of "{flow.id[:80]}"',
            advice="add the control edge from it to the first node",
            place=flow.place,
        )
    if not package:
        yield Obstacle(
            message=f'the package of "{slots[0].id}" is not known',
            advice="write metadata.cinatra.packageName, or name in package.json",
            place=flow.place,
        )
    declared = flow.cinatra.mapping().get(KEY)
    ids = [one.get("slotId") for one in declared if isinstance(one, dict)] if isinstance(declared, list) else []  # fmt: skip
    for slot_id, times in Counter(one for one in ids if isinstance(one, str)).items():
        if times > 1:
            yield Obstacle(
                message=f'the context slot "{slot_id[:80]}" is declared {times} times',
                advice="give each slot an id of its own, or remove the copies",
                place=flow.place,
            )


class _Look:
    """One slot: its users and its obstacles."""

    def __init__(self, subject: Subject, found: SlotFlow, slot: Slot) -> None:
        self._subject = subject
        self._found = found
        self._flow = found.flow
        self._place = subject.place(slot.pointer)
        self.slot = slot
        self.consumers = found.consumers(slot)
        self._names = found.taken_as(slot)

    def flaws(self) -> Iterator[Obstacle]:
        if not f"_{self.slot.id}".isidentifier():
            yield self._make_obstacle(
                "cannot stand in the name of a node", "use letters, digits and _"
            )
            return
        yield from self._find_node_obstacles()
        yield from self._inputs()
        yield from self._find_use_obstacles()

    def _make_obstacle(self, message: str, advice: str) -> Obstacle:
        about = f'the context slot "{self.slot.id[:80]}" {message}'
        return Obstacle(message=about, advice=advice, place=self._place)

    def _find_node_obstacles(self) -> Iterator[Obstacle]:
        slot = self.slot
        if slot.pretender is not None:
            yield self._make_obstacle(
                f'has a FlowNode "{slot.pretender.id}" whose subflow does not call {RESOLVE}',
                "rename that node, or remove it",
            )
        elif slot.astray is not None:
            yield self._make_obstacle(
                f'has no FlowNode, and "{slot.astray.id}" selects for a slot that nobody declares',
                f'name "{slot.id}" in its purpose, id and slotId, or declare the slot it names',
            )
        else:
            taken = {node.id for node in self._flow.nodes} | self._components()
            for id_ in (node_id(slot.id), subflow_id(slot.id)):
                if id_ in taken:
                    yield self._make_obstacle(
                        f'needs a component "{id_}", and the flow has another one of this id',
                        "rename the one that is there",
                    )

    def _components(self) -> set[str]:
        written = {one.pointer: one for one in self._subject.components}
        flow = written.get(self._flow.place.pointer)
        block = flow.value.get("$referenced_components") if flow is not None else None
        return set(block) if isinstance(block, dict) else set()

    def _inputs(self) -> Iterator[Obstacle]:
        """The slot's two inputs, as far as the flow has them already."""
        defaults = {port.title: port.default for port in self._flow.inputs}
        slot_input, package_input = f"{self.slot.id}SlotId", f"{self.slot.id}ParentPackageName"
        if slot_input in defaults and defaults[slot_input] != Json.of(self.slot.id):
            yield self._make_obstacle(
                f'needs the input "{slot_input}", and the flow has one with another default',
                f'give it the default "{self.slot.id}", or rename it',
            )
        package = defaults.get(package_input, _ABSENT)
        if package is not _ABSENT and package in {None, Json.of("")}:
            yield self._make_obstacle(
                f'needs the input "{package_input}", and the flow has one without a default',
                "give it the name of the package as default, or rename it",
            )

    def _find_use_obstacles(self) -> Iterator[Obstacle]:
        own = own_name(self.slot.id)
        if not self.consumers:
            yield self._make_unused_obstacle()
        for node in _list_users(self._flow):
            if {BINDINGS, own} <= set(_list_input_titles(node)):
                stays = BINDINGS if len(self._found.slots) == 1 else own
                yield self._make_obstacle(
                    f'goes into "{node.id[:80]}" by two inputs, {BINDINGS} and {own}',
                    f"keep {stays} only",
                )
        for node_, title in self.consumers:
            edge = self._find_feeding_edge(node_, title)
            if edge is not None:
                yield self._make_obstacle(
                    f'is to feed {node_}.{title}, which "{edge.source}" feeds already '
                    f"(data edge from {edge.source}.{edge.output})",
                    "remove that data edge",
                )

    def _make_unused_obstacle(self) -> Obstacle:
        own = own_name(self.slot.id)
        within = [
            (flow, node)
            for flow in self._subject.flows
            if flow is not self._flow
            for node in _list_users(flow)
            if {BINDINGS, own} & set(_list_input_titles(node))
        ]
        plain = [node for node in _list_users(self._flow) if BINDINGS in _list_input_titles(node)]
        if plain:  # the flow has several slots
            return self._make_obstacle(
                f'is used by no node: "{plain[0].id}" takes {BINDINGS}, the name of an only slot',
                f"give the node that uses this one an input {own}",
            )
        if within:
            flow, node = within[0]
            return self._make_obstacle(
                f'is used by no node of "{self._flow.id}"; "{node.id}" of "{flow.id}" could',
                f"declare the slot in that flow, or give that flow an input {self._names[0]}",
            )
        return self._make_obstacle(
            "is used by no node",
            f"give the node that uses what is selected an input {self._names[0]} (type array)",
        )

    def _find_feeding_edge(self, node: str, title: str) -> DataEdge | None:
        edges = self._flow.data_edges_into(node)
        return next((edge for edge in edges if edge.input == title), None)


def _list_users(flow: FlowIR) -> tuple[Node, ...]:
    """Nodes that may use a selection; Start and End only pass values."""
    return tuple(node for node in flow.nodes if not isinstance(node, (StartNode, EndNode)))


def _list_input_titles(node: Node) -> tuple[str, ...]:
    return tuple(port.title for port in node.inputs)


# ----------------------------------------------------------------------------
# The entries of package.json for an agent with context slots: the selection agent, and gates.
#
# "cinatra": {"agentDependencies": {}, "hasApprovalGates": false}
#     ->  "cinatra": {"agentDependencies": {"@cinatra-ai/context-selection-agent": "^0.1.1"},
#                     "hasApprovalGates": true}


RANGE: Final = "^0.1.1"
"""The first published version with the subflow that is written here, and its patches."""


def manifest_edits(
    manifest: Source, wanted: str = RANGE, *, selects: bool, asks: bool
) -> tuple[Edit, ...]:
    """The edits of package.json; empty where it has the entries already, with any range.

    selects: the package's own flow declares slots, so that it depends on the selection agent.
    asks:    a person chooses for one of its slots, which is a gate.
    """
    value = manifest.value
    if not isinstance(value, dict):
        return ()
    after = copy.deepcopy(value)
    package = Package(root=Path(), source=manifest)
    if selects and not is_selection_agent(package, None):
        _add_dependency(after, package, wanted)
    cinatra = after.setdefault("cinatra", {}) if asks else None
    if isinstance(cinatra, dict):
        cinatra["hasApprovalGates"] = True
    return edits_between(value, after)


def _add_dependency(after: dict[str, JsonValue], package: Package, wanted: str) -> None:
    listed = list(dependency_pointers(package))
    cinatra = after.setdefault("cinatra", {})
    if not isinstance(cinatra, dict):
        return  # OAS198 reports it
    if not listed:
        entries = cinatra.setdefault("agentDependencies", {})
        if isinstance(entries, dict):
            entries[SELECTION_AGENT] = wanted
    for pointer, found in listed:
        if not (isinstance(found, str) and found.strip()):
            _give_range(cinatra, pointer, wanted)


def _give_range(cinatra: dict[str, JsonValue], pointer: str, wanted: str) -> None:
    """Add a range to an entry without a range."""
    _, _, key, name = pointer.split("/", 3)
    entries = cinatra[key]
    if isinstance(entries, dict):
        entries[SELECTION_AGENT] = wanted
    elif isinstance(entries, list):
        entry = entries[int(name)]
        assert isinstance(entry, dict)  # as `dependency_pointers` found it
        entry["versionConstraint"] = {"kind": "semver-range", "range": wanted}
