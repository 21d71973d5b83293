"""The rules of this group, in reading order."""

from __future__ import annotations

from oas_compiler.checks.cinatra.agent_approval_flag import agent_approval_flag
from oas_compiler.checks.cinatra.agent_gate_owner import agent_gate_owner
from oas_compiler.checks.cinatra.bare_inputs import bare_inputs
from oas_compiler.checks.cinatra.bridge_agent_id import bridge_agent_id
from oas_compiler.checks.cinatra.bridge_llm import bridge_llm
from oas_compiler.checks.cinatra.bridge_toolboxes import bridge_toolboxes
from oas_compiler.checks.cinatra.cinatra_block import cinatra_block
from oas_compiler.checks.cinatra.component_block import component_block
from oas_compiler.checks.cinatra.end_output_source import end_output_source
from oas_compiler.checks.cinatra.flow_descriptors import flow_descriptors
from oas_compiler.checks.cinatra.gate_output import gate_output
from oas_compiler.checks.cinatra.host_version import host_version
from oas_compiler.checks.cinatra.internal_agent import internal_agent
from oas_compiler.checks.cinatra.js_ternary import js_ternary
from oas_compiler.checks.cinatra.legacy_keys import legacy_keys
from oas_compiler.checks.cinatra.llm_media_provider import llm_media_provider
from oas_compiler.checks.cinatra.llm_metadata import llm_metadata
from oas_compiler.checks.cinatra.llm_model import llm_model
from oas_compiler.checks.cinatra.llm_model_family import llm_model_family
from oas_compiler.checks.cinatra.llm_model_provider import llm_model_provider
from oas_compiler.checks.cinatra.metadata_values import metadata_values
from oas_compiler.checks.cinatra.misspelt_metadata_key import misspelt_metadata_key
from oas_compiler.checks.cinatra.names_present import names_present
from oas_compiler.checks.cinatra.node_reference_once import node_reference_once
from oas_compiler.checks.cinatra.nodes_by_reference import nodes_by_reference
from oas_compiler.checks.cinatra.number_default import number_default
from oas_compiler.checks.cinatra.object_types import object_types
from oas_compiler.checks.cinatra.one_end import one_end
from oas_compiler.checks.cinatra.package_license import package_license
from oas_compiler.checks.cinatra.package_names import package_names
from oas_compiler.checks.cinatra.package_version import package_version
from oas_compiler.checks.cinatra.parallel_flows import parallel_flows
from oas_compiler.checks.cinatra.root_is_flow import root_is_flow
from oas_compiler.checks.cinatra.run_id_source import run_id_source
from oas_compiler.checks.cinatra.start_input_roles import start_input_roles
from oas_compiler.checks.cinatra.surface_override import surface_override
from oas_compiler.findings.rule import CheckRule

RULES: tuple[CheckRule, ...] = (
    host_version,
    names_present,
    cinatra_block,
    flow_descriptors,
    nodes_by_reference,
    component_block,
    parallel_flows,
    legacy_keys,
    agent_gate_owner,
    surface_override,
    agent_approval_flag,
    one_end,
    bridge_agent_id,
    llm_metadata,
    llm_model,
    llm_model_provider,
    llm_media_provider,
    bare_inputs,
    js_ternary,
    number_default,
    run_id_source,
    end_output_source,
    bridge_llm,
    bridge_toolboxes,
    internal_agent,
    start_input_roles,
    package_version,
    package_license,
    gate_output,
    package_names,
    object_types,
    node_reference_once,
    root_is_flow,
    misspelt_metadata_key,
    llm_model_family,
    metadata_values,
)
