"""Agents behind the protocol A2A, as nodes of a flow.

message.py       one message to it; whether an answer is one to the message, and what it says
remote_agent.py  an agent and the way to it

The package `a2a` (extra `a2a`) is imported when an agent is spoken to, and not before.
"""
