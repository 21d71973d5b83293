"""One component of a file as its author wrote it, and facts derived from it.

component.py     `Component` and its fields; agents of the file; `Site`, the input of a builder
port_reader.py   inputs and outputs -> `ir.Port`; a JSON Schema -> a type of the IR
metadata.py      `metadata.cinatra` of a node: the schemas of its keys, and reading them
inference.py     ports and branches that follow from templates, subflows, tools and agents
requests.py      the fields of an HTTP request; of MCP tools and toolboxes
model_fields.py  the fields of language models and of agents
agent_flows.py   an Agent, a Swarm or an A2AAgent -> a flow
agent_loop.py    one agent inside a flow: its model, its calls, its tools
"""
