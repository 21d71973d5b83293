"""The canonical loop of a governed run, as nodes for a graph.

action.py         step, gate: one call at a time, and the person before it; whether a session
                  lasts
capabilities.py   how a capability is called: tools, HTTP, MCP; compiled flows
conclusion.py     consolidate, record, escalated
decision_step.py  plan, verify, score: who proposes, and what the critic says
loop_nodes.py     the nodes with their names, each in its turn only; admit, compile
loop_state.py     what the loop knows between two nodes: one sealed value; the state, read: rules,
                  run, gateway; whoever started a run, and who may not approve for that

`graphs.governed_run` puts the nodes together.
"""
