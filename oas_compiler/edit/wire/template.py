"""The subflow that selects for one context slot, and the FlowNode that runs it.

    subflow("brand")     ->  {"component_type": "Flow", "id": "context-brand-subflow", "nodes": [
                              ctx-brand-start, ctx-brand-resolve_context, …, ctx-brand-end], …}
    flow_node("brand")   ->  {"component_type": "FlowNode", "id": "context_brand", …}

start → resolve_context → select_mode ─default→ emit_context_payload → context_select_gate
                                      │           → finalize_interactive → end
                                      └autonomous→ finalize_autonomous → end

It has the shape that Cinatra's public agents carry (spec, section 6), key by key: a host finds the
gate and the calls of a slot by these ids.
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
"""The renderer of the gate at which a person picks."""
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
    """The FlowNode of a slot."""
    return f"context_{slot_id}"


def subflow_id(slot_id: str) -> str:
    """The flow that it runs."""
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
    components: dict[str, JsonValue] = {prefix + name: _node(prefix, name) for name in _LOCAL}
    return {
        "agentspec_version": _VERSION,
        "component_type": "Flow",
        "id": subflow_id(slot_id),
        "name": f"Context Agent ({slot_id})",
        "inputs": _identity(),
        "outputs": [_array(BINDINGS)],
        "start_node": reference(f"{prefix}start"),
        "nodes": [reference(prefix + name) for name in _LOCAL],
        "control_flow_connections": [
            control_edge(prefix + name, prefix + source, prefix + target, branch)
            for name, source, target, branch in _CONTROL
        ],
        "data_flow_connections": [
            data_edge(prefix + name, prefix + source, output, prefix + target, output)
            for name, source, output, target in _carried()
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


def _carried() -> list[tuple[str, str, str, str]]:
    """(name, source, what is carried, target) of every data edge."""
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


def _node(prefix: str, name: str) -> _Component:
    return {**_PARTS[name](), "id": prefix + name}


def _named(kind: str, label: str, fields: _Component) -> _Component:
    """A component in the order of keys that Cinatra writes; its id is filled in by `_node`."""
    return {"component_type": kind, "id": "", "name": label, **fields}


def _start() -> _Component:
    about: dict[str, JsonValue] = {
        "required": list(SELECTION_INPUTS[:-1]),
        "hidden": list(SELECTION_INPUTS),
    }
    return _named("StartNode", "Inputs", {"metadata": {"cinatra": about}, "inputs": _identity()})


def _resolve() -> _Component:
    outputs: list[JsonValue] = [
        _array("candidates"),
        {"title": "slotMeta", "type": "object"},
        _array("selectedRefs"),
        _text("selectionMode"),
        _text("resolutionMode"),
    ]
    return _named("ApiNode", "Resolve context candidates", _call(RESOLVE, {}, _identity(), outputs))


def _select() -> _Component:
    return _named(
        "BranchingNode",
        "Branch on selection mode",
        {
            "metadata": {"cinatra": {"purpose": "route-autonomous-slots-around-the-HITL-gate"}},
            "inputs": [_text("selectionMode")],
            "outputs": [],
            "branches": ["default", "autonomous"],
            "mapping": {"autonomous": "autonomous"},
        },
    )


def _emit() -> _Component:
    inputs: list[JsonValue] = [
        _array("candidates"),
        {"title": "slotMeta", "type": "object"},
        _array("selectedRefs"),
    ]
    return _named(
        "OutputMessageNode",
        "Emit resolved context as agent message",
        {"inputs": inputs, "message": _document(_EMITTED)},
    )


def _gate() -> _Component:
    about: dict[str, JsonValue] = {
        "riskClass": "read_only",
        "requiresApproval": True,
        "renderer": SELECTOR,
        "a2uiSurfaceId": "context-selection:select",
    }
    return _named(
        "InputMessageNode",
        "Select context",
        {"metadata": {"cinatra": about}, "outputs": [_text("userResponse")]},
    )


def _finalize_interactive() -> _Component:
    sent = {"selectionMode": "{{ selectionMode }}", "userResponse": "{{ userResponse }}"}
    inputs = [*_identity(), _text("selectionMode"), _text("userResponse")]
    return _named(
        "ApiNode",
        "Finalize selected context (interactive)",
        _call(FINALIZE, sent, inputs, [_array(BINDINGS)]),
    )


def _finalize_autonomous() -> _Component:
    envelope = _document(("slotId", "resolutionMode", "selectedRefs"))
    sent = {"selectionMode": "{{ selectionMode }}", "userResponse": envelope}
    inputs = [
        *_identity(),
        _text("selectionMode"),
        _text("resolutionMode"),
        _array("selectedRefs"),
    ]
    return _named(
        "ApiNode",
        "Finalize selected context (autonomous)",
        _call(FINALIZE, sent, inputs, [_array(BINDINGS)]),
    )


def _end() -> _Component:
    return _named(
        "EndNode", "Outputs", {"outputs": [_array(BINDINGS)], "inputs": [_array(BINDINGS)]}
    )


_PARTS: Final = {
    "start": _start,
    "resolve_context": _resolve,
    "select_mode": _select,
    "emit_context_payload": _emit,
    "context_select_gate": _gate,
    "finalize_interactive": _finalize_interactive,
    "finalize_autonomous": _finalize_autonomous,
    "end": _end,
}


def _call(
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


def _document(names: Sequence[str]) -> str:
    """A template that renders a JSON object of these inputs.

    The comment in front is for upstream, which sees only bare placeholders; it renders to nothing.
    """
    hint = " ".join(f"{{{{ {name} }}}}" for name in names)
    members = ",".join(f'"{name}":{{{{ {name} | tojson }}}}' for name in names)
    return f"{{# pyagentspec-input-hint (do not remove): {hint} #}}{{{members}}}"


def _identity() -> list[JsonValue]:
    """For whom is selected; without a project everything outside of projects counts."""
    run, package, slot, project = SELECTION_INPUTS
    return [_text(run), _text(package), _text(slot), text_input(project, "")]


def _text(title: str) -> _Component:
    return {"title": title, "type": "string"}


def _array(title: str) -> _Component:
    return {"title": title, "type": "array", "json_schema": {"items": {"type": "object"}}}
