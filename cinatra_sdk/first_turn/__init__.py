"""What an agent reads before its first turn: tastes, brief, notes, recent log, recent gaps.

first_turn_records.py  FirstTurn and its parts; how much is read, which names can be looked up,
                       warnings; the same as JSON of ADR-059
model_tools.py         read_context, read_full_notes and the tools that propose, for a model
proposals.py           changes of tastes and notes that wait for a person; writing them
recent_entries.py      one loader each
workspace.py           read_context(workspace, image_id) -> FirstTurn; read_full_notes; the same
                       as one text for a model
workspace_files.py     one loader each; texts that people keep, whole or empty

Everything here is plain functions over folders; of what reads, only an unknown image raises.
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
