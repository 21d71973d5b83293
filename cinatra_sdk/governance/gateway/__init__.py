"""What a governed run may do: admission, policies, calls and their results.

admission.py         from a request to a run, and to its context; packs by pinned references, and
                     the intents that they take
call_proposal.py     one call: its envelope, rules, approvals, budget; what the packs allow: a
                     pure function
call_result.py       what came of a call
context_compiler.py  from a request to a run, and to its context
critic.py            plans, what is said of them, and what their ends claim
delegation.py        on whose behalf; children, which get less
facts.py             what the packs allow: a pure function
gateway.py           one call: its envelope, rules, approvals, budget
host_record.py       what the host lends
pack_policy.py       what the packs allow: a pure function; whoever started a run, and who may not
                     approve for that
planners.py          plans, what is said of them, and what their ends claim
"""
