"""The data that Cinatra's compiler would derive from a flow and its package.

In: the IR, the package around the file, the document as written.  Out: `Derived`.

    a step that reads start.topic and the output x of the node right before it and y of a third
        ->  inputMapping {"topic": "{{input_params.topic}}", "x": "{{child_output.x}}",
                          "y": "{{third_output.y}}"}

Source of the rules: Cinatra's compile rules 3, 5, 6, 9, 10 and 11.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Final

from cinatra_sdk.contract import SEND_SUFFIXES
from oas_compiler.control.approval import Approval
from oas_compiler.document.scope import Document
from oas_compiler.explain.records import Derived
from oas_compiler.findings.finding import Findings
from oas_compiler.ir import FlowIR, Json, JsonValue
from oas_compiler.package.declared import wanted
from oas_compiler.package.package import Package
from oas_compiler.schema.flow_schemas import end_schema, input_schema
from oas_compiler.text.files import first_of
from oas_compiler.text.source import read_below

SETTINGS: Final = "cinatra.json"
FULL_RUNTIMES: Final = frozenset({"wayflow", "cinatra-linear", "langgraph"})
"""Runtimes that can hold back a single step: Cinatra's two, and this project's, whose gates are per
step.
"""


def derive(
    flow: FlowIR,
    approval: Approval,
    *,
    package: Package | None,
    document: Document | None,
    file: str,
    findings: Findings,
) -> Derived:
    """All data that Cinatra stores beside a flow."""
    dependencies: dict[str, JsonValue] = {
        one.name: one.range for one in wanted(package.cinatra if package is not None else {})
    }
    results = end_schema(flow)
    settings = _read_host_settings(package, file, findings)
    return Derived(
        approval_policy=Json.of(approval.policy()),
        input_schema=Json.of(input_schema(flow)),
        output_schema=Json.of(results) if results is not None else None,
        input_mapping=tuple(_input_mapping(flow, approval)),
        agent_dependencies=Json.of(dependencies),
        limits=Json.of(settings) if settings is not None else None,
        trigger_mode=_trigger_mode(flow),
        gated_steps=tuple(_gated_steps(flow, approval)),
        produces_object_types=_object_types(document),
    )


def _input_mapping(flow: FlowIR, approval: Approval) -> Iterator[tuple[int, str, Json]]:
    position = {node.id: index for index, node in enumerate(flow.in_order())}
    for step in approval.steps:
        mapping: dict[str, JsonValue] = {}
        for edge in flow.data_edges_into(step.node_id):
            if edge.source == flow.start:
                text = f"{{{{input_params.{edge.output}}}}}"
            elif position[edge.source] == position[step.node_id] - 1:
                text = f"{{{{child_output.{edge.output}}}}}"
            else:
                text = f"{{{{{edge.source}_output.{edge.output}}}}}"
            mapping[edge.input] = text
        if mapping:
            yield step.number, step.node_id, Json.of(mapping)


def _trigger_mode(flow: FlowIR) -> str:
    runtime = flow.cinatra.mapping().get("runtime")
    return "full" if runtime is None or runtime in FULL_RUNTIMES else "start-only"


def _gated_steps(flow: FlowIR, approval: Approval) -> Iterator[int]:
    """The gated steps; a step of a node that runs flows counts only if the author declares side effects."""
    for step in approval.steps:
        node = flow.by_id[step.node_id]
        said = node.cinatra.mapping().get("sideEffects") is True
        if said or (step.risk_class.endswith(SEND_SUFFIXES) and not node.subflows):
            yield step.number


def _object_types(document: Document | None) -> tuple[str, ...] | None:
    """The object types that the root flow's outputs declare."""
    root = document.root.value if document is not None and document.root is not None else None
    outputs = root.get("outputs") if isinstance(root, dict) else None
    found = []
    for output in outputs if isinstance(outputs, list) else ():
        said = output.get("cinatra") if isinstance(output, dict) else None
        kind = said.get("object_type") if isinstance(said, dict) else None
        if isinstance(kind, str) and kind:
            found.append(kind)
    return tuple(dict.fromkeys(found)) or None


def _read_host_settings(
    package: Package | None, file: str, findings: Findings
) -> dict[str, JsonValue] | None:
    """The parts of cinatra.json that a host reads; the file lies beside package.json or the
    flow.
    """
    folders = [package.root] if package is not None else []
    if file:
        folders.append(FilePath(file).parent)
    for folder in folders:
        if first_of(folder, (SETTINGS,)) is None:
            continue
        source = read_below(folder, SETTINGS, findings)
        value = source.value if source is not None else None
        known = ("limits", "requiredConnections", "defaults")
        return {key: value[key] for key in known if key in value} if isinstance(value, dict) else {}
    return None
