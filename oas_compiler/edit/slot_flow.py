"""The subflow that selects artifacts for one context slot, and the FlowNode that runs this subflow.

    subflow("brand")     ->  {"component_type": "Flow", "id": "context-brand-subflow", "nodes": [
                              ctx-brand-start, ctx-brand-resolve_context, …, ctx-brand-end], …}
    flow_node("brand")   ->  {"component_type": "FlowNode", "id": "context_brand", …}

start → resolve_context → select_mode ─default→ emit_context_payload → context_select_gate
                                      │           → finalize_interactive → end
                                      └autonomous→ finalize_autonomous → end

The subflow equals the one in Cinatra's public agents (spec, section 6), key by key: a host finds
the gate and the calls of a slot by these ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.control.context_slots import (
    BINDINGS,
    FINALIZE,
    MARKERS,
    RESOLVE,
    SELECTION_AGENT,
    SELECTION_INPUTS,
)
from oas_compiler.document.scope import DEFINITIONS
from oas_compiler.ir import FlowIR, FlowNode, JsonValue, StartNode
from oas_compiler.text_edits.json_edits import keys_of

SELECTOR: Final = f"{SELECTION_AGENT}:context-selector"
"""The renderer of the gate at which a person chooses."""
_VERSION: Final = "26.1.0"

_Component = dict[str, JsonValue]
_CONTROL: Final = (
    ("start_to_resolve", "start", "resolve_context", ""),
    ("resolve_to_select", "resolve_context", "select_mode", ""),
    ("select_default_to_emit", "select_mode", "emit_context_payload", "default"),
    ("emit_to_gate", "emit_context_payload", "context_select_gate", ""),
    ("gate_to_finalize_interactive", "context_select_gate", "finalize_interactive", ""),
    ("finalize_interactive_to_end", "finalize_interactive", "end", ""),
    ("select_autonomous_to_finalize", "select_mode", "finalize_autonomous", "autonomous"),
    ("finalize_autonomous_to_end", "finalize_autonomous", "end", ""),
)
_EMITTED: Final = ("candidates", "slotMeta", "selectedRefs")


def node_id(slot_id: str) -> str:
    """Id of a slot's FlowNode."""
    return f"context_{slot_id}"


def subflow_id(slot_id: str) -> str:
    """Id of a slot's subflow."""
    return f"context-{slot_id}-subflow"


def flow_node(slot_id: str) -> _Component:
    return {
        "component_type": "FlowNode",
        "id": node_id(slot_id),
        "name": f"Resolve {slot_id}",
        "subflow": reference(subflow_id(slot_id)),
        "metadata": {"cinatra": {"purpose": f"{MARKERS[0]}{slot_id}"}},
    }


def subflow(slot_id: str) -> _Component:
    prefix = f"ctx-{slot_id}-"
    nodes = _describe_nodes()
    components: dict[str, JsonValue] = {
        prefix + name: {**node, "id": prefix + name} for name, node in nodes.items()
    }
    return {
        "agentspec_version": _VERSION,
        "component_type": "Flow",
        "id": subflow_id(slot_id),
        "name": f"Context Agent ({slot_id})",
        "inputs": _list_ports(*SELECTION_INPUTS),
        "outputs": _list_ports(BINDINGS),
        "start_node": reference(f"{prefix}start"),
        "nodes": [reference(one) for one in components],
        "control_flow_connections": [
            control_edge(prefix + name, prefix + source, prefix + target, branch)
            for name, source, target, branch in _CONTROL
        ],
        "data_flow_connections": [
            data_edge(prefix + name, prefix + source, output, prefix + target, output)
            for name, source, output, target in _list_data_edges()
        ],
        "$referenced_components": components,
    }


def reference(id_: str) -> _Component:
    return {"$component_ref": id_}


def control_edge(name: str, source: str, target: str, branch: str = "") -> _Component:
    return {
        "component_type": "ControlFlowEdge",
        "name": name,
        "from_node": reference(source),
        "to_node": reference(target),
        **({"from_branch": branch} if branch else {}),
    }


def data_edge(name: str, source: str, output: str, target: str, input_: str) -> _Component:
    return {
        "component_type": "DataFlowEdge",
        "name": name,
        "source_node": reference(source),
        "source_output": output,
        "destination_node": reference(target),
        "destination_input": input_,
    }


def text_input(title: str, default: str) -> _Component:
    return {"title": title, "type": "string", "default": default}


# ---------------------------------------------------------------------------- the subflow's parts


def _list_data_edges() -> list[tuple[str, str, str, str]]:
    """(name, source, property, target) of every data edge."""
    resolve, gate, by_person, by_rule = (
        "resolve_context", "context_select_gate", "finalize_interactive", "finalize_autonomous",
    )  # fmt: skip
    return [
        *((f"start_{one}_to_resolve", "start", one, resolve) for one in SELECTION_INPUTS),
        ("resolve_selectionMode_to_select", resolve, "selectionMode", "select_mode"),
        *((f"resolve_{one}_to_emit", resolve, one, "emit_context_payload") for one in _EMITTED),
        (f"gate_userResponse_to_{by_person}", gate, "userResponse", by_person),
        *_into_finalize(by_person, ("selectionMode",)),
        *_into_finalize(by_rule, ("selectionMode", "resolutionMode", "selectedRefs")),
        *((f"{one}_to_end", one, BINDINGS, "end") for one in (by_person, by_rule)),
    ]


def _into_finalize(target: str, resolved: Sequence[str]) -> list[tuple[str, str, str, str]]:
    given = [(f"start_{one}_to_{target}", "start", one, target) for one in SELECTION_INPUTS]
    found = [(f"resolve_{one}_to_{target}", "resolve_context", one, target) for one in resolved]
    return given + found


def _describe_nodes() -> dict[str, _Component]:
    """The nodes without their ids, with their keys in Cinatra's order."""
    inputs: list[JsonValue] = [*SELECTION_INPUTS]
    envelope = _format_json_template(("slotId", "resolutionMode", "selectedRefs"))
    given = {"selectionMode": "{{ selectionMode }}", "userResponse": "{{ userResponse }}"}
    resolved = ("candidates", "slotMeta", "selectedRefs", "selectionMode", "resolutionMode")
    return {
        "start": _make_node(
            "StartNode", "Inputs", {"required": inputs[:-1], "hidden": inputs},
            inputs=_list_ports(*SELECTION_INPUTS),
        ),
        "resolve_context": _make_node(
            "ApiNode", "Resolve context candidates",
            **_describe_api_call(RESOLVE, {}, (), resolved),
        ),
        "select_mode": _make_node(
            "BranchingNode", "Branch on selection mode",
            {"purpose": "route-autonomous-slots-around-the-HITL-gate"},
            inputs=_list_ports("selectionMode"), outputs=[],
            branches=["default", "autonomous"], mapping={"autonomous": "autonomous"},
        ),
        "emit_context_payload": _make_node(
            "OutputMessageNode", "Emit resolved context as agent message",
            inputs=_list_ports("candidates", "slotMeta", "selectedRefs"),
            message=_format_json_template(_EMITTED),
        ),
        "context_select_gate": _make_node(
            "InputMessageNode", "Select context",
            {"riskClass": "read_only", "requiresApproval": True, "renderer": SELECTOR,
             "a2uiSurfaceId": "context-selection:select"},
            outputs=_list_ports("userResponse"),
        ),
        "finalize_interactive": _make_node(
            "ApiNode", "Finalize selected context (interactive)",
            **_describe_api_call(FINALIZE, given, ("selectionMode", "userResponse"), (BINDINGS,)),
        ),
        "finalize_autonomous": _make_node(
            "ApiNode", "Finalize selected context (autonomous)",
            **_describe_api_call(
                FINALIZE, {**given, "userResponse": envelope},
                ("selectionMode", "resolutionMode", "selectedRefs"), (BINDINGS,),
            ),
        ),
        "end": _make_node(
            "EndNode", "Outputs", outputs=_list_ports(BINDINGS), inputs=_list_ports(BINDINGS)
        ),
    }  # fmt: skip


def _make_node(
    kind: str, label: str, about: dict[str, JsonValue] | None = None, /, **fields: JsonValue
) -> _Component:
    """about: its `metadata.cinatra`."""
    metadata: _Component = {"metadata": {"cinatra": about}} if about is not None else {}
    return {"component_type": kind, "id": "", "name": label, **metadata, **fields}


def _describe_api_call(
    path: str, sent: dict[str, str], inputs: Sequence[str], outputs: Sequence[str]
) -> _Component:
    """inputs: beside those that name the run and the project."""
    data: dict[str, JsonValue] = {name: f"{{{{ {name} }}}}" for name in SELECTION_INPUTS}
    return {
        "url": f"{{{{CINATRA_BASE_URL}}}}{path}",
        "http_method": "POST",
        "data": {**data, **sent},
        "inputs": _list_ports(*SELECTION_INPUTS, *inputs),
        "outputs": _list_ports(*outputs),
    }


def _format_json_template(names: Sequence[str]) -> str:
    """A template that renders a JSON object of these inputs.

    The comment before it is for Cinatra's compiler, which sees only bare placeholders; it renders
    to an empty text.
    """
    hint = " ".join(f"{{{{ {name} }}}}" for name in names)
    members = ",".join(f'"{name}":{{{{ {name} | tojson }}}}' for name in names)
    return f"{{# pyagentspec-input-hint (do not remove): {hint} #}}{{{members}}}"


_ARRAYS: Final = frozenset({"candidates", "selectedRefs", BINDINGS})


def _list_ports(*titles: str) -> list[JsonValue]:
    """The properties of these titles; without a project, artifacts outside of projects count."""
    return [_make_port(title) for title in titles]


def _make_port(title: str) -> _Component:
    if title in _ARRAYS:
        return {"title": title, "type": "array", "json_schema": {"items": {"type": "object"}}}
    if title == SELECTION_INPUTS[-1]:
        return text_input(title, "")
    return {"title": title, "type": "object" if title == "slotMeta" else "string"}


# ----------------------------------------------------------------------------
# A flow document with its context slots wired: subflow, FlowNode, inputs, control and data edges.
#
# In: the document as plain JSON, which is changed in place, and the slots that are `Ready`.
#
#     start → write → end     ->     start → context_brand → context_voice → write → end
#
# A flow inside another one gets the run and the project handed down from the flows around it.


_RUN: Final = "cinatra_run_id"
_OLD_RUN: Final = "agent_run_id"
"""The name of the run's input in six public flows; a flow has one of the two names."""
_PROJECT: Final = "projectId"


class CannotPlace(Exception):
    """A value that must be extended is neither an object nor a list; the message names its key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """The slots of one flow that can be wired."""

    flow: FlowIR
    package: str
    slots: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """Slot id → node and input of each consumer, in the order of the declaration."""


def place_slots(document: JsonValue, ready: Ready, flows: Sequence[FlowIR]) -> None:
    """Wire `ready.slots`; `flows` are all flows of the document, the root first.

    Raises:
        CannotPlace: when the document has another value where a list or an object belongs.

    """
    _Placing(document, ready.flow).wire(ready)
    _list_screen(document)
    if ready.flow is not flows[0]:
        _hand_down(document, ready.flow, flows)


class _Placing:
    """One flow of the document, and the additions to it."""

    def __init__(self, document: JsonValue, flow: FlowIR) -> None:
        self._flow = flow
        self._value = _locate_object(document, flow.place.pointer)
        self._start = _locate_object(document, flow.by_id[flow.start].place.pointer)
        self._document = document

    @property
    def run_input(self) -> str:
        """The flow's name for the run's input."""
        titles = {port.title for port in self._flow.inputs}
        return _OLD_RUN if _OLD_RUN in titles and _RUN not in titles else _RUN

    def wire(self, ready: Ready) -> None:
        self.add_input(self.run_input, "")
        self.add_input(_PROJECT, "")
        definitions = _ensure_object(self._value, DEFINITIONS)
        for slot_id, _ in ready.slots:
            self.add_input(f"{slot_id}ParentPackageName", ready.package)
            self.add_input(f"{slot_id}SlotId", slot_id)
            definitions[node_id(slot_id)] = flow_node(slot_id)
            definitions[subflow_id(slot_id)] = subflow(slot_id)
        self._list_nodes(ready)
        self._lead_through([node_id(slot_id) for slot_id, _ in ready.slots])
        for slot_id, consumers in ready.slots:
            self._add_slot_edges(slot_id, consumers)

    def add_input(self, title: str, default: str) -> None:
        """Add a hidden input to the flow and its StartNode; an existing input stays."""
        start, flow = self._start, self._value
        lists = [(start, "inputs"), (start, "outputs"), (flow, "inputs")]
        present = [(owner, key) for owner, key in lists if key in owner]
        is_new = all(title not in _collect_titles(owner, key) for owner, key in present)
        for owner, key in present or [(flow, "inputs"), (start, "inputs")]:
            if title not in _collect_titles(owner, key):
                _ensure_list(owner, key).append(text_input(title, default))
        if is_new:
            hidden = _ensure_list(self._about_start(), "hidden")
            hidden += [title] if title not in hidden else []

    def _about_start(self) -> _Component:
        """The StartNode's `metadata.cinatra`.

        Without its list of required inputs, every input without a default is required.
        """
        metadata = _ensure_object(self._start, "metadata")
        is_said = "cinatra" in metadata
        about = _ensure_object(metadata, "cinatra")
        node = self._flow.by_id[self._flow.start]
        if not is_said and isinstance(node, StartNode) and node.required:
            about["required"] = list(node.required)
        return about

    def carry(self, title: str, node: str, input_: str) -> None:
        """Add a data edge from the StartNode."""
        start = self._flow.start
        name = f"{start}_{title}_to_{node}_{input_}"
        self._ensure_data_edges().append(data_edge(name, start, title, node, input_))

    def _list_nodes(self, ready: Ready) -> None:
        """Add the new nodes to `nodes` before every consumer, because the host's test reads the
        order.
        """
        nodes = _ensure_list(self._value, "nodes")
        order = [node.id for node in self._flow.nodes]
        users = [order.index(node) for _, consumers in ready.slots for node, _ in consumers]
        at = min([order.index(self._flow.start) + 1, *users])
        nodes[at:at] = [reference(node_id(slot_id)) for slot_id, _ in ready.slots]

    def _lead_through(self, chain: Sequence[str]) -> None:
        """StartNode → chain → what followed the StartNode."""
        edges = _ensure_list(self._value, "control_flow_connections")
        start, last = self._flow.start, chain[-1]
        for route in self._flow.routes:
            if route.source == start:
                edge = _locate_object(self._document, route.place.pointer)
                edge["from_node"] = reference(last)
                if edge.get("name") == f"{start}_to_{route.target}":
                    edge["name"] = f"{last}_to_{route.target}"
        for source, target in zip([start, *chain], chain, strict=False):
            edges.append(control_edge(f"{source}_to_{target}", source, target))

    def _add_slot_edges(self, slot_id: str, consumers: Sequence[tuple[str, str]]) -> None:
        node = node_id(slot_id)
        run, package, slot, project = SELECTION_INPUTS
        self.carry(self.run_input, node, run)
        self.carry(f"{slot_id}ParentPackageName", node, package)
        self.carry(f"{slot_id}SlotId", node, slot)
        self.carry(_PROJECT, node, project)
        for consumer, title in consumers:
            name = f"{node}_{BINDINGS}_to_{consumer}_{title}"
            self._ensure_data_edges().append(data_edge(name, node, BINDINGS, consumer, title))

    def _ensure_data_edges(self) -> list[JsonValue]:
        return _ensure_list(self._value, "data_flow_connections")


def _list_screen(document: JsonValue) -> None:
    """Add the renderer to the root's hitlScreens, which names every renderer of a gate (OAS177)."""
    about = _ensure_object(_ensure_object(_locate_object(document, ""), "metadata"), "cinatra")
    screens = about.setdefault("hitlScreens", [])
    if isinstance(screens, list) and SELECTOR not in screens:
        screens.append(SELECTOR)


def _hand_down(document: JsonValue, flow: FlowIR, flows: Sequence[FlowIR]) -> None:
    """Pass run and project from the root through the outer flows to this flow."""
    inner = _Placing(document, flow)
    known = {port.title for port in flow.inputs}
    for outer in flows:
        for node in outer.nodes:
            if not isinstance(node, FlowNode) or node.subflow.place != flow.place:
                continue
            around = _Placing(document, outer)
            fed = {edge.input for edge in outer.data_edges_into(node.id)}
            for title, above in ((inner.run_input, around.run_input), (_PROJECT, _PROJECT)):
                if title in known or title in fed or _is_carried(document, outer, node, title):
                    continue
                around.add_input(above, "")
                written = _locate_object(document, node.place.pointer)
                if "inputs" in written and title not in _collect_titles(written, "inputs"):
                    _ensure_list(written, "inputs").append(text_input(title, ""))
                around.carry(above, node.id, title)
            if outer is not flows[0]:
                _hand_down(document, outer, flows)


def _is_carried(document: JsonValue, outer: FlowIR, node: FlowNode, title: str) -> bool:
    """Whether the edge exists already: a flow may contain several flows with slots."""
    edges = _ensure_list(_locate_object(document, outer.place.pointer), "data_flow_connections")
    return any(
        isinstance(edge, dict)
        and edge.get("destination_node") == reference(node.id)
        and edge.get("destination_input") == title
        for edge in edges
    )


# ---------------------------------------------------------------------------- plain JSON


def _locate_object(document: JsonValue, pointer: str) -> _Component:
    """The object at a pointer; building the flow has found it."""
    found = document
    for key in keys_of(pointer):
        found = found[int(key)] if isinstance(found, list) else found[key]  # type: ignore[index]  # a flow was built from it
    assert isinstance(found, dict)
    return found


def _ensure_object(owner: _Component, key: str) -> _Component:
    """The object under a key; a missing or null value becomes an empty object."""
    if owner.get(key) is None:
        owner[key] = {}
    found = owner[key]
    if not isinstance(found, dict):
        raise CannotPlace(f'"{key}" is no object')
    return found


def _ensure_list(owner: _Component, key: str) -> list[JsonValue]:
    """The list under a key; a missing or null value becomes an empty list."""
    if owner.get(key) is None:
        owner[key] = []
    found = owner[key]
    if not isinstance(found, list):
        raise CannotPlace(f'"{key}" is no list')
    return found


def _collect_titles(owner: _Component, key: str) -> set[JsonValue]:
    return {one.get("title") for one in _ensure_list(owner, key) if isinstance(one, dict)}
