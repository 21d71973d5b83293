"""The subflow that selects for one context slot, and the FlowNode that runs it.

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

from oas_compiler.control.slots import (
    BINDINGS,
    FINALIZE,
    MARKERS,
    RESOLVE,
    SELECTION_AGENT,
    SELECTION_INPUTS,
)
from oas_compiler.ir import JsonValue

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
