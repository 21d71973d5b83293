"""Look-ups that several rules share: calls, edges, flaws of values.

api_calls.py      the class of a templated address; calls of the model bridge
program_calls.py  libraries, commands and interrupts in the programs of a package
child_agents.py   the child agents that a flow calls
renderers.py      the screens that a flow names
edges.py          places of edges, ports by title, reached nodes, reversed and idle edges
value_flaws.py    flaws of values and of JSON Schemas; misspelt keys of `metadata.cinatra`
"""
