"""Branches of one node: flows that run beside each other, and whose results are stored one by one.

container.py   runs the branches of a node, and judges them together
branches.py    branches with a gate inside: one LangGraph task for each
workers.py     branches without a gate: a few threads, or the event loop, run all of them
journal.py     the stored results of branches without a task
inner_flow.py  one flow inside a node: as a subgraph where a gate is inside, else as a function
"""
