"""Lowering: a checked IR in, the plan of a graph out; and the flow that hosts run.

What each node does is a record of the SDK; here it is read from the IR.

compile.py      from a file to a `Flow`, in one call;  flow.py  `Flow`: a compiled flow, for hosts
planning.py     one flow -> its plan
registry.py     the function that lowers a kind of node, and what it is given
nodes/          these functions
packages.py     a node of an installed package, whose function the package makes itself
outputs.py      the outputs of such a node, compared with its declaration
lent_secrets.py whether the host has the values that a file only names;  lent_models.py  models by name
reopening.py    the node to which a finalize of a context selection goes back
"""
