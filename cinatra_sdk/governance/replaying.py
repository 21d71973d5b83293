"""Replay: a decision record derived again from its transcript, without a live effect.

    replay(record, transcript)                      the record, from the transcript alone
    replay(record, transcript, registry=packs)      and every verdict, from the packs

In: a record and what it was made from.  Out: `Replayed`: equal, or every difference by its place.
Nothing is called: a replay reads recorded transcripts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.governance.canonical import hash_of
from cinatra_sdk.governance.compiling import compute_compiled_hash
from cinatra_sdk.governance.contracts.compiled import CompiledContext
from cinatra_sdk.governance.contracts.contract import thaw
from cinatra_sdk.governance.contracts.records import DecisionRecord
from cinatra_sdk.governance.contracts.replays import ReplayPacket
from cinatra_sdk.governance.differences import ReplayDifference, compare
from cinatra_sdk.governance.recording import RecordLink, make_record
from cinatra_sdk.governance.refusals import GovernanceRefused
from cinatra_sdk.governance.registry import PackRegistry
from cinatra_sdk.governance.story import read_story
from cinatra_sdk.governance.verdicts import Verdicts, derive_verdicts

_UNSIGNED = ("record_hash", "signature")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What a replay came to."""

    record_id: str
    differences: tuple[ReplayDifference, ...]
    verdicts: int
    """Policy decisions and critic's verdicts that were derived again."""
    skipped: tuple[str, ...] = ()
    """What could not be derived again, and why."""

    @property
    def status(self) -> Literal["replay_equal", "replay_mismatch"]:
        return "replay_mismatch" if self.differences else "replay_equal"


def replay(
    record: DecisionRecord,
    transcript: Mapping[str, Any],
    *,
    registry: PackRegistry | None = None,
) -> Replayed:
    """registry: of the packs; None: verdicts are not derived again.

    Raises: nothing for a record that differs; a transcript that is none is a difference, too.
    """
    found: list[ReplayDifference] = []
    again = Verdicts()
    try:
        found += _compare_hashes(record, transcript)
        found += _compare_record(record, transcript)
        found += _compare_context(transcript)
        if registry is None:
            again.skipped.append("verdicts: no packs were given")
        else:
            again = derive_verdicts(transcript, registry)
    except (GovernanceRefused, ValueRefused) as refused:
        problem = f"{refused.code}: {refused.message}"
        found.append(ReplayDifference("transcript", "holds", problem))
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as error:
        problem = f"{type(error).__name__} while it is read"
        found.append(ReplayDifference("transcript", "holds", problem))
    return Replayed(
        record_id=record.record_id,
        differences=(*found, *again.differences),
        verdicts=again.derived,
        skipped=tuple(again.skipped),
    )


def _compare_hashes(
    record: DecisionRecord, transcript: Mapping[str, Any]
) -> list[ReplayDifference]:
    found = []
    if not record.is_intact:
        found.append(ReplayDifference("record_hash", record.record_hash, record.compute_hash()))
    named, made = thaw(record.inputs_refs).get("transcript"), hash_of(thaw(transcript))
    if named != made:
        found.append(ReplayDifference("inputs_refs/transcript", named, made))
    return found


def _compare_record(
    record: DecisionRecord, transcript: Mapping[str, Any]
) -> list[ReplayDifference]:
    """A correction is a person's word: it is not derived."""
    if record.corrects is not None:
        return []
    link = RecordLink(sequence=record.sequence or 1, previous_hash=record.previous_record_hash)
    at = datetime.fromisoformat(record.timestamp)
    derived = make_record(read_story(transcript), link, at=at, transcript=transcript)
    return compare("", _strip(record), _strip(derived))


def _strip(record: DecisionRecord) -> dict[str, Any]:
    return {key: one for key, one in record.to_json().items() if key not in _UNSIGNED}


def _compare_context(transcript: Mapping[str, Any]) -> list[ReplayDifference]:
    compiled = CompiledContext.read(transcript["compiled"])
    named, made = compiled.context_ledger.compiled_context_hash, compute_compiled_hash(compiled)
    return [] if named == made else [ReplayDifference("compiled_context_hash", named, made)]


def make_replay_packet(record: DecisionRecord, transcript: Mapping[str, Any]) -> ReplayPacket:
    """What somebody else needs to replay a record, beside its transcript."""
    body: dict[str, Any] = {
        "replay_packet_id": f"rp_{record.record_id}",
        "trace_id": record.trace_id,
        "source_kind": "decision_record",
        "source_ref": record.record_id,
        "context_pack_ref": record.lineage.pack_version,
        "compiled_context_hash": thaw(record.inputs_refs)["compiled_context"],
        "side_effect_policy": "transcript_only",
        "expected": {
            "status": record.status,
            "decision_record_hash": record.record_hash,
            "scorecard": dict(record.scorecard),
        },
        "tool_transcript_chain_hash": hash_of(thaw(transcript)["calls"]),
    }
    return ReplayPacket.read(body, code="RECORD_INVALID")
