"""The order of nodes, the gates that decide, and the sends behind each gate.

digraph.py    any directed graph: what is reached, loops, shortest ways;  dominators.py  every way
graph.py      the control graph of a flow, subflows opened up
guarding.py   sends that can run before any gate;  shown.py  the nodes whose outputs a gate shows
approval.py   the approval policy of a flow, and its gates
              policy_steps.py  gates.py  guards.py    one step; one gate; gates before sends
questions.py  gates that ask a question, to which a yes is no answer;  hearing.py  gates that a later node hears
steering.py   answers that lead a simulated run past its gates;  elsewhere.py  models, servers and agents
risk.py       classes of risk;  risk_words.py  risk classes as authors spell them
               slots.py  context slots: declared, selected, used

openings.py   nodes that control reaches without a gate;  loops.py  loops without a gate
open_sends.py   sends among these nodes;  container_calls.py  calls of a container before its gate
"""
