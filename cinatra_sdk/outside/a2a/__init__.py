"""Agents behind the protocol A2A, as nodes of a flow.

remote_agent.py  the agent as a flow file names it, and the way to it
message.py       one message to the agent, and its answer

The package `a2a` (extra `a2a`) is imported when an agent is spoken to, and not before.
"""
