"""What a governed run may do: admission of a request, then the check of each of its calls.

admission.py         an envelope, checked against the host's word -> `Admitted`; the known intents
context_compiler.py  packs, request and run -> `CompiledContext`
host_record.py       `GovernanceParts`, the record behind `Governance`
planners.py          who makes plans: scripted ones, or a chat model
critic.py            verifies a plan before its calls, scores the results after them
facts.py             what conditions read: the facts of a run, and of one call
call_proposal.py     a call as a run proposes it; a check of its arguments
gateway.py           the check of one call: refused, waiting for gates, or made
call_result.py       the result of a call -> its envelope
delegation.py        the permission of a user; the smaller permission of a child agent
"""
