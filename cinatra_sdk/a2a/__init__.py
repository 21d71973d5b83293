"""Agents behind the protocol A2A, as nodes of a flow.

remote.py     an agent and the way to it;  requesting.py  one message to it and the answer
node.py       the node that speaks to it

The package `a2a` (extra `a2a`) is imported when an agent is spoken to, and not before.
"""
