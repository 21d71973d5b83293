"""The rights that the role of a connection lacks for running flows.

In: a connection.  Out: what `sql/rights.sql` grants and this role has not.

    lacking(connection)  ->  ("insert on decisions", "update on runs")
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import psycopg

from cinatra_sdk.postgres.connection import Rows, every
from cinatra_sdk.postgres.queries import rights

_GRANT: Final = re.compile(
    r"^grant\s+(?P<verbs>[^;]+?)\s+on oasflow\.(?P<table>\w+) to", re.MULTILINE
)
_VERB: Final = re.compile(r"(?P<verb>insert|update|delete)\s*(?:\((?P<columns>[^)]*)\))?")


def lacking(connection: Rows) -> tuple[str, ...]:
    """The missing rights in alphabetical order; empty also where they cannot be read."""
    wanted = list(_list_wanted_rights())
    try:
        rows = every(
            connection,
            "list_lacking",
            {
                "verbs": [verb for verb, _, _ in wanted],
                "tables": [table for _, table, _ in wanted],
                "columns": [column for _, _, column in wanted],
            },
        )
    except psycopg.Error:
        return ()
    return tuple(row["lacks"] for row in rows)


def _list_wanted_rights() -> Iterator[tuple[str, str, str]]:
    """(right, table, column) of every grant; an empty column means the whole table."""
    for grant in _GRANT.finditer(rights()):
        yield "select", grant["table"], ""
        for found in _VERB.finditer(grant["verbs"]):
            for column in (found["columns"] or "").split(","):
                yield found["verb"], grant["table"], column.strip()
