"""What the nodes of a compiled flow do when they run; knows nothing of files.

frame.py       the common part of every node: turn, inputs, outputs
body.py        what a node does;  step.py  the wrapper around it;  updates.py  its update, completed
names.py       names of nodes and of state keys;  engine.py  a part of LangGraph that is not public
inputs.py      the inputs of a caller;  casting.py  values along data edges
reopening.py   the way back of a choice that can be recorded no more
nodes/         one module per kind of node
"""
