"""One component of a file as its author wrote it, and facts derived from it.

component.py     `Component`: its fields, each of the kind that its type declares; `Field`, and
                 the fields that every component and every node has; ways into JSON values; an
                 agent with its references resolved; its ids and names; `Site`: a component in its
                 flow, as the builder of its kind is given it
port_reader.py   inputs and outputs -> `ir.Port`; a JSON Schema -> a type of the IR
metadata.py      `metadata.cinatra`: its keys, and reading them; two of them
inference.py     ports and branches that follow from templates, subflows, tools and agents;
                 templates that were written as JavaScript
requests.py      the fields that describe one HTTP request; the fields of MCP tools, toolboxes and
                 transports; entries of a `url_allow_list`
model_fields.py  the fields of the language models that a file may configure; the same of agents;
                 several messages for a model, as WayFlow writes them
agent_flows.py   an agent, or a Swarm of agents -> a flow; an agent elsewhere -> a flow
agent_loop.py    one agent in it: its model, its calls, its tools; what shortens what its model
                 sees; what an agent may call; the tools of a server
"""
