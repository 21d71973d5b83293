"""How much of a workspace one first turn reads and tells.

A file that a person keeps stays far below; the bounds are for what a program wrote, or an attacker.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

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
