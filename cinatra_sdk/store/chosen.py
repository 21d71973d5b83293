"""The selections of a run, with the names that people know the artifacts by.

chosen(connection, "r1")
    -> [ChosenContext(slot_id="voice", artifact_id="house-voice", name="House voice", revision=2, …)]
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cinatra_sdk.postgres.connection import Rows, every


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenContext:
    """One ref of a selection; without an artifact where the selection chose no ref."""

    package_name: str
    slot_id: str
    artifact_id: str | None
    name: str
    """The artifact's name today; empty where it has no name."""
    revision: int | None
    """The number of the revision that was pinned, from 1."""
    revision_id: str | None
    assertion_id: str | None
    extension: str | None
    source_scope: str | None
    selected_by: str | None
    """user, agent, autonomous; `None` where the selection chose no ref."""
    selection_mode: str
    selected_at: datetime


def chosen(connection: Rows, run_id: str) -> list[ChosenContext]:
    """Every selection of a run, the oldest first, each from narrow to broad.

    A selection that a run returned to comes again, at the time of that return.
    """
    rows = every(connection, "list_chosen", {"run_id": run_id})
    return [ChosenContext(**row) for row in rows]
