"""Nodes that call something: ApiNode, ToolNode, FlowNode.

ApiNode without outputs      ->  one untyped output "response"
FlowNode without ports       ->  the ports of its subflow, the branches of its EndNodes
"""

from __future__ import annotations

from oas_compiler import ir
from oas_compiler.build.nodes.inference import (
    branches_of,
    checked_branches,
    next_only,
    specialised,
    template_inputs,
)
from oas_compiler.build.nodes.site import Site, cinatra_error, cinatra_text, common
from oas_compiler.ir import Json, JsonValue, Port


def build_api(site: Site) -> ir.Node:
    component = site.component
    fields = ("url", "http_method", "data", "query_params", "headers")
    also = ("api_spec_uri", "sensitive_headers", "json_spec_filter")
    method = component.text("http_method", "POST")
    data = component.fields.get("data")
    # SDKs write `data: {}` when there is no body at all
    empty = data is None or (data == {} and method.upper() in {"GET", "HEAD", "DELETE"})
    outputs = site.declared("outputs")
    return ir.ApiNode(
        **common(site),
        # in Cinatra files Cinatra's own rule compares them, both ways
        inputs=template_inputs(site, *fields, also=None if site.is_cinatra else also),
        outputs=(Port(title="response", place=site.place()),) if outputs is None else outputs,
        branches=next_only(site),
        url=component.text("url"),
        method=method if "{" in method else method.upper(),
        data=None if empty else Json.of(data),
        headers=Json.of(component.mapping("headers")),
        query=Json.of(component.mapping("query_params")),
    )


def build_tool(site: Site) -> ir.Node:
    tool = site.flow.tools.get(site.component.id)
    if tool is None:
        return build_unknown(site)
    inputs = site.declared("inputs", tool) or ()
    outputs = site.declared("outputs", tool) or ()
    return ir.ToolNode(
        **common(site),
        inputs=specialised(site, "inputs", inputs, "tool"),
        outputs=specialised(site, "outputs", outputs, "tool"),
        branches=next_only(site),
        tool_name=tool.text("name"),
    )


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


def build_unknown(site: Site) -> ir.Node:
    """A stand-in that knows what the file declares and nothing else."""
    declared = site.component.items("branches")
    branches = tuple(name for name in declared or () if isinstance(name, str))
    return ir.UnknownNode(
        **common(site),
        component_type=site.component.type,
        inputs=site.declared("inputs") or (),
        outputs=site.declared("outputs") or (),
        branches=branches or ("next",),
    )
