"""Lowering: a checked IR in, a LangGraph `StateGraph` out; and the flow that hosts run.

What nodes do when they run is in `cinatra_sdk.flow`; here are their settings, read from the IR.

compile.py      from a file to a `Flow`, in one call;  flow.py  `Flow`: a compiled flow, for hosts
graph.py        one flow -> its `StateGraph`, one graph node per node
registry.py     the function that lowers a kind of node, and what it is given
nodes/          these functions, one module per kind of node
inner.py        the flows inside a node
framing.py      the frame of a node: its inputs, its ways out, who can pass the turn to it
outputs.py      the outputs of a node of an installed package, compared with its declaration
request.py      the request of an ApiNode;  lent_secrets.py  values that a file only names
model_config.py the language model of an LlmNode
places.py       the node that an event tells of
reopening.py    the node to which a finalize of a context selection goes back
"""
