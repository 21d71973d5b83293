"""Look-ups that several rules share: credentials, calls, edges, flaws of values.

credentials.py          literal credentials in texts, under names, among arguments of programs
credential_literals.py  the one rule by which every command decides which text it prints
credential_names.py     names of credentials, by how certain that is; of one-time codes and PINs
api_calls.py            the class of a templated address; calls of the model bridge
program_calls.py        libraries, commands and interrupts in the programs of a package
child_agents.py         the child agents that a flow calls
renderers.py            the screens that a flow names
edges.py                places of edges, ports by title, reached nodes, reversed and idle edges
value_flaws.py          flaws of values and of JSON Schemas; misspelt keys of `metadata.cinatra`
"""
