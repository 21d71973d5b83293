"""The embedded PostgreSQL server of one user on one machine.

cluster.py         what PostgreSQL is told: make a data folder, start a server on it, is it there;
                   the roles of the embedded server, and the SQL that brings a cluster to them
programs.py        where the programs of PostgreSQL are, without starting anything; chooses the
                   user that runs the programs of PostgreSQL, and calls them
server_folders.py  the folders of the local server: their places, owners and permissions
supervisor.py      the embedded server:
"""
