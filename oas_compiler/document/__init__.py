"""The wire form of a document: components, references in their scopes, fields of the right kinds.

scope.py               `Document`: each reference, resolved where it stands
component_types.py     every component type and its fields
components.py          one component -> `Component`, with its fields checked
flow_loader.py         document -> `LoadedFlow`, with its references resolved
agent_loader.py        one agent with its model and tools; a Swarm; a toolbox
survey.py              names, versions and types of all components; the components in use
outside_components.py  components of other files, joined with the document
field_corrections.py   misspelt keys, read as what was meant
wayflow_nodes.py       components of WayFlow, as the components of the language that they equal
"""
