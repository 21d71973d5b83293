"""One module for each group of commands of `oasflow`.

check.py          check, rule
flow_reports.py   explain, diff
flow_forms.py     draw, ir, schema, emit
agent_package.py  deps, wire-context
run.py            run, resume
settle.py         settle
stop.py           stop, pause
upgrade.py        upgrade, verify
recovery.py       reconcile, erase
gates.py          gates, approve, reject, deny, answer, attach
runs.py           runs, show, follow
database.py       db, doctor
governance.py     records, replay, export, packs, memory
platform.py       platform serve
"""
