"""The rights of a database role: the owner of the tables, the state of the migrations, missing rights."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psycopg

from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import (
    LATER,
    OURS,
    USUAL,
    Rows,
    every,
    migrations,
    one,
    rights,
)

# ----------------------------------------------------------------------------
# The rights that the role of a connection lacks for running flows.
#
# In: a connection.  Out: what `sql/rights.sql` grants and this role has not.
#
#     lacking(connection)  ->  ("insert on decisions", "update on runs")


_GRANT: Final = re.compile(
    r"^grant\s+(?P<verbs>[^;]+?)\s+on oasflow\.(?P<table>\w+) to", re.MULTILINE
)
_VERB: Final = re.compile(r"(?P<verb>insert|update|delete)\s*(?:\((?P<columns>[^)]*)\))?")


def lacking(connection: Rows) -> tuple[str, ...]:
    """The missing rights in alphabetical order; empty also where they cannot be read."""
    wanted = list(_list_wanted_rights())
    try:
        with connection.transaction():  # a refusal ends no transaction around it
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


# ----------------------------------------------------------------------------
# How far the installed LangGraph brings its own tables, without loading it.
#
#     latest_step()    9
#
# Each open of a database compares this with the database.  Importing LangGraph for one number takes
# most of the time of a command that only looks, so the number is counted in its source.


_MODULE = "langgraph.checkpoint.postgres"
_FILE = "langgraph/checkpoint/postgres/base.py"
_LIST = "MIGRATIONS"


def latest_step() -> int:
    """Number of the last step, counted from 0."""
    counted = None if _MODULE in sys.modules else _count_steps_in_source()
    return _count_steps_by_import() if counted is None else counted


def _count_steps_in_source() -> int | None:
    """From the source; None where it does not list the steps one by one."""
    file = next((path for folder in sys.path if (path := Path(folder, _FILE)).is_file()), None)
    try:
        tree = ast.parse("" if file is None else file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return None
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == _LIST for target in node.targets
        ):
            return _number_of(node.value)
    return None


def _number_of(value: ast.expr) -> int | None:
    if not isinstance(value, ast.List):
        return None
    plain = all(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in value.elts)
    return len(value.elts) - 1 if plain else None


def _count_steps_by_import() -> int:
    from langgraph.checkpoint.postgres import PostgresSaver

    return len(PostgresSaver.MIGRATIONS) - 1


APPEND_ONLY: Final = (
    "flows", "decisions", "representations", "run_context_selections", "context_finalizes",
    "run_events", "settlements", "attachment_pieces",
    "saved_objects", "saved_object_versions",
    "context_packs", "decision_records", "memory_proposals", "memory_reviews", "homes", "erasures",
)  # fmt: skip
"""Tables whose rows nobody but their owner could change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The state of a database, and the powers of a connection's role."""

    role: str
    database: str
    owner: str
    """Of the tables; empty where there are none."""
    missing: tuple[str, ...]
    """Migrations that were not made, LangGraph's among them; empty: up to date."""
    newer: tuple[str, ...]
    """Migrations that this version does not know."""
    may_look: bool
    may_create: bool
    read_only: bool
    has_schema: bool
    powers: tuple[str, ...]
    """Reasons why the role could change append-only tables; empty where it cannot."""
    own_settings: tuple[str, ...]
    """Names of the settings that connections of this role begin with, unlike those of others."""


def look(connection: Rows) -> Standing:
    """Read only, also for a role without any right here."""
    ours = [f"{name}={value}" for name, value in {**USUAL, **OURS, **LATER}.items()]
    found = one(connection, "look_around", {"ours": ours})
    assert found is not None  # one row, whatever is there
    missing, newer = _compare_migrations(connection, found) if found["may_look"] else ((), ())
    powers = every(connection, "list_powers", {"kept": list(APPEND_ONLY)})
    return Standing(
        role=found["role"],
        database=found["database"],
        owner=found["owner"],
        missing=missing,
        newer=newer,
        may_look=found["may_look"],
        may_create=found["may_create"],
        read_only=found["read_only"],
        has_schema=found["has_schema"],
        powers=tuple(row["power"] for row in powers),
        own_settings=tuple(found["own_settings"]),
    )


def _compare_migrations(
    connection: Rows, found: dict[str, object]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is missing in the database, and what is missing in this version."""
    known = [version for version, _ in migrations()]
    rows = every(connection, "list_versions") if found["has_versions"] else []
    done = [str(row["version"]) for row in rows]
    latest = latest_step()
    kept = one(connection, "checkpoint_version") if found["has_checkpoints"] else None
    at = -1 if kept is None or kept["version"] is None else int(kept["version"])
    missing = [version for version in known if version not in done]
    newer = [version for version in done if version not in known]
    if at < latest:
        missing.append(f"checkpoints {latest}")
    if at > latest:
        newer.append(f"checkpoints {at}")
    return tuple(missing), tuple(newer)
