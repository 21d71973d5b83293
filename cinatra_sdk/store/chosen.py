"""What was chosen in a run, with the words that people know artifacts by.

chosen(connection, "r1")
    -> [ChosenContext(slot_id="voice", artifact_id="house-voice", name="House voice", revision=2, …)]
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cinatra_sdk.postgres.connection import Rows, every


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenContext:
    """One ref of a selection; one without an artifact where the selection chose nothing."""

    package_name: str
    slot_id: str
    artifact_id: str | None
    name: str
    """As the artifact is called today; empty where it has no name."""
    revision: int | None
    """The number of the revision that was pinned, from 1."""
    revision_id: str | None
    assertion_id: str | None
    extension: str | None
    source_scope: str | None
    selected_by: str | None
    """user, agent, autonomous; `None` where nothing was chosen: nobody chose."""
    selection_mode: str
    selected_at: datetime


def chosen(connection: Rows, run_id: str) -> list[ChosenContext]:
    """Every selection of a run, the oldest first, each from narrow to broad.

    One that a run went back to comes again, at the moment when that was.
    """
    rows = every(connection, "list_chosen", {"run_id": run_id})
    return [ChosenContext(**row) for row in rows]
