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

from cinatra_sdk.governance.admission import load_packs
from cinatra_sdk.governance.canonical import hash_of
from cinatra_sdk.governance.compiling import compute_compiled_hash
from cinatra_sdk.governance.contracts.compiled import CompiledContext
from cinatra_sdk.governance.contracts.contract import thaw
from cinatra_sdk.governance.contracts.decisions import Plan
from cinatra_sdk.governance.contracts.invoke import AgentInput, InvokeAgent
from cinatra_sdk.governance.contracts.records import DecisionRecord
from cinatra_sdk.governance.contracts.replays import ReplayPacket
from cinatra_sdk.governance.contracts.rules import PolicyDecision
from cinatra_sdk.governance.contracts.run_context import RunContext
from cinatra_sdk.governance.critic import Case, verify
from cinatra_sdk.governance.facts import make_call_facts, make_run_facts
from cinatra_sdk.governance.policy import decide
from cinatra_sdk.governance.recording import RecordLink, make_record
from cinatra_sdk.governance.refusals import GovernanceRefused
from cinatra_sdk.governance.registry import PackRegistry
from cinatra_sdk.governance.rulebook import Rulebook, make_rulebook
from cinatra_sdk.governance.story import read_story
from cinatra_sdk.governance.usage import Used

_UNSIGNED = ("record_hash", "signature")


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """Where a replay comes to something else."""

    place: str
    recorded: Any
    derived: Any


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
    if not record.is_intact:
        found.append(ReplayDifference("record_hash", record.record_hash, record.compute_hash()))
    named = thaw(record.inputs_refs).get("transcript")
    if named != hash_of(thaw(transcript)):
        found.append(ReplayDifference("inputs_refs/transcript", named, hash_of(thaw(transcript))))
    verdicts, skipped = 0, []
    try:
        found += _compare_record(record, transcript)
        found += _compare_context(transcript)
        if registry is None:
            skipped.append("verdicts: no packs were given")
        else:
            more, verdicts, left_out = _compare_verdicts(transcript, registry)
            found += more
            skipped += left_out
    except GovernanceRefused as refused:
        found.append(ReplayDifference("transcript", "holds", f"{refused.code}: {refused.message}"))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        found.append(
            ReplayDifference("transcript", "holds", f"{type(error).__name__} while it is read")
        )
    return Replayed(
        record_id=record.record_id,
        differences=tuple(found),
        verdicts=verdicts,
        skipped=tuple(skipped),
    )


def _compare_record(
    record: DecisionRecord, transcript: Mapping[str, Any]
) -> list[ReplayDifference]:
    """A correction is a person's word: it is not derived."""
    if record.corrects is not None:
        return []
    link = RecordLink(sequence=record.sequence or 1, previous_hash=record.previous_record_hash)
    at = datetime.fromisoformat(record.timestamp)
    derived = make_record(read_story(transcript), link, at=at, transcript=transcript)
    return _compare("", _strip(record), _strip(derived))


def _strip(record: DecisionRecord) -> dict[str, Any]:
    return {key: one for key, one in record.to_json().items() if key not in _UNSIGNED}


def _compare(place: str, recorded: Any, derived: Any) -> list[ReplayDifference]:
    if isinstance(recorded, Mapping) and isinstance(derived, Mapping):
        return [
            one
            for key in sorted({*recorded, *derived})
            for one in _compare(f"{place}/{key}".lstrip("/"), recorded.get(key), derived.get(key))
        ]
    return [] if recorded == derived else [ReplayDifference(place, recorded, derived)]


def _compare_context(transcript: Mapping[str, Any]) -> list[ReplayDifference]:
    compiled = CompiledContext.read(transcript["compiled"])
    named, made = compiled.context_ledger.compiled_context_hash, compute_compiled_hash(compiled)
    return [] if named == made else [ReplayDifference("compiled_context_hash", named, made)]


def _compare_verdicts(
    transcript: Mapping[str, Any], registry: PackRegistry
) -> tuple[list[ReplayDifference], int, list[str]]:
    admitted = transcript["admitted"]
    envelope = InvokeAgent.read(admitted["envelope"])
    run = RunContext.read(admitted["run"])
    book = make_rulebook(load_packs(envelope.context_pack_refs, registry, run.tenant_id))
    found = []
    if book.sha256 != admitted["book"]:
        found.append(ReplayDifference("packs", admitted["book"], book.sha256))
    verdicts, skipped = 0, []
    for one in transcript["calls"]:
        name = one["call"]["tool_call_id"]
        if _is_redacted(one["call"]["args"]):
            skipped.append(f"calls/{name}: its arguments are redacted")
            continue
        found += _compare_call(name, one, envelope, run, book)
        verdicts += 1
    if transcript["verify"] is not None and transcript["plan"] is not None:
        more = _compare_plan(transcript, envelope, run, book)
        found += more
        verdicts += 1
    return found, verdicts, skipped


def _is_redacted(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_is_redacted(one) for one in value.values())
    if isinstance(value, list):
        return any(_is_redacted(one) for one in value)
    return bool(value == "[redacted]")


def _compare_call(
    name: str,
    one: Mapping[str, Any],
    envelope: InvokeAgent,
    run: RunContext,
    book: Rulebook,
) -> list[ReplayDifference]:
    call, facts = one["call"], one.get("facts") or {}
    declared = book.capabilities.get(call["capability_id"])
    if declared is None:
        return [ReplayDifference(f"calls/{name}", call["capability_id"], "no pack declares it")]
    context = facts.get("context") or {}
    asked = envelope.input
    if context != (thaw(asked.context) or {}):
        asked = AgentInput(intent=asked.intent, message=asked.message, context=dict(context))
    made = make_call_facts(
        make_run_facts(run, asked, mode=envelope.mode),
        capability=declared.id,
        args=call["args"],
        approval_mode=call["approval_mode_requested"],
        evidence=facts.get("evidence") or (),
    )
    derived, _ = decide(book, declared, made)
    recorded = {
        "policy_decision_id": call["policy_decision_id"],
        "approval_mode_effective": call["approval_mode_effective"],
        "rule_ids": list(one["rule_ids"]),
    }
    return _compare(f"calls/{name}", recorded, _describe_decision(derived))


def _describe_decision(derived: PolicyDecision) -> dict[str, Any]:
    return {
        "policy_decision_id": derived.policy_decision_id,
        "approval_mode_effective": derived.effective_approval_mode,
        "rule_ids": [*derived.matched_rule_ids, *derived.undecided_rule_ids],
    }


def _compare_plan(
    transcript: Mapping[str, Any], envelope: InvokeAgent, run: RunContext, book: Rulebook
) -> list[ReplayDifference]:
    """The verdict on the last plan, as far as it does not rest on results of plans before it."""
    if transcript["used"]["replans"]:
        return []
    case = Case(
        book=book,
        decision=book.decision_for(envelope.input.intent),
        run_facts=make_run_facts(run, envelope.input, mode=envelope.mode),
        budget=run.run_budget,
        used=Used(),
    )
    derived = verify(Plan.read(transcript["plan"]), case)
    return _compare("verify", transcript["verify"], derived.to_json())


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
