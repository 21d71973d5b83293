"""Servers and agents elsewhere: what one answer of theirs may cost, and what is an answer at all.

bounds.py     how much they may send, list and ask for
messages.py   JSON-RPC as it comes: read strictly, and an answer to what was asked
exchange.py   one connection to them: what was asked, what is counted, why it was broken off
http.py       the transport below the clients of the packages, which keeps the bounds
"""

from cinatra_sdk.remote.bounds import RemoteBounds

__all__ = ["RemoteBounds"]
