"""Postgres: connections, tables and roles.

connection.py       one connection, and the named statements of sql/
migration.py        the tables: made, migrated, compared
role_rights.py      the rights that a role has, and lacks
notifications.py    news of runs, by NOTIFY
dsn.py              the address of a database, shown without its password
database_errors.py  psycopg's errors as errors of this project
pooler.py           what a pooler is told, so that its connections to the server begin as ours
failure_causes.py   why a database failed, and what mends it
home.py             where a database lives: a copy does nothing until it is adopted
"""
