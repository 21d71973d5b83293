"""Postgres: connections, tables, and the embedded server.

database.py    the database of a run store: its address, tables and connections
own_pool.py    a pool of one process;  work_connections.py  the connections of activations
listening.py   who waits for news of runs
connection.py  one connection;  dsn.py  its address;  failures.py  its errors, without passwords
queries.py     the statements of sql/, by name;  lenient.py  what they give that Python cannot take
standing.py    the state of a database;  lacking.py  the rights that a role lacks
migrating.py   the tables, made and migrated;  checkpoint_steps.py  those of LangGraph
parked_gates.py  gates of runs that were parked before gates had rows
server.py      the embedded server: cluster.py process.py roles.py folders.py binaries.py
"""
