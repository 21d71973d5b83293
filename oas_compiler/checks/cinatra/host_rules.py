"""The rules of this group that say what a host of Cinatra refuses: a pack (see rule_packs.py)."""

from __future__ import annotations

from oas_compiler.checks.cinatra.agent_approval_flag import agent_approval_flag
from oas_compiler.checks.cinatra.agent_gate_owner import agent_gate_owner
from oas_compiler.checks.cinatra.bridge_agent_id import bridge_agent_id
from oas_compiler.checks.cinatra.bridge_llm import bridge_llm
from oas_compiler.checks.cinatra.bridge_toolboxes import bridge_toolboxes
from oas_compiler.checks.cinatra.cinatra_block import cinatra_block
from oas_compiler.checks.cinatra.component_block import component_block
from oas_compiler.checks.cinatra.host_version import host_version
from oas_compiler.checks.cinatra.internal_agent import internal_agent
from oas_compiler.checks.cinatra.legacy_keys import legacy_keys
from oas_compiler.checks.cinatra.llm_media_provider import llm_media_provider
from oas_compiler.checks.cinatra.llm_metadata import llm_metadata
from oas_compiler.checks.cinatra.llm_model import llm_model
from oas_compiler.checks.cinatra.llm_model_family import llm_model_family
from oas_compiler.checks.cinatra.llm_model_provider import llm_model_provider
from oas_compiler.checks.cinatra.metadata_values import metadata_values
from oas_compiler.checks.cinatra.misspelt_metadata_key import misspelt_metadata_key
from oas_compiler.checks.cinatra.package_license import package_license
from oas_compiler.checks.cinatra.package_names import package_names
from oas_compiler.checks.cinatra.package_version import package_version
from oas_compiler.checks.cinatra.run_id_source import run_id_source
from oas_compiler.checks.cinatra.start_input_roles import start_input_roles
from oas_compiler.checks.cinatra.surface_override import surface_override
from oas_compiler.checks.rule_packs import RulePack
from oas_compiler.findings.rule import CheckRule

RULES: tuple[CheckRule, ...] = (
    host_version,
    cinatra_block,
    component_block,
    legacy_keys,
    agent_gate_owner,
    surface_override,
    agent_approval_flag,
    bridge_agent_id,
    llm_metadata,
    llm_model,
    llm_model_provider,
    llm_media_provider,
    run_id_source,
    bridge_llm,
    bridge_toolboxes,
    internal_agent,
    start_input_roles,
    package_version,
    package_license,
    package_names,
    misspelt_metadata_key,
    llm_model_family,
    metadata_values,
)

PACK = RulePack(title="Cinatra: what its host refuses", rules=RULES)
