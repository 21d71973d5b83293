"""Postgres: connections, tables, and the embedded server.

connection.py       one connection; what they give that Python cannot take; the statements of
                    sql/, by name
database_errors.py  its errors, without passwords
dsn.py              its address
migration.py        the tables, made and migrated; gates of runs that were parked before gates had
                    rows
notifications.py    who waits for news of runs
pools.py            a pool of one process; the connections of activations
role_rights.py      the state of a database; the rights that a role lacks; those of LangGraph
"""
