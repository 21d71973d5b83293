"""What runs after what, who decides, and what a gate stands before.

digraph.py    any directed graph: what is reached, loops, shortest ways;  dominators.py  every way
graph.py      the control graph of a flow, subflows opened up
guarding.py   which of its sends run before any person was asked;  shown.py  what a gate shows
approval.py   the approval policy of a flow, and its gates
              policy_steps.py  gates.py  guards.py    one step; one gate; gates before sends
steering.py   answers that lead a simulated run past its gates
risk.py       classes of risk;  slots.py  context slots: declared, selected, used

outline.py    nodes, edges and flows inside of a file that may have errors
openings.py   what control can come to in it past no gate;  loops.py  where it goes round past none
open_sends.py   which sends are among that;  container_calls.py  what a container does first
"""
