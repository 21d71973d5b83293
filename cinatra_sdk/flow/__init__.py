"""What the nodes of a compiled flow do when they run; knows nothing of files.

frame.py       the common part of every node: turn, inputs, outputs
body.py        what a node does;  step.py around.py  the wrappers around its function, without and with a
               graph inside;  visiting.py  one visit;  updates.py  its update, checked
fusing.py      nodes that only compute, run in the superstep of the node before;  drawn.py  its pictures
telling.py     the events of a node
names.py       names of nodes and of state keys;  engine.py  a part of LangGraph that is not public
inputs.py      the inputs of a caller;  casting.py  values along data edges
reopening.py   the way back of a choice that can be recorded no more
nodes/         one module per kind of node
"""
