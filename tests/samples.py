"""Where the real input is, and a small flow to change; for the tests of this folder."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

CORPUS = Path(__file__).resolve().parents[1] / "../shared/corpus"
CINATRA = sorted(CORPUS.glob("cinatra/*/cinatra/oas.json"))
AGENTSPEC = sorted(CORPUS.glob("agentspec/*.yaml"))
INVALID = sorted(CORPUS.glob("agentspec/invalid/*.yaml"))

needs_corpus = pytest.mark.skipif(not CINATRA, reason="the folder of real input is absent")


def agent(name: str) -> Path:
    return CORPUS / "cinatra" / name / "cinatra" / "oas.json"


def ref(name: str) -> dict[str, str]:
    return {"$component_ref": name}


def control(source: str, target: str, branch: str | None = None) -> dict[str, Any]:
    edge = {
        "component_type": "ControlFlowEdge",
        "name": f"{source}_to_{target}",
        "from_node": ref(source),
        "to_node": ref(target),
    }
    return edge if branch is None else {**edge, "from_branch": branch}


def data(source: str, output: str, target: str, into: str) -> dict[str, Any]:
    return {
        "component_type": "DataFlowEdge",
        "name": f"{source}_{output}_to_{target}_{into}",
        "source_node": ref(source),
        "source_output": output,
        "destination_node": ref(target),
        "destination_input": into,
    }


def text(title: str, **more: Any) -> dict[str, Any]:
    return {"title": title, "type": "string", **more}


SMALL: dict[str, Any] = {
    "agentspec_version": "26.1.0",
    "component_type": "Flow",
    "id": "small",
    "name": "Small",
    "metadata": {"cinatra": {"type": "flow", "packageName": "@acme/small"}},
    "inputs": [text("topic")],
    "outputs": [text("draft")],
    "start_node": ref("start"),
    "nodes": [ref("start"), ref("write"), ref("end")],
    "control_flow_connections": [control("start", "write"), control("write", "end")],
    "data_flow_connections": [
        data("start", "topic", "write", "topic"),
        data("write", "draft", "end", "draft"),
    ],
    "$referenced_components": {
        "start": {
            "component_type": "StartNode",
            "id": "start",
            "name": "Inputs",
            "metadata": {"cinatra": {"required": ["topic"], "hidden": []}},
            "inputs": [text("topic")],
        },
        "write": {
            "component_type": "ApiNode",
            "id": "write",
            "name": "Write",
            "url": "{{CINATRA_BASE_URL}}/api/llm-bridge",
            "http_method": "POST",
            "data": {"user": "Write about {{ topic }}"},
            "inputs": [text("topic")],
            "outputs": [text("draft")],
        },
        "end": {
            "component_type": "EndNode",
            "id": "end",
            "name": "End",
            "outputs": [text("draft")],
        },
    },
}
"""Three nodes, no findings: the valid twin of most invalid cases."""


def small(**changes: Any) -> dict[str, Any]:
    """A fresh copy of `SMALL`; keyword arguments replace fields of its components by name.

    `small(write={"url": 7})` changes the field `url` of the component `write`;
    `small(flow={"nodes": []})` changes the flow itself; a value of `...` removes the field.
    """
    flow = copy.deepcopy(SMALL)
    for name, fields in changes.items():
        target = flow if name == "flow" else flow["$referenced_components"].setdefault(name, {})
        for field, value in fields.items():
            if value is ...:
                target.pop(field, None)
            else:
                target[field] = value
    return flow


def plain(**changes: Any) -> dict[str, Any]:
    """The same flow as a plain Agent Spec file: no metadata at all."""
    flow = small(**changes)
    flow.pop("metadata", None)
    for component in flow["$referenced_components"].values():
        if isinstance(component, dict):
            component.pop("metadata", None)
    return flow


def with_node(component: dict[str, Any], *edges: dict[str, Any]) -> dict[str, Any]:
    """`SMALL` with one more node between `write` and `end`, fed by `edges`."""
    name = component["id"]
    flow = small(**{name: component})
    flow["nodes"].insert(2, ref(name))
    flow["control_flow_connections"] = [
        control("start", "write"),
        control("write", name),
        control(name, "end"),
    ]
    flow["data_flow_connections"] += edges
    return flow


def as_bytes(flow: dict[str, Any]) -> bytes:
    return json.dumps(flow, indent=2).encode()


def found_in(source: Any, **options: Any) -> list[Any]:
    """The findings that compiling makes: those of reading, of building and of checks/structure."""
    from oas_compiler.pipeline import compile_ir
    from oas_compiler.report.diagnostics import CompileError

    try:
        return list(compile_ir(source, **options).warnings)
    except CompileError as error:
        return list(error.diagnostics)


def errors(source: Any, **options: Any) -> list[tuple[str, str]]:
    """(code, pointer) of every error, in file order."""
    found = found_in(source, **options)
    return [(each.code, each.place.pointer) for each in found if each.severity == "error"]


def codes(source: Any, **options: Any) -> set[str]:
    """Codes of all findings, warnings included."""
    return {found.code for found in found_in(source, **options)}


def only(source: Any, code: str, **options: Any) -> Any:
    """The one finding of a run, which has this code."""
    found = found_in(source, **options)
    assert [finding.code for finding in found] == [code], [str(finding) for finding in found[:5]]
    return found[0]
