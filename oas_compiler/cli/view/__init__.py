"""Runs, gates, decisions and explanations as text for people; their JSON is made in `cinatra_sdk.api`.

values.py            JSON values as text and as tables; typed text back to values
checklist.py         the candidates for a context slot, and a person's ticks
tables.py            tables of runs, decisions, settlements, models and artifacts
run_view.py          a run and its gates; the commands that answer a gate or settle a call
needs_view.py        gates, calls and failed runs that wait for a person: a table, lines, JSON
audit_view.py        decision records, replays, packs and proposals
explanation_view.py  the result of `oasflow explain`
"""
