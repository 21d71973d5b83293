"""Answers of servers and agents elsewhere: their bounds, and the rules by which a message counts as an answer.

foreign_answer.py  JSON-RPC as it comes: read strictly, and an answer to the request; the words of
                   servers, as they may be shown
remote_bounds.py   how much they may send, list and ask for
transport.py       the transport below the clients of the packages, which obeys the bounds; a connection
                   to a server: its request, its counters, the reason why it was broken off
"""
