"""What an agent reads before its first turn: tastes, brief, notes, recent log, recent gaps.

    reading.py    read_context(workspace, image_id) -> FirstTurn;  read_full_notes
    records.py    FirstTurn and its parts;  shape.py  the same as JSON of ADR-059
    tastes.py brief.py notes.py recent.py     one loader each
    telling.py    the same as one text for a model
    tools.py      read_context, read_full_notes and the tools that propose, for a model
    proposals.py  changes of tastes and notes that wait for a person;  confirming.py  writing them
    prose.py      texts that people keep, whole or empty
    bounds.py     how much is read, which names can be looked up, warnings
    unseen.py     characters that a person does not see and a model reads

Everything here is plain functions over folders; of what reads, only an unknown image raises.
"""

from __future__ import annotations

from cinatra_sdk.first_turn.reading import ImageNotFound, read_context, read_full_notes
from cinatra_sdk.first_turn.records import FirstTurn
from cinatra_sdk.first_turn.shape import to_json
from cinatra_sdk.first_turn.telling import first_turn_text
from cinatra_sdk.first_turn.tools import make_tools

__all__ = [
    "FirstTurn",
    "ImageNotFound",
    "first_turn_text",
    "make_tools",
    "read_context",
    "read_full_notes",
    "to_json",
]
