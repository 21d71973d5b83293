"""The first turn as JSON, in exactly the shape and order of ADR-059.

    list(to_json(FirstTurn()))     ["tastes", "brief", "notes", "recent_log", "recent_gaps"]

Warnings are not in it, and no characters that a person does not see (`first_turn.unseen`).
"""

from __future__ import annotations

from pydantic import JsonValue

from cinatra_sdk.first_turn.records import Brief, FirstTurn, FullNotes, GapEntry, LogEntry, Tastes
from cinatra_sdk.first_turn.unseen import without_unseen


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
