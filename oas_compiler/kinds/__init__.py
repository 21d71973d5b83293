"""The kinds of nodes, one module and one record per kind.

kind.py           `NodeKind`: the record of a kind
registry.py       every kind, by component type and by class of the IR
packages.py       the kinds of installed packages, and why one of them cannot be used
no_nodes.py       the component types of Agent Spec that are no nodes
extended.py       a type of another runtime that extends a kind
unknown.py        the stand-in for a node that cannot be built
all others        one kind each: its fields, how it is built, how it looks, which function runs it

docs/adding-a-node.md shows how a kind is added, here or by a package of its own.
"""
