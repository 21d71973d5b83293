"""The rules of this group, in reading order."""

from __future__ import annotations

from oas_compiler.checks.guide.agent_dependencies_form import agent_dependencies_form
from oas_compiler.checks.guide.agent_dependencies_in_flow import agent_dependencies_in_flow
from oas_compiler.checks.guide.authoritative_before_spread import authoritative_before_spread
from oas_compiler.checks.guide.child_without_package_name import child_without_package_name
from oas_compiler.checks.guide.execution_provider import execution_provider
from oas_compiler.checks.guide.gate_only_in_prose import gate_only_in_prose
from oas_compiler.checks.guide.gate_without_risk_class import gate_without_risk_class
from oas_compiler.checks.guide.internal_id_asked import internal_id_asked
from oas_compiler.checks.guide.manifest_values import manifest_values
from oas_compiler.checks.guide.misspelt_manifest_key import misspelt_manifest_key
from oas_compiler.checks.guide.package_name_and_version import package_name_and_version
from oas_compiler.checks.guide.package_name_drift import package_name_drift
from oas_compiler.checks.guide.package_version_form import package_version_form
from oas_compiler.checks.guide.renderer_id_form import renderer_id_form
from oas_compiler.checks.guide.renderer_not_registered import renderer_not_registered
from oas_compiler.checks.guide.retired_setup_keys import retired_setup_keys
from oas_compiler.checks.guide.schema_as_text import schema_as_text
from oas_compiler.checks.guide.script_database_access import script_database_access
from oas_compiler.checks.guide.script_http_call import script_http_call
from oas_compiler.checks.guide.scripts_not_read import scripts_not_read
from oas_compiler.checks.guide.skill_frontmatter import skill_frontmatter
from oas_compiler.checks.guide.skill_missing import skill_missing
from oas_compiler.checks.guide.skill_of_another import skill_of_another
from oas_compiler.checks.guide.skill_reference_missing import skill_reference_missing
from oas_compiler.checks.guide.skill_retrieval_empty import skill_retrieval_empty
from oas_compiler.checks.guide.skill_retrieval_section import skill_retrieval_section
from oas_compiler.checks.guide.state_fields import state_fields
from oas_compiler.checks.guide.token_in_interrupt import token_in_interrupt
from oas_compiler.checks.guide.two_interrupts import two_interrupts
from oas_compiler.checks.guide.undeclared_child_agent import undeclared_child_agent
from oas_compiler.checks.guide.unlisted_hitl_screen import unlisted_hitl_screen
from oas_compiler.checks.guide.unlisted_mcp_tool import unlisted_mcp_tool
from oas_compiler.checks.rule_packs import RulePack
from oas_compiler.findings.rule import CheckRule

RULES: tuple[CheckRule, ...] = (
    package_name_and_version,
    package_version_form,
    package_name_drift,
    execution_provider,
    schema_as_text,
    retired_setup_keys,
    gate_only_in_prose,
    gate_without_risk_class,
    unlisted_hitl_screen,
    renderer_id_form,
    skill_missing,
    skill_frontmatter,
    skill_retrieval_section,
    skill_retrieval_empty,
    unlisted_mcp_tool,
    skill_reference_missing,
    script_database_access,
    script_http_call,
    scripts_not_read,
    misspelt_manifest_key,
    agent_dependencies_form,
    undeclared_child_agent,
    agent_dependencies_in_flow,
    child_without_package_name,
    internal_id_asked,
    two_interrupts,
    token_in_interrupt,
    authoritative_before_spread,
    state_fields,
    renderer_not_registered,
    skill_of_another,
    manifest_values,
)

PACK = RulePack(title="Agent guide: the package around a flow", rules=RULES)
