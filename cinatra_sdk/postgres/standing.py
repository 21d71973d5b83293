"""The state of a database: the owner of its tables, its migrations, and the powers of a role."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cinatra_sdk.postgres.checkpoint_steps import latest_step
from cinatra_sdk.postgres.connection import Rows, every, one
from cinatra_sdk.postgres.queries import migrations

APPEND_ONLY: Final = (
    "flows", "decisions", "representations", "run_context_selections", "context_finalizes",
    "run_events", "settlements", "attachment_pieces",
    "saved_objects", "saved_object_versions",
    "context_packs", "decision_records", "memory_proposals", "memory_reviews",
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
    found = one(connection, "look_around")
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
