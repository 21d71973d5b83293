"""The records of a first turn, the bounds of its reading, and its JSON.

    turn.tastes.default             text of `_default.md`
    turn.brief.intent               the brief without its `Tastes:` lines
    turn.notes.truncated            whether `read_full_notes` would give more
    turn.recent_log[0].op           the newest entry of the log

Every field has an empty value: a fresh workspace gives a first turn too.
Source of fields and order: ADR-059 (seed 002).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Final, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.data.text.person_texts import without_unseen
from cinatra_sdk.light_imports.records import dataclass

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


# ----------------------------------------------------------------------------
# The bounds of the reading of a workspace for one first turn.
#
# A file that a person writes stays far below the bounds, which are for files of programs and attackers.


HEAD_LINES: Final = 10
"""Lines of long notes that are kept from their beginning (ADR-059)."""
TAIL_LINES: Final = 30
"""Lines of long notes that are kept from their end (ADR-059)."""
SHORT_LINES: Final = HEAD_LINES + TAIL_LINES
"""Notes of at most so many lines are kept whole (ADR-059)."""
RECENT: Final = 10
"""Entries of the log, and gaps, unless the caller asks for another number (ADR-059)."""

MAX_RECENT: Final = 100
"""Entries of the log, and gaps, whatever the caller asks for."""
MAX_NAME: Final = 200
"""Characters of an image's id and of a taste's name."""
MAX_PROSE: Final = 100_000
"""Bytes of a brief, and of one taste."""
MAX_GENRES: Final = 16
"""Tastes that one brief can declare."""
MAX_CONFLICTS: Final = 200
"""Conflicts that are told."""
MAX_NOTES: Final = 16_000_000
"""Bytes of notes."""
MAX_NOTES_LINES: Final = 1_000_000
"""Lines of notes."""
MAX_NOTES_LINE: Final = 10_000
"""Characters of one line of notes."""
MAX_NOTES_PAGE: Final = 200_000
"""Characters of one answer of `read_full_notes`."""
MAX_ENTRY: Final = 50_000
"""Bytes of one line of a log."""
MAX_ENTRIES: Final = 200_000
"""Bytes of all lines of a log that are told."""
MAX_LOOKED_BACK: Final = 16_000_000
"""Bytes from the end of a log in which entries are looked for."""
MAX_NO_ENTRIES: Final = 20_000
"""Lines of a log that are no entries, blank ones too, among which entries are looked for."""
MAX_WARNINGS: Final = 50

NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")

Tell: TypeAlias = Callable[[str], None]
"""Hears a warning: what was left out, and why."""


def is_name(text: object) -> bool:
    """Whether an image's id or a taste's name can be looked up: one plain file name."""
    return isinstance(text, str) and len(text) <= MAX_NAME and NAME.fullmatch(text) is not None


class Warnings:
    """The warnings of one reading, each once, in order."""

    def __init__(self) -> None:
        self._told: dict[str, None] = {}

    def tell(self, text: str) -> None:
        if len(self._told) < MAX_WARNINGS:
            self._told[text] = None

    def told(self) -> tuple[str, ...]:
        return tuple(self._told)


# ----------------------------------------------------------------------------
# The first turn as JSON, in exactly the shape and order of ADR-059.
#
#     `list(to_json(FirstTurn()))     ["tastes", "brief", "notes", "recent_log", "recent_gaps"]`
#
# Warnings are not in it, and no characters that a person does not see (`first_turn.unseen`).


def to_json(turn: FirstTurn) -> dict[str, JsonValue]:
    written: dict[str, JsonValue] = {
        "tastes": _write_tastes(turn.tastes),
        "brief": _write_brief(turn.brief),
        "notes": {"summary": turn.notes.summary, "truncated": turn.notes.truncated},
        "recent_log": [write_entry(entry) for entry in turn.recent_log],
        "recent_gaps": [write_gap(gap) for gap in turn.recent_gaps],
    }
    return without_unseen(written)


def notes_to_json(notes: FullNotes) -> dict[str, JsonValue]:
    return without_unseen(
        {"content": notes.content, "lines": notes.lines, "truncated": notes.truncated}
    )


def write_entry(entry: LogEntry) -> dict[str, JsonValue]:
    return {"timestamp": entry.timestamp, "op": entry.op, "details": dict(entry.details)}


def write_gap(gap: GapEntry) -> dict[str, JsonValue]:
    return {
        "timestamp": gap.timestamp,
        "image_id": gap.image_id,
        "description": gap.description,
        "session_id": gap.session_id,
        "snapshot_hash": gap.snapshot_hash,
        "intent": gap.intent,
        "intent_category": gap.intent_category,
        "missing_capability": gap.missing_capability,
        "operations_involved": list(gap.operations_involved),
        "vocabulary_used": list(gap.vocabulary_used),
        "satisfaction": gap.satisfaction,
        "notes": gap.notes,
    }


def _write_tastes(tastes: Tastes) -> JsonValue:
    return {
        "default": tastes.default,
        "genres": {genre.name: genre.text for genre in tastes.genres},
        "conflicts": [
            {"point": conflict.point, "files": list(conflict.files)}
            for conflict in tastes.conflicts
        ],
    }


def _write_brief(brief: Brief) -> JsonValue:
    return {"raw": brief.raw, "intent": brief.intent, "tastes": list(brief.tastes)}
