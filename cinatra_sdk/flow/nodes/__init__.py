"""One module per kind of node: a record of what the node does, and the function that does it.

The record is plain data (`NodeWork`); with the parts that a host lends it makes a `NodeBody`.  Nothing
here knows of files.

start_and_end.py  StartNode: seals the host's keys, asks for missing inputs; EndNode: ends the flow
gate_node.py      a gate, and the values that it shows; a message to the user
api_node.py       one request through the platform
llm_node.py       one prompt to a language model; a way out that a model chooses
tool_node.py      a Python function of this process; a tool that the caller of the flow runs
mcp_tool_node.py  a tool of an MCP server
toolbox_node.py   the list of tools of an MCP server
a2a_node.py       an agent behind A2A
map_node.py       one flow for each element of a list; several flows beside each other
subflow_node.py   a flow as one node; a flow that a person approves first; a flow until it succeeds
failure_nodes.py  a flow whose failure has a way out of its own; a failure as a text
value_nodes.py    nodes that only compute: constants, templates, patterns, JSON, variables, branching
"""
