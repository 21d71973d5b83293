"""Lowering: a checked IR in, a LangGraph `StateGraph` out; and the flow that hosts run.

compile.py      from a file to a `Flow`, in one call;  flow.py  `Flow`: a compiled flow, for hosts
graph.py        one flow -> its `StateGraph`, one graph node per node;  names.py  names in the graph
registry.py     the function that lowers a kind of node, what it is given and what it returns
nodes/          these functions, one module per kind of node
step.py         around every function: checks the turn, removes credentials from errors
updates.py      what a function returned, checked; the way to the next node
frame.py        what all functions need: inputs gathered, outputs written, the turn passed on
inputs.py       the inputs of a caller, checked;  casting.py  values cast along data edges
request.py      the request of an ApiNode;  effects.py  what a node does outside, as an effect
reopening.py    a choice that cannot be recorded goes back to the node that resolved its slot
engine.py       the one use of a part of LangGraph that is not public
"""
