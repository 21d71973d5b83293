"""A flow as plain data: nodes with their work, channels, casts along edges, and the frame of a node.

plan.py           `FlowPlan`, `NodePlan`, `NodeWork`, `Wiring`; the plan as one text, and its hash
frame.py          `Frame`, the common part of every node: turn, inputs, outputs; `NodeBody`, its function
caller_inputs.py  the inputs of a caller: checked, or dropped and reported
casts.py          values along data edges, and results of tools, as the type of their port
channel_names.py  the names of nodes and channels in the graph
"""
