"""The rules of this group that say what Cinatra's dialect is, in reading order."""

from __future__ import annotations

from oas_compiler.checks.cinatra.bare_inputs import bare_inputs
from oas_compiler.checks.cinatra.end_output_source import end_output_source
from oas_compiler.checks.cinatra.flow_descriptors import flow_descriptors
from oas_compiler.checks.cinatra.gate_output import gate_output
from oas_compiler.checks.cinatra.js_ternary import js_ternary
from oas_compiler.checks.cinatra.names_present import names_present
from oas_compiler.checks.cinatra.node_reference_once import node_reference_once
from oas_compiler.checks.cinatra.nodes_by_reference import nodes_by_reference
from oas_compiler.checks.cinatra.number_default import number_default
from oas_compiler.checks.cinatra.object_types import object_types
from oas_compiler.checks.cinatra.one_end import one_end
from oas_compiler.checks.cinatra.parallel_flows import parallel_flows
from oas_compiler.checks.cinatra.root_is_flow import root_is_flow
from oas_compiler.findings.rule import CheckRule

RULES: tuple[CheckRule, ...] = (
    names_present,
    flow_descriptors,
    nodes_by_reference,
    parallel_flows,
    one_end,
    bare_inputs,
    js_ternary,
    number_default,
    end_output_source,
    gate_output,
    object_types,
    node_reference_once,
    root_is_flow,
)
