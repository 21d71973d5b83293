"""The selections of a run, with the names that people know the artifacts by.

chosen(connection, "r1")
    -> [ChosenContext(slot_id="voice", artifact_id="house-voice", name="House voice", revision=2, …)]
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cinatra_sdk.postgres.connection import Row, Rows, every
from cinatra_sdk.store.paging import Page, read_numbers, read_page, write_cursor


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
    asked = {"run_id": run_id, "after_seq": 0, "after_place": 0, "limit": None}
    return [_read_chosen_row(row) for row in every(connection, "list_chosen", asked)]


def chosen_page(connection: Rows, run_id: str, *, limit: int, after: str) -> Page[ChosenContext]:
    """As `chosen`, a page; raises `InputInvalid` for another list's cursor."""
    seq, place = read_numbers(after, names=2)
    asked = {"run_id": run_id, "after_seq": seq, "after_place": place}
    rows, following = read_page(
        lambda most: every(connection, "list_chosen", {**asked, "limit": most}),
        limit,
        lambda row: write_cursor(row["selected_at"], str(row["seq"]), str(row["place"])),
    )
    return Page(items=[_read_chosen_row(row) for row in rows], next=following)


def _read_chosen_row(row: Row) -> ChosenContext:
    return ChosenContext(**{name: row[name] for name in ChosenContext.__dataclass_fields__})
