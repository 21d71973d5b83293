"""What a governed run uses up, rests on and gets from its host.

budgets.py       from a request to a run, and to its context; one call: its envelope, rules,
                 approvals, budget; what came of a call
current_call.py  on whose behalf; children, which get less; what came of a call
evidence.py      one call: its envelope, rules, approvals, budget
host_ports.py    what the host lends; from a request to a run, and to its context
"""
