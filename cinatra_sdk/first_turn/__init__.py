"""What an agent reads before its first turn: tastes, brief, notes, recent log, recent gaps.

    reading.py    read_context(workspace, image_id) -> FirstTurn;  read_full_notes
    records.py    FirstTurn and its parts;  shape.py  the same as JSON of ADR-059
    tastes.py brief.py notes.py recent.py     one loader each
    prose.py      texts that people keep, whole or empty
    bounds.py     how much is read, which names can be looked up, warnings

Everything here is plain functions over folders; nothing but an unknown image raises.
"""

from __future__ import annotations

from cinatra_sdk.first_turn.reading import ImageNotFound, read_context, read_full_notes
from cinatra_sdk.first_turn.records import FirstTurn
from cinatra_sdk.first_turn.shape import to_json

__all__ = ["FirstTurn", "ImageNotFound", "read_context", "read_full_notes", "to_json"]
