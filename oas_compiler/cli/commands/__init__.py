"""One module for each group of commands of `oasflow`.

check.py          commands about files
flow_reports.py   commands about files
flow_forms.py     commands about files
agent_package.py  commands about files
run.py            commands about runs, and about the database that keeps them
gates.py          commands about runs, and about the database that keeps them; files for models
runs.py           commands about runs, and about the database that keeps them
database.py       commands about runs, and about the database that keeps them
governance.py     decision records of governed runs, their packs, what they propose to remember
platform.py       the local platform over HTTP
"""
