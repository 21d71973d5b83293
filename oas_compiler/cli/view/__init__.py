"""Runs, gates, decisions and explanations as people see them; their JSON is made in `cinatra_sdk.api`.

values.py            pure: data -> shown text, or JSON; typing, reading, filling in
checklist.py         choosing for a context slot
tables.py            tables of runs and decisions
run_view.py          pure: data -> shown text; the commands that answer a gate or settle a call
needs_view.py        what needs a person, as a table and as blocks of lines; its JSON with the commands
audit_view.py        records, replays, packs and proposals, as people see them
explanation_view.py  the views of `explain`
gate_group.py        several targets of one command, shown and then decided
"""
