"""Limits, evidence and host of a governed run.

budgets.py         the budget of a run, and what the run has used of it
evidence.py        the references that a call rests on, and the hash that a person approves
current_call.py    the running call, for the tool that it calls
host_ports.py      `GovernancePorts`: the functions that a host gives
host_functions.py  the value of such a function, checked by its type
"""
