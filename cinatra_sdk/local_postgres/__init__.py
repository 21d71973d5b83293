"""The embedded PostgreSQL server of one user on one machine.

supervisor.py      `LocalServer`: starts, finds and stops the server
cluster.py         a data folder, a server process on it, and its three roles
programs.py        the programs of PostgreSQL, and the user that runs them
server_folders.py  the folders of the server: places, owners, permissions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

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
