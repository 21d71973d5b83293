"""The order of nodes, the gates that decide, and the sends behind each gate.

graph.py               any directed graph: what is reached, loops, shortest ways; every way; the
                       control graph of a flow, subflows opened up
risk_classes.py        classes of risk; risk classes as authors spell them
gates.py               one gate; gates that ask a question, to which a yes is no answer; the nodes
                       whose outputs a gate shows; gates that a later node hears
approval.py            the approval policy of a flow, and its gates; one step; gates before sends
openings.py            nodes that control reaches without a gate; sends among these nodes; calls
                       of a container before its gate; loops without a gate
context_slots.py       context slots: declared, selected, used
simulation_answers.py  answers that lead a simulated run past its gates; models, servers and
                       agents
flow_control.py        one flow with all of this, each derived once
"""
