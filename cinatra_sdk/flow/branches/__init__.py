"""Branches of one node: flows that run beside each other, kept as they end.

branches.py    one LangGraph task for each of them; whether a rejection cut off branches of the
               flow that runs; told to those that begin again
container.py   several flows inside one node
inner_flow.py  a flow inside a node; one without a gate, run as a plain function; makes the flows
               inside a node
journal.py     what they came to, kept by the engine; what those have made already
workers.py     no task for each, where no gate is inside; the threads that run them
"""
