"""The wire form of a document: components, references in their scopes, fields of the right kinds.

scope.py               `Document`: references resolved where they stand; whether a document is
                       plain Agent Spec; values outside of it; what could not be taken, as facts
                       that rules ask for
component_types.py     every component type and its fields; which components can stand in `nodes`;
                       the error for a component of another type than is wanted; the component
                       types that a host lets through
survey.py              names, versions and types of all components; since which version of Agent
                       Spec; the components that the root leads to
components.py          one component: its fields, checked; the tools and models of nodes; what
                       each node runs
agent_loader.py        one agent with its model and tools; agents that speak to each other; the
                       toolboxes of an agent
flow_loader.py         document -> `spec.LoadedFlow`; a flow with its references resolved
outside_components.py  components outside of the document
field_corrections.py   misspelt keys, read as what was meant
wayflow_nodes.py       types of WayFlow that say the same as those of the language; ports that
                       nodes of WayFlow rename; variables of its flows; flows and references of a
                       document that is not read yet
"""
