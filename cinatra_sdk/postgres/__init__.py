"""Postgres: connections, tables, and the embedded server.

database.py    connections, statements, errors without passwords;  dsn.py  their addresses
queries.py     the statements of sql/, by name
migrating.py checkpoint_steps.py lacking.py   tables and rights: made, and what lacks
server.py      the embedded server: cluster.py process.py roles.py folders.py binaries.py
"""
