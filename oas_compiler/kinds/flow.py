"""FlowNode: another flow inside this one.

without ports           ->  the ports of its subflow, the branches of its EndNodes
"""

from __future__ import annotations

from oas_compiler import ir
from oas_compiler.component_facts.component import NODE_FIELDS, SUBFLOW, Field, Site, common
from oas_compiler.component_facts.inference import branches_of, checked_branches, specialised
from oas_compiler.component_facts.metadata import (
    CHILD_KEYS,
    NODE_KEYS,
    cinatra_error,
    cinatra_text,
)
from oas_compiler.ir import JsonValue
from oas_compiler.kinds.kind import NodeKind, build_unknown


def build_flow(site: Site) -> ir.Node:
    if not site.subflows:
        return build_unknown(site)
    subflow, branches = site.subflows[0], branches_of(site.subflows[0])
    inputs, outputs = subflow.inputs, subflow.outputs
    if subflow.is_whole:
        inputs = specialised(site, "inputs", inputs, "subflow")
        outputs = specialised(site, "outputs", outputs, "subflow")
        branches = checked_branches(site, branches)
    return ir.FlowNode(
        **common(site),
        inputs=inputs,
        outputs=outputs,
        branches=branches,
        subflow=subflow,
        gate_steps=_gate_steps(site),
        package_name=cinatra_text(site, "packageName"),
    )


def _gate_steps(site: Site) -> tuple[ir.GateStep, ...]:
    steps = site.component.cinatra.get("gateSteps")
    if steps is None:
        return ()
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        cinatra_error(site, "gateSteps", "a list of objects")
        return ()
    return tuple(_gate_step(site, step) for step in steps if isinstance(step, dict))


def _gate_step(site: Site, step: dict[str, JsonValue]) -> ir.GateStep:
    def text(key: str) -> str:
        value = step.get(key)
        return value if isinstance(value, str) else ""

    count, approval = step.get("gateCount", 1), step.get("requiresApproval")
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        cinatra_error(site, "gateSteps", "a list whose gateCount is a number from 1")
        count = 1
    return ir.GateStep(
        name=text("name"),
        description=text("description"),
        renderer=text("renderer"),
        risk_class=text("riskClass"),
        requires_approval=approval if isinstance(approval, bool) else None,
        hitl_owned_by=text("hitlOwnedBy"),
        gate_count=count,
    )


FLOW = NodeKind(
    component_type="FlowNode",
    node=ir.FlowNode,
    build=build_flow,
    words="Runs another flow inside this one.",
    fields={
        **NODE_FIELDS,
        "inputs": Field("list", "Left out, these are the subflow's."),
        "outputs": Field("list", "Left out, these are the subflow's."),
        "subflow": SUBFLOW,
    },
    flows=("subflow",),
    passage="flow",
    acts=False,
    shows_screens=True,
    shape="subflow",
    caption=lambda node: f"subflow {node.package_name}".rstrip(),
    metadata={
        **NODE_KEYS,
        **CHILD_KEYS,
        "gateSteps": {"type": "array", "items": {"$ref": "#/$defs/gateStep"}},
    },
    lowering="oas_compiler.lower.plain_nodes:lower_flow_node",
)
