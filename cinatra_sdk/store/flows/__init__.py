"""The flows of stored runs: what the store needs of one, and how it is made again.

context_owner.py  checks that a host's context belongs to the run
flow_kind.py      the kind in front of a flow's bytes
flow_protocol.py  the flow of a stored run, rebuilt
graph_flow.py     a hand-written graph as a flow
python_flow.py    a flow that a module writes with `FlowGraph`
"""
