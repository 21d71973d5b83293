"""One module per kind of node: a record of what it does, and the function that does it.

The record is plain data (`NodeWork`); with what a host lends it makes a `NodeBody`.  Nothing here knows
of files.

a2a_node.py       the node that speaks to it
api_node.py       one request through the platform, its declared outputs back
failure_nodes.py  A node that runs one flow, and goes another way where that flow fails; A node
                  whose failure is no failure of its run, but a text that it puts out
gate_node.py      A gate of a flow, built by `build_hitl_gate`; what they show; A message to the
                  user, and the payload of the next gate
llm_node.py       llmNode: one prompt to a language model, its answer as the node's outputs; A
                  node whose way out a model chooses, by naming one of several tasks
map_node.py       A node that runs one flow for each element of its lists; A node that runs
                  several flows beside each other, and goes on when all have ended
mcp_tool_node.py  the node that calls a tool; what a server gave -> the outputs of a node
start_and_end.py  the start of a flow: seals the governed keys, reads the inputs, and asks for
                  missing inputs; the end of a flow: collects the flow's outputs and ends the run
                  as completed
subflow_node.py   A node that runs one flow, and leaves by the branch of the flow's end, if it has
                  that branch; A node whose flow runs only after a person has approved it, with
                  the inputs that were shown; A node that runs one flow again until the flow says
                  that it succeeded
tool_node.py      A tool of this process: a Python function that the host registered by name; A
                  tool that the caller of the flow runs: the node asks for the result, and goes on
                  with it
toolbox_node.py   the node that lists the tools of a server
value_nodes.py    fixed values; values out of a text with JSON in it; text in, matches or text
                  out; writes variables of a flow, then reads some; A node that puts out what was
                  said in its run; leaves by the branch that a mapping gives for the input's value
"""
