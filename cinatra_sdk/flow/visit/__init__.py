"""One visit of a node: its turn, its events, its words, and the people and rules in front of its call.

state_graph.py      a plan and the host's wiring -> the `StateGraph`; the frame of each node
visit.py            one visit: turn, events, errors; a pause of the node's own code becomes a gate
fusion.py           nodes that only compute, in the superstep of the node before them
confirmation.py     a person confirms, edits or denies a call before the node makes it
governance_gate.py  a rule of a pack puts a gate in front of a call; a choice that is gone asks again
talk.py             the messages that a node adds to the conversation, and hears of it
reports.py          the events that a node tells; which errors count as a failure of a flow
"""
