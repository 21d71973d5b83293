"""The canonical loop of a governed run, as nodes of a graph.

loop_nodes.py    the nodes by their names, and the routes between them; admit, compile, plan, verify, score
action.py        step, gate: one call at a time, and the person in front of it
conclusion.py    consolidate, record, escalated: the end of the loop
loop_state.py    the state of the loop between two nodes: one sealed value
capabilities.py  the call of a capability: tool, HTTP, MCP, compiled flow

`graphs.governed_run` puts the nodes together.
"""
