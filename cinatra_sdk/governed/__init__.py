"""Keys that only the host sets, and secrets that never leave a run.

state.py          the channels of a governed graph: sealed, appended, host-only
growing.py        channels of lists that only grow;  conversation.py  messages, as JSON and as LangChain's
policy.py         the approval policy
keys.py           names that no answer and no file may set
placeholders.py   names of the runtime's own settings
secrets.py secret_forms.py   secrets and their spellings, cut out of texts and values
"""
