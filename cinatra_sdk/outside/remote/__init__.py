"""Servers and agents elsewhere: what one answer of theirs may cost, and what is an answer at all.

foreign_answer.py  JSON-RPC as it comes: read strictly, and an answer to what was asked; what they
                   say, as it may be shown
remote_bounds.py   how much they may send, list and ask for
transport.py       the transport below the clients of the packages, which keeps the bounds; one
                   connection to them: what was asked, what is counted, why it was broken off
"""
