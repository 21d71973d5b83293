"""What an agent reads before its first turn: tastes, brief, notes, recent log, recent gaps.

workspace.py           `read_context(workspace, image_id)` -> `FirstTurn`; the same as a text
first_turn_records.py  `FirstTurn` and its parts; bounds of the reading; the JSON of ADR-059
workspace_files.py     tastes, `brief.md`, `notes.md`, the newest entries of the log and of the gaps
model_tools.py         the first turn as tools for a model
proposals.py           changes of tastes and notes that wait for a person

Plain functions over folders; of those that read, only an unknown image raises.
"""

from __future__ import annotations

from cinatra_sdk.first_turn.first_turn_records import FirstTurn, to_json
from cinatra_sdk.first_turn.model_tools import make_tools
from cinatra_sdk.first_turn.proposals import (
    Confirmed,
    Places,
    Proposal,
    ProposalInvalid,
    ProposalNotFound,
    Proposals,
    ProposalUnwritten,
    confirm,
    propose_note,
    propose_taste,
)
from cinatra_sdk.first_turn.workspace import (
    ImageNotFound,
    first_turn_text,
    read_context,
    read_full_notes,
)

__all__ = [
    "Confirmed",
    "FirstTurn",
    "ImageNotFound",
    "Places",
    "Proposal",
    "ProposalInvalid",
    "ProposalNotFound",
    "ProposalUnwritten",
    "Proposals",
    "confirm",
    "first_turn_text",
    "make_tools",
    "propose_note",
    "propose_taste",
    "read_context",
    "read_full_notes",
    "to_json",
]
