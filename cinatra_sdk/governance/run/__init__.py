"""What a governed run uses up, rests on and gets from its host.

budgets.py         calls, tokens and time that a run may use, and has used
current_call.py    the call that is being made, on whose behalf, and the budget of children
evidence.py        what a run rests on, and who reads it
host_functions.py  what a function of the host gives, looked at
host_ports.py      what the host lends
"""
