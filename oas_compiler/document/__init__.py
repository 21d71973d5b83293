"""The wire form of a document: components, references in their scopes, fields of the right kinds.

types.py          every component type and its fields;  features.py  since which version of Agent Spec
node_types.py     which components can stand in `nodes`;  inside.py  what each node runs
registry.py       components outside of the document;  sensitive.py  values outside of it
extended.py       types of WayFlow that say the same as those of the language
renaming.py       ports that nodes of WayFlow rename;  variables.py  variables of its flows
definitions.py    flows and references of a document that is not read yet
dialect.py        whether a document is plain Agent Spec
policy.py         the component types that a host lets through
spec.py           a flow with its references resolved
scope.py          `Document`: references resolved where they stand
agents.py         one agent with its model and tools;  swarm.py  agents that speak to each other
toolboxes.py      the toolboxes of an agent
behind.py         the tools and models of nodes
components.py     one component: its fields, checked
respelling.py     misspelt keys, read as what was meant
wrong_type.py     the error for a component of another type than is wanted
unread.py         what could not be taken, as facts that rules ask for
survey.py         names, versions and types of all components
used.py           the components that the root leads to
load.py           document -> `spec.LoadedFlow`
"""
