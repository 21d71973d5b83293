"""Agents behind the protocol A2A, as nodes of a flow.

remote.py     an agent and the way to it;  requesting.py  one message to it
answers.py    whether an answer is one to the message, and what it says
node.py       the node that speaks to it

The package `a2a` (extra `a2a`) is imported when an agent is spoken to, and not before.
"""
