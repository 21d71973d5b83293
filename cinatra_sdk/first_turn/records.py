"""What an agent reads before its first turn, as records.

    turn.tastes.default             text of `_default.md`
    turn.brief.intent               the brief without its `Tastes:` lines
    turn.notes.truncated            whether `read_full_notes` would tell more
    turn.recent_log[0].op           the newest entry of the log

Every field has an empty value: a fresh workspace gives a first turn too.
Source of fields and order: ADR-059 (seed 002); `cinatra_sdk.first_turn.shape` writes them as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

UNCATEGORIZED: Final = "uncategorized"


@dataclass(frozen=True, slots=True, kw_only=True)
class Genre:
    """A taste that the brief declares."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TasteConflict:
    """A line that stands in several genres; nobody but a person resolves it."""

    point: str
    """The line, trimmed."""
    files: tuple[str, ...]
    """Names of the genres, at least two, as the brief declares them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tastes:
    default: str = ""
    genres: tuple[Genre, ...] = ()
    """As the brief declares them; those without a file, or with an empty one, are left out."""
    conflicts: tuple[TasteConflict, ...] = ()
    """As their lines come first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    raw: str = ""
    intent: str = ""
    """Everything but the `Tastes:` lines, trimmed."""
    tastes: tuple[str, ...] = ()
    """The names of the last `Tastes:` line, repeated where it repeats them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageNotes:
    summary: str = ""
    """The notes; of long ones the first and the last lines."""
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FullNotes:
    """A piece of the notes, line by line as they are."""

    content: str = ""
    lines: int = 0
    """Of the whole file."""
    truncated: bool = False
    """Whether lines follow after the piece."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    timestamp: str
    op: str
    details: Mapping[str, JsonValue]
    """Every other member of the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GapEntry:
    """A wish that the agent's vocabulary could not express."""

    timestamp: str
    image_id: str
    description: str
    session_id: str | None = None
    snapshot_hash: str | None = None
    intent: str | None = None
    intent_category: str = UNCATEGORIZED
    missing_capability: str | None = None
    operations_involved: tuple[JsonValue, ...] = ()
    vocabulary_used: tuple[JsonValue, ...] = ()
    satisfaction: bool | int | float | str | None = None
    notes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstTurn:
    """The whole context, in the order in which the agent reads it."""

    tastes: Tastes = field(default_factory=Tastes)
    brief: Brief = field(default_factory=Brief)
    notes: ImageNotes = field(default_factory=ImageNotes)
    recent_log: tuple[LogEntry, ...] = ()
    """Newest first: the file's order reversed, whatever the timestamps say."""
    recent_gaps: tuple[GapEntry, ...] = ()
    """Newest first, in the same way."""
    warnings: tuple[str, ...] = ()
    """What was left out, and why; no part of the JSON."""
