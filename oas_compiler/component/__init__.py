"""One component of a file as its author wrote it, and facts derived from it.

component.py      `Component`: its fields, each of the kind that its type declares
fields.py         `Field`, and the fields that every component and every node has
model_fields.py   the fields of the language models that a file may configure
agent_fields.py   the same of agents;  agent.py  an agent with its references resolved
agents.py         an agent, or a Swarm of agents -> a flow
agent_part.py     one agent in it: its model, its calls, its tools;  agent_words.py  its ids and names
agent_transforms.py  what shortens what its model sees
agent_tools.py    what an agent may call;  agent_toolboxes.py  the tools of a server
remote_agents.py  an agent elsewhere -> a flow
prompt_templates.py  several messages for a model, as WayFlow writes them
json_paths.py     ways into JSON values;  mcp.py  the fields of MCP tools, toolboxes and transports
site.py           `Site`: a component in its flow, as the builder of its kind is given it
ports.py          inputs and outputs -> `ir.Port`
inference.py      ports and branches that follow from templates, subflows, tools and agents
requests.py       the fields that describe one HTTP request
metadata.py       `metadata.cinatra`: its keys, and reading them;  first_turn.py, attached.py  two of them
patterns.py       regular expressions;  script_words.py  templates that were written as JavaScript
"""
