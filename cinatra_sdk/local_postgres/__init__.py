"""The embedded PostgreSQL server of one user on one machine.

cluster.py         what PostgreSQL is told: make a data folder, start a server on it, is it there;
                   the roles of the embedded server, and the SQL that brings a cluster to them
programs.py        where the programs of PostgreSQL are, without starting anything; chooses the
                   user that runs the programs of PostgreSQL, and calls them
server_folders.py  the folders of the local server: their places, owners and permissions
supervisor.py      the embedded server:
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.local_postgres.supervisor import LocalServer, LocalServerError, LocalStatus

_LATER: Final = {
    "LocalServer": "local_postgres.supervisor",
    "LocalServerError": "local_postgres.supervisor",
    "LocalStatus": "local_postgres.supervisor",
}

__all__ = [
    "LocalServer",
    "LocalServerError",
    "LocalStatus",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)
