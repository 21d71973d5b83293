"""A flow as plain data: nodes with what each does, channels, casts along edges, and the frame of a node.

caller_inputs.py  the inputs of a caller
casts.py          values along data edges; values that somebody gave for an output
channel_names.py  names of nodes and of state keys
frame.py          the common part of every node: turn, inputs, outputs; what it does outside
node_body.py      what a node does; its update, checked
plan.py           a flow as plain data; what the function of a node is made of; the same as one
                  text
"""
