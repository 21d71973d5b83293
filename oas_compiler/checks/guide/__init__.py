"""The rules of the agent development guide that can be checked in a package folder.

authoritative_before_spread.py  keys that only the host may set stand after the users' inputs, so
                                that they win; objects in JavaScript
state_fields.py                 the state of a graph declares what every node and every gate
                                reads; the states of Python graphs
agent_dependencies_form.py      agentDependencies maps the name of each child agent to a version
                                range
agent_dependencies_in_flow.py   child agents are declared in package.json; a host does not read
                                them from the flow
child_without_package_name.py   A node that calls a child agent names it by its packageName
execution_provider.py           the only execution provider is "wayflow"
gate_only_in_prose.py           the flow has the gates that its prose promises: an approval is a
                                gate, not a sentence
gate_without_risk_class.py      A gate has a risk class, which its step in the approval policy
                                carries
internal_id_asked.py            A person is never asked for an id that a node of the flow creates
manifest_values.py              the values in package.json have the form that a host reads
misspelt_manifest_key.py        no key of package.json, or of its `cinatra`, is a misspelling of a
                                key that a host reads
package_name_and_version.py     A package that others install has a name and a version
package_name_drift.py           the flow and its package.json give the package the same name
package_version_form.py         the version in package.json has three numbers, as npm requires
renderer_id_form.py             A renderer id is `@scope/package:name`
renderer_not_registered.py      A screen of the package itself is registered in package.json
retired_setup_keys.py           keys of an earlier setup wizard have no effect any more
rules.py                        the rules of this group, in reading order
schema_as_text.py               A schema is an object, not a text with JSON
script_database_access.py       A script of an agent never talks to a database
script_http_call.py             A script of an agent does not call HTTP services by itself
scripts_not_read.py             A check reports the scripts that it could not read
skill_frontmatter.py            A SKILL.md begins with its name and one line about it
skill_missing.py                an agent package has a SKILL.md that describes the agent
skill_of_another.py             SKILL.md is about this agent: it has the agent's name, and names
                                existing nodes
skill_reference_missing.py      the files that a SKILL.md refers to are in the package
skill_retrieval_empty.py        the section about the data that the agent fetches itself is not
                                empty
skill_retrieval_section.py      SKILL.md has a section about the data that the agent fetches
                                itself
token_in_interrupt.py           an interrupt shows no credential of the run to a person
two_interrupts.py               A node pauses only once: LangGraph shows only the first interrupt
                                of a node
undeclared_child_agent.py       every child agent that the flow calls is declared in package.json
unlisted_hitl_screen.py         hitlScreens lists every renderer that a run can pause with
unlisted_mcp_tool.py            SKILL.md lists every MCP tool that the flow itself calls

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
