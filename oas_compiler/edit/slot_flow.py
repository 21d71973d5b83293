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
from dataclasses import dataclass
from typing import Final

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
_LOCAL: Final = (
    "start",
    "resolve_context",
    "select_mode",
    "emit_context_payload",
    "context_select_gate",
    "finalize_interactive",
    "finalize_autonomous",
    "end",
)


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
    components: dict[str, JsonValue] = {
        prefix + name: _make_component(prefix, name) for name in _LOCAL
    }
    return {
        "agentspec_version": _VERSION,
        "component_type": "Flow",
        "id": subflow_id(slot_id),
        "name": f"Context Agent ({slot_id})",
        "inputs": _list_identity_inputs(),
        "outputs": [_make_array_property(BINDINGS)],
        "start_node": reference(f"{prefix}start"),
        "nodes": [reference(prefix + name) for name in _LOCAL],
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
    found: list[tuple[str, str, str, str]] = []
    found += [(f"start_{one}_to_resolve", "start", one, "resolve_context") for one in SELECTION_INPUTS]  # fmt: skip
    found.append(("resolve_selectionMode_to_select", "resolve_context", "selectionMode", "select_mode"))  # fmt: skip
    found += [
        (f"resolve_{one}_to_emit", "resolve_context", one, "emit_context_payload")
        for one in _EMITTED
    ]
    found.append(
        (
            "gate_userResponse_to_finalize_interactive",
            "context_select_gate",
            "userResponse",
            "finalize_interactive",
        )
    )
    found += _into_finalize("finalize_interactive", ("selectionMode",))
    found += _into_finalize(
        "finalize_autonomous", ("selectionMode", "resolutionMode", "selectedRefs")
    )
    found += [
        (f"{one}_to_end", one, BINDINGS, "end")
        for one in ("finalize_interactive", "finalize_autonomous")
    ]
    return found


def _into_finalize(target: str, resolved: Sequence[str]) -> list[tuple[str, str, str, str]]:
    given = [(f"start_{one}_to_{target}", "start", one, target) for one in SELECTION_INPUTS]
    found = [(f"resolve_{one}_to_{target}", "resolve_context", one, target) for one in resolved]
    return given + found


def _make_component(prefix: str, name: str) -> _Component:
    return {**_PARTS[name](), "id": prefix + name}


def _label_component(kind: str, label: str, fields: _Component) -> _Component:
    """A component with its keys in Cinatra's order; `_make_component` fills in its id."""
    return {"component_type": kind, "id": "", "name": label, **fields}


def _make_start_node() -> _Component:
    about: dict[str, JsonValue] = {
        "required": list(SELECTION_INPUTS[:-1]),
        "hidden": list(SELECTION_INPUTS),
    }
    return _label_component(
        "StartNode", "Inputs", {"metadata": {"cinatra": about}, "inputs": _list_identity_inputs()}
    )


def _make_resolve_node() -> _Component:
    outputs: list[JsonValue] = [
        _make_array_property("candidates"),
        {"title": "slotMeta", "type": "object"},
        _make_array_property("selectedRefs"),
        _make_text_property("selectionMode"),
        _make_text_property("resolutionMode"),
    ]
    return _label_component(
        "ApiNode",
        "Resolve context candidates",
        _describe_api_call(RESOLVE, {}, _list_identity_inputs(), outputs),
    )


def _make_branching_node() -> _Component:
    return _label_component(
        "BranchingNode",
        "Branch on selection mode",
        {
            "metadata": {"cinatra": {"purpose": "route-autonomous-slots-around-the-HITL-gate"}},
            "inputs": [_make_text_property("selectionMode")],
            "outputs": [],
            "branches": ["default", "autonomous"],
            "mapping": {"autonomous": "autonomous"},
        },
    )


def _make_emit_node() -> _Component:
    inputs: list[JsonValue] = [
        _make_array_property("candidates"),
        {"title": "slotMeta", "type": "object"},
        _make_array_property("selectedRefs"),
    ]
    return _label_component(
        "OutputMessageNode",
        "Emit resolved context as agent message",
        {"inputs": inputs, "message": _format_json_template(_EMITTED)},
    )


def _make_gate_node() -> _Component:
    about: dict[str, JsonValue] = {
        "riskClass": "read_only",
        "requiresApproval": True,
        "renderer": SELECTOR,
        "a2uiSurfaceId": "context-selection:select",
    }
    return _label_component(
        "InputMessageNode",
        "Select context",
        {"metadata": {"cinatra": about}, "outputs": [_make_text_property("userResponse")]},
    )


def _finalize_interactive() -> _Component:
    sent = {"selectionMode": "{{ selectionMode }}", "userResponse": "{{ userResponse }}"}
    inputs = [
        *_list_identity_inputs(),
        _make_text_property("selectionMode"),
        _make_text_property("userResponse"),
    ]
    return _label_component(
        "ApiNode",
        "Finalize selected context (interactive)",
        _describe_api_call(FINALIZE, sent, inputs, [_make_array_property(BINDINGS)]),
    )


def _finalize_autonomous() -> _Component:
    envelope = _format_json_template(("slotId", "resolutionMode", "selectedRefs"))
    sent = {"selectionMode": "{{ selectionMode }}", "userResponse": envelope}
    inputs = [
        *_list_identity_inputs(),
        _make_text_property("selectionMode"),
        _make_text_property("resolutionMode"),
        _make_array_property("selectedRefs"),
    ]
    return _label_component(
        "ApiNode",
        "Finalize selected context (autonomous)",
        _describe_api_call(FINALIZE, sent, inputs, [_make_array_property(BINDINGS)]),
    )


def _make_end_node() -> _Component:
    return _label_component(
        "EndNode",
        "Outputs",
        {"outputs": [_make_array_property(BINDINGS)], "inputs": [_make_array_property(BINDINGS)]},
    )


_PARTS: Final = {
    "start": _make_start_node,
    "resolve_context": _make_resolve_node,
    "select_mode": _make_branching_node,
    "emit_context_payload": _make_emit_node,
    "context_select_gate": _make_gate_node,
    "finalize_interactive": _finalize_interactive,
    "finalize_autonomous": _finalize_autonomous,
    "end": _make_end_node,
}


def _describe_api_call(
    path: str, sent: dict[str, str], inputs: list[JsonValue], outputs: list[JsonValue]
) -> _Component:
    data: dict[str, JsonValue] = {name: f"{{{{ {name} }}}}" for name in SELECTION_INPUTS}
    return {
        "url": f"{{{{CINATRA_BASE_URL}}}}{path}",
        "http_method": "POST",
        "data": {**data, **sent},
        "inputs": inputs,
        "outputs": outputs,
    }


def _format_json_template(names: Sequence[str]) -> str:
    """A template that renders a JSON object of these inputs.

    The comment before it is for Cinatra's compiler, which sees only bare placeholders; it renders
    to an empty text.
    """
    hint = " ".join(f"{{{{ {name} }}}}" for name in names)
    members = ",".join(f'"{name}":{{{{ {name} | tojson }}}}' for name in names)
    return f"{{# pyagentspec-input-hint (do not remove): {hint} #}}{{{members}}}"


def _list_identity_inputs() -> list[JsonValue]:
    """Inputs that name the run and the project; without a project, artifacts outside of projects
    count.
    """
    run, package, slot, project = SELECTION_INPUTS
    return [
        _make_text_property(run),
        _make_text_property(package),
        _make_text_property(slot),
        text_input(project, ""),
    ]


def _make_text_property(title: str) -> _Component:
    return {"title": title, "type": "string"}


def _make_array_property(title: str) -> _Component:
    return {"title": title, "type": "array", "json_schema": {"items": {"type": "object"}}}


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
