"""The wire form of a document: components, references in their scopes, fields of the right kinds.

types.py          every component type and its fields;  features.py  since which version of Agent Spec
node_types.py     which components can stand in `nodes`
spec.py           a flow with its references resolved
scope.py          `Document`: references resolved where they stand
components.py     one component: its fields, checked
respelling.py     misspelt keys, read as what was meant
survey.py         names, versions and types of all components
used.py           the components that the root leads to
load.py           document -> `spec.Flow`
"""
