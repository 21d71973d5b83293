"""Keys that only the host sets, and secrets that never leave a run.

approval_policy.py  the approval policy of a run
host_keys.py        governed keys, dropped from answers; names that no placeholder may have
person.py           who acts on a run, how that was proved, and what rows keep of it
secret_values.py    secrets in all their spellings, found and cut out
"""
