"""What runs after what, who decides, and what a gate stands before.

digraph.py     any directed graph: what is reached, loops, shortest trails
dominators.py  what stands on every way to a node of it
graph.py       the control graph of a flow, subflows opened up
shown.py       which nodes a gate shows the outputs of
guarding.py    which sends run before any person was asked
approval.py    the approval policy of a flow
policy_steps.py  one step of it;  gates.py  one gate;  guards.py  which gates come before which sends
steering.py    answers that lead a simulated run past its gates
risk.py        classes of risk
slots.py       context slots: declared, selected, used
"""
