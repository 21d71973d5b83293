"""The rules of this group, in reading order."""

from __future__ import annotations

from oas_compiler.checks.structure.allowed_components import allowed_components
from oas_compiler.checks.structure.answer_schemas import answer_schemas
from oas_compiler.checks.structure.castable_edges import castable_edges
from oas_compiler.checks.structure.control_edge_nodes import control_edge_nodes
from oas_compiler.checks.structure.data_edge_nodes import data_edge_nodes
from oas_compiler.checks.structure.end_is_reachable import end_is_reachable
from oas_compiler.checks.structure.end_node_has_edge import end_node_has_edge
from oas_compiler.checks.structure.every_branch_leads_on import every_branch_leads_on
from oas_compiler.checks.structure.has_end_node import has_end_node
from oas_compiler.checks.structure.host_owned_names import host_owned_names
from oas_compiler.checks.structure.inputs_are_fed import inputs_are_fed
from oas_compiler.checks.structure.known_branches import known_branches
from oas_compiler.checks.structure.known_http_method import known_http_method
from oas_compiler.checks.structure.known_inputs import known_inputs
from oas_compiler.checks.structure.known_outputs import known_outputs
from oas_compiler.checks.structure.no_edge_into_start import no_edge_into_start
from oas_compiler.checks.structure.no_edge_out_of_end import no_edge_out_of_end
from oas_compiler.checks.structure.node_is_reachable import node_is_reachable
from oas_compiler.checks.structure.one_edge_per_branch import one_edge_per_branch
from oas_compiler.checks.structure.one_start_node import one_start_node
from oas_compiler.checks.structure.output_types_agree import output_types_agree
from oas_compiler.checks.structure.outputs_are_produced import outputs_are_produced
from oas_compiler.checks.structure.outputs_at_every_end import outputs_at_every_end
from oas_compiler.checks.structure.port_schemas import port_schemas
from oas_compiler.checks.structure.same_output_same_type import same_output_same_type
from oas_compiler.checks.structure.sendable_headers import sendable_headers
from oas_compiler.checks.structure.start_node_is_listed import start_node_is_listed
from oas_compiler.checks.structure.supported_kinds import supported_kinds
from oas_compiler.checks.structure.tools_are_registered import tools_are_registered
from oas_compiler.checks.structure.unique_node_ids import unique_node_ids
from oas_compiler.findings.rule import CheckRule

RULES: tuple[CheckRule, ...] = (
    supported_kinds,
    allowed_components,
    # nodes
    unique_node_ids,
    known_http_method,
    sendable_headers,
    one_start_node,
    start_node_is_listed,
    has_end_node,
    # control edges
    control_edge_nodes,
    known_branches,
    one_edge_per_branch,
    every_branch_leads_on,
    no_edge_into_start,
    no_edge_out_of_end,
    end_node_has_edge,
    node_is_reachable,
    end_is_reachable,
    # data edges
    data_edge_nodes,
    known_outputs,
    known_inputs,
    inputs_are_fed,
    castable_edges,
    port_schemas,
    # what a flow gives back
    outputs_are_produced,
    output_types_agree,
    same_output_same_type,
    outputs_at_every_end,
    # what the host sets, has and asks
    host_owned_names,
    tools_are_registered,
    answer_schemas,
)
