"""One visit of a node: its turn, what is told of it, the people and rules before it acts.

confirmation.py     A node that asks a person before it acts: confirm, then act, each in a
                    superstep of its own; what gates keep of a decision; as a person edited them
fusion.py           nodes that run in the superstep of the node before; the state after them
governance_gate.py  a node under the rules of a governed flow; the way back of a choice that can
                    be recorded no more
reports.py          the events of a node; what a node that goes on after a failure takes for one
state_graph.py      its LangGraph graph; its frame
talk.py             what a node adds to the conversation, and hears of it
visit.py            one visit of a node; the function that the graph runs for it; pauses of its
                    own code, as gates
"""
