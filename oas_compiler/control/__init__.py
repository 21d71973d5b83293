"""The order of nodes, the gates that decide, and the sends behind each gate.

graph.py               a directed graph and every walk over it; the control graph of a flow
risk_classes.py        the weight of each risk class, and the sends
gates.py               the gates of a flow; questions; the nodes that a gate shows
approval.py            the approval policy of a flow, and the step of each gate
openings.py            sends, calls and loops that control can reach without a gate
context_slots.py       the context slots of a flow, with their selecting nodes and consumers
simulation_answers.py  answers that lead a simulated run past its gates
flow_control.py        one flow with all of this, each derived once
"""
