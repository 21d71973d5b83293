"""Keys that only the host sets, and secrets that never leave a run.

approval_policy.py  the approval policy
host_keys.py        names that no answer and no file may set; names of the runtime's own settings
secret_values.py    secrets and their spellings, cut out of texts and values
"""
