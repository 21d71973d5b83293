"""The rules of the agent development guide that can be checked in a package folder.

    rule 1    package_name_and_version, package_version_form, package_name_drift
    rule 2    execution_provider
    rule 3    schema_as_text, retired_setup_keys; `required` without an input is OAS034
    rule 4    gate_only_in_prose, gate_without_risk_class
    rule 5    unlisted_hitl_screen, renderer_id_form
    rule 6    skill_missing, skill_frontmatter
    rule 7    skill_retrieval_section, skill_retrieval_empty, unlisted_mcp_tool
    rule 8    skill_reference_missing, scripts_not_read
    rule 9    script_database_access
    rule 11   misspelt_manifest_key, agent_dependencies_form, undeclared_child_agent, agent_dependencies_in_flow
    rule 12   child_without_package_name
    rule 13   internal_id_asked
    rule 14   script_http_call
    P1        two_interrupts
    P2        token_in_interrupt; in the flow itself it is a rule of checks/safety/
    P5        authoritative_before_spread; as an input or the target of an edge it is OAS091
    P8        state_fields

Facts that a machine cannot see and no rule checks:

    rule 1    whether the package was published, only whether it could be
    rule 2    what a host has saved in its database
    rule 10   whether an orchestrator does itself what a child agent could do
    rule 12   whether the child was published before it was wired in
    rule 14   whether a missing MCP primitive was added or worked around in prose
    rule 15   which run a trigger means: its own and its parent's are both right, so that a
              difference between the two is no finding
    P6        whether the host maps the status "rejected" to "stopped"
"""
