"""The flows of stored runs, and how a process makes them again.

flow_protocol.py  `DurableFlow`, the protocol of a flow in the store; its kind; loaders by entry points
graph_flow.py     a hand-written graph as a stored flow
python_flow.py    a module with a `FlowGraph` as a stored flow
context_owner.py  checks that a host's context belongs to the run
"""
