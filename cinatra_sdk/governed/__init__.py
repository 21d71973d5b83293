"""What only the host sets, and what never leaves.

state.py          the channels of a governed graph: sealed, appended, host-only
policy.py         the approval policy
keys.py           names that no answer and no file may set
placeholders.py   names that are settings of the runtime
secrets.py secret_forms.py   what is cut out of texts and values, in which forms
"""
