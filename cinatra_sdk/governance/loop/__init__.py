"""The canonical loop of a governed run, as nodes for a graph.

state.py       what the loop knows between two nodes: one sealed value
case.py        the state, read: rules, run, gateway
opening.py     admit, compile
deciding.py    plan, verify, score: who proposes, and what the critic says
acting.py      step, gate: one call at a time, and the person before it
session_time.py    whether a session lasts
closing.py     consolidate, record, escalated
calling.py     how a capability is called: tools, HTTP, MCP;  child_flows.py  compiled flows
nodes.py       the nodes with their names, each in its turn only

`graphs.governed_run` puts the nodes together.
"""
