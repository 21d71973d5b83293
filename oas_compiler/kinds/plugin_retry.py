"""PluginRetryNode: WayFlow's flow that is run again until it succeeds.

success_condition: "ok", flow outputs "ok", "text"
    ->  the branches of the flow and "failure",
        outputs "text", "retry_step_num_retries", "retry_step_success"
"""

from __future__ import annotations

from typing import Final

from oas_compiler import ir
from oas_compiler.component_facts.component import PLUGIN_FIELDS, SUBFLOW, Field, Site, common
from oas_compiler.component_facts.inference import branches_of, checked_branches, specialised
from oas_compiler.findings.finding import nearest
from oas_compiler.ir import Port, ScalarType
from oas_compiler.kinds.kind import NodeKind, build_unknown

FAILURE: Final = "failure"
COUNT: Final = "retry_step_num_retries"
SUCCEEDED: Final = "retry_step_success"
_USUAL: Final = 5
_MOST: Final = 20


def build_retry(site: Site) -> ir.Node:
    if not site.subflows_are_whole:
        return build_unknown(site)
    subflow = site.subflows[0]
    success = site.component.text("success_condition")
    known = {port.title for port in subflow.outputs}
    if success not in known and "success_condition" not in site.component.unread:
        message = f'"{success[:80]}" is no output of the flow that {site.label} runs'
        hint = nearest(success, known, site.findings)
        site.error("OAS022", message, "success_condition", hint=hint)
    others = tuple(port for port in subflow.outputs if port.title != success)
    about = (
        Port(title=COUNT, type=ScalarType("integer"), place=site.place()),
        Port(title=SUCCEEDED, type=ScalarType("boolean"), place=site.place()),
    )
    return ir.PluginRetryNode(
        **common(site),
        inputs=specialised(site, "inputs", subflow.inputs, "flow"),
        outputs=specialised(site, "outputs", (*others, *about), "flow"),
        branches=checked_branches(site, tuple(dict.fromkeys((*branches_of(subflow), FAILURE)))),
        subflow=subflow,
        success=success,
        trials=_read_trials(site),
    )


def _read_trials(site: Site) -> int:
    value = site.component.fields.get("max_num_trials")
    if value is None:
        return _USUAL
    if type(value) is int and 1 <= value <= _MOST:
        return value
    message = f"max_num_trials of {site.label} must be a whole number from 1 to {_MOST}"
    site.error("OAS022", message, "max_num_trials")
    return _USUAL


PLUGIN_RETRY = NodeKind(
    component_type="PluginRetryNode",
    node=ir.PluginRetryNode,
    build=build_retry,
    words="Runs a flow again until it succeeds.",
    fields={
        **PLUGIN_FIELDS,
        "flow": SUBFLOW,
        "success_condition": Field(
            "text", "The output of the flow that says whether it succeeded.", required=True
        ),
        "max_num_trials": Field("any", "How often it is run, at most; 5 where left out."),
    },
    flows=("flow",),
    passage="caught",
    acts=False,
    lowering="oas_compiler.lower.plain_nodes:lower_retry",
)
