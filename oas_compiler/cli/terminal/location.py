"""The options of a later command for the place of a run: its tenant and its database.

list_location_options("acme", "postgresql://db/runs")  ->  ["--tenant", "acme", "--db", "postgresql://db/runs"]

An option that the environment gives already is left out, and so is an address that may hold a password.
"""

from __future__ import annotations

import os
from typing import Final

DATABASE: Final = "DATABASE_URL"
TENANT: Final = "OASFLOW_TENANT"


def list_location_options(tenant: str, db: str) -> list[str]:
    """The words of the options, not quoted for a shell."""
    words = [] if tenant == os.environ.get(TENANT, "") else ["--tenant", tenant]
    return [*words, "--db", db] if names_database(db) and not hides_database(db) else words


def names_database(db: str) -> bool:
    """Whether the address is another than that of the environment."""
    return bool(db) and db != os.environ.get(DATABASE)


def hides_database(db: str) -> bool:
    """Whether the address must not be repeated because it may hold a password."""
    if not names_database(db):
        return False
    from cinatra_sdk.postgres.dsn import may_be_repeated

    return not may_be_repeated(db)
