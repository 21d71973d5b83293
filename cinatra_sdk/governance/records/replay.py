"""Replay: a decision record derived again from its transcript, without a live effect.

    replay(record, transcript)                      the record, from the transcript alone
    replay(record, transcript, registry=packs)      and every verdict, from the packs

In: a record and what it was made from.  Out: `Replayed`: equal, or every difference by its place.
Nothing is called: a replay reads recorded transcripts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, Self

from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.governance.contracts.context_pack import CompiledContext, PolicyDecision
from cinatra_sdk.governance.contracts.decision_record import DecisionRecord, ReplayPacket
from cinatra_sdk.governance.contracts.invocation import InvokeAgent, RunContext, ToolResultEnvelope
from cinatra_sdk.governance.contracts.plans import CarriedCall, Plan
from cinatra_sdk.governance.contracts.record_format import hash_of, thaw
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.admission import load_packs
from cinatra_sdk.governance.gateway.context_compiler import compute_compiled_hash
from cinatra_sdk.governance.gateway.critic import (
    Case,
    describe_calls,
    list_carried,
    list_evidence,
    score,
    verify,
)
from cinatra_sdk.governance.gateway.facts import make_call_facts, make_run_facts, replace_context
from cinatra_sdk.governance.packs.pack_policy import decide
from cinatra_sdk.governance.packs.pack_registry import PackRegistry
from cinatra_sdk.governance.packs.plan_outputs import Unresolved, fill_references
from cinatra_sdk.governance.packs.rulebook import REDACTED, Rulebook, make_rulebook
from cinatra_sdk.governance.records.record_maker import RecordLink, make_record
from cinatra_sdk.governance.records.story import BOUND, NAMED, read_story
from cinatra_sdk.governance.run.budgets import Used
from cinatra_sdk.light_imports.records import dataclass

# ----------------------------------------------------------------------------
# Where two JSON values differ, by place.
#
# compare("", {"a": {"b": 1}}, {"a": {"b": 2}})   ->  [ReplayDifference("a/b", 1, 2)]


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """Where a replay comes to something else."""

    place: str
    recorded: Any
    derived: Any


def compare(place: str, recorded: Any, derived: Any) -> list[ReplayDifference]:
    if isinstance(recorded, Mapping) and isinstance(derived, Mapping):
        return [
            one
            for key in sorted({*recorded, *derived})
            for one in compare(f"{place}/{key}".lstrip("/"), recorded.get(key), derived.get(key))
        ]
    return [] if recorded == derived else [ReplayDifference(place, recorded, derived)]


# ----------------------------------------------------------------------------
# Verdicts derived again from a transcript and the packs: of policies, and of the critic.
#
# derive_verdicts(transcript, registry)  ->  Verdicts(differences=[…], derived=5, skipped=[…])


_LAST = ("accept", "escalate")
"""Verdicts on results after which the loop made nothing further."""


@dataclass(slots=True)
class Verdicts:
    differences: list[ReplayDifference] = field(default_factory=list)
    derived: int = 0
    """Policy decisions and critic's verdicts that were derived again."""
    skipped: list[str] = field(default_factory=list)
    """What could not be derived again, and why."""

    def add(self, differences: list[ReplayDifference]) -> None:
        self.differences += differences
        self.derived += 1


def derive_verdicts(transcript: Mapping[str, Any], registry: PackRegistry) -> Verdicts:
    """Raises: `GovernanceRefused` for packs that are not there; errors of Python for what is no transcript."""
    story, found = _Story.read(transcript, registry), Verdicts()
    named = transcript["admitted"]["book"]
    if story.book.sha256 != named:
        found.differences.append(ReplayDifference("packs", named, story.book.sha256))
    for one in transcript["calls"]:
        _derive_call(story, one, found)
    if transcript["plan"] is not None and transcript.get("version", 1) < BOUND:
        found.skipped.append("verify, score: an earlier release judged by other rules")
    elif transcript["plan"] is not None:
        _derive_plan(story, found)
        _derive_score(story, found)
    return found


@dataclass(frozen=True)
class _Story:
    """A transcript, read."""

    transcript: Mapping[str, Any]
    envelope: InvokeAgent
    run: RunContext
    book: Rulebook

    @classmethod
    def read(cls, transcript: Mapping[str, Any], registry: PackRegistry) -> Self:
        admitted = transcript["admitted"]
        envelope = InvokeAgent.read(admitted["envelope"])
        run = RunContext.read(admitted["run"])
        book = make_rulebook(load_packs(envelope.context_pack_refs, registry, run.tenant_id))
        return cls(transcript, envelope, run, book)

    @cached_property
    def plan(self) -> Plan:
        return Plan.read(self.transcript["plan"])

    def make_case(
        self, evidence: tuple[str, ...] = (), carried: tuple[CarriedCall, ...] = ()
    ) -> Case:
        return Case(
            book=self.book,
            decision=self.book.decision_for(self.envelope.input.intent),
            run_facts=make_run_facts(self.run, self.envelope.input, mode=self.envelope.mode),
            budget=self.run.run_budget,
            used=Used(),
            evidence=evidence,
            carried=carried,
            binds_outputs=self.transcript.get("version", 1) >= NAMED,
        )


def _derive_call(story: _Story, one: Mapping[str, Any], found: Verdicts) -> None:
    name = one["call"]["tool_call_id"]
    if _is_redacted([one["call"]["args"], (one.get("facts") or {}).get("call")]):
        found.skipped.append(f"calls/{name}: its arguments are redacted")
    else:
        found.add(_compare_call(story, f"calls/{name}", one))


def _is_redacted(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_is_redacted(one) for one in value.values())
    if isinstance(value, list):
        return any(_is_redacted(one) for one in value)
    return bool(value == REDACTED)


def _compare_call(story: _Story, place: str, one: Mapping[str, Any]) -> list[ReplayDifference]:
    call, facts = one["call"], one.get("facts") or {}
    declared = story.book.capabilities.get(call["capability_id"])
    if declared is None:
        return [ReplayDifference(place, call["capability_id"], "no pack declares it")]
    of_host = {name: facts[name] for name in ("user", "agent", "safety_mode") if name in facts}
    made = make_call_facts(
        {**_make_facts(story, facts.get("context") or {}), **of_host},
        capability=declared.id,
        args=call["args"],
        approval_mode=call["approval_mode_requested"],
        evidence=facts.get("evidence") or (),
        about=facts.get("call"),
    )
    derived, _ = decide(story.book, declared, made)
    recorded = {
        "policy_decision_id": call["policy_decision_id"],
        "approval_mode_effective": call["approval_mode_effective"],
        "rule_ids": list(one["rule_ids"]),
    }
    return compare(place, recorded, _describe_decision(derived))


def _make_facts(story: _Story, context: Mapping[str, Any]) -> dict[str, Any]:
    facts = make_run_facts(story.run, story.envelope.input, mode=story.envelope.mode)
    return facts if context == facts["context"] else replace_context(facts, context)


def _describe_decision(derived: PolicyDecision) -> dict[str, Any]:
    return {
        "policy_decision_id": derived.policy_decision_id,
        "approval_mode_effective": derived.effective_approval_mode,
        "rule_ids": [*derived.matched_rule_ids, *derived.undecided_rule_ids],
    }


def _derive_plan(story: _Story, found: Verdicts) -> None:
    recorded = story.transcript["verify"]
    if recorded is None:
        return
    if story.transcript["used"]["replans"]:
        found.skipped.append("verify: it rests on the results of an earlier plan")
        return
    if _is_redacted(story.transcript["plan"]):
        found.skipped.append("verify: the plan is redacted")
        return
    derived = verify(story.plan, story.make_case())
    found.add(compare("verify", recorded, derived.to_json()))


def _derive_score(story: _Story, found: Verdicts) -> None:
    """The verdict on the results, where it was the last word of the critic."""
    recorded = story.transcript["score"]
    if recorded is None:
        return
    if recorded["verdict"] not in _LAST:
        found.skipped.append(f"score: after '{recorded['verdict']}' the run went on")
        return
    calls = {one["step"]: one for one in story.transcript["calls"] if "step" in one}
    kept = [one for one in calls.values() if one["result"] is not None]
    shown = [[one["call"]["args"], one["result"].get("output")] for one in kept]
    if _is_redacted([story.transcript["plan"], *shown]):
        found.skipped.append("score: arguments or results are redacted")
        return
    found.add(compare("score", recorded, _score_again(story, calls)))


def _score_again(story: _Story, calls: Mapping[str, Any]) -> dict[str, Any]:
    results = {name: ToolResultEnvelope.read(one["result"]) for name, one in calls.items()}
    given = {
        name: thaw(one.output) for name, one in results.items() if one.status in ("ok", "completed")
    }
    try:
        outputs: Any = fill_references(thaw(story.plan.outputs), given)
    except Unresolved:
        outputs = None
    derived = score(
        story.plan,
        results,
        story.make_case(
            list_evidence(story.transcript["calls"]),
            list_carried(story.transcript["calls"], story.book),
        ),
        outputs=outputs,
        retries=story.transcript["retries"],
        calls=describe_calls(calls),
    )
    return derived.to_json()


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
    corrects: str | None = None
    """The record that this one corrects, with a person's word that nothing derives."""

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
    if record.corrects is not None:
        again.skipped.append(_describe_word(record))
    try:
        found += _compare_hashes(record, transcript)
        found += _compare_record(record, transcript)
        found += _compare_context(transcript)
        if registry is None:
            again.skipped.append("verdicts: no packs were given")
        else:
            derived = derive_verdicts(transcript, registry)
            again = Verdicts(derived.differences, derived.derived, again.skipped + derived.skipped)
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
        corrects=record.corrects,
    )


def _describe_word(record: DecisionRecord) -> str:
    """What of a correction is its maker's word; earlier releases marked none."""
    marks = [one for one in record.rationale.reasons if one.startswith("corrected by ")]
    told = marks[-1] if marks else f"corrected by {record.actor.id}; not derived from results"
    return f"record {record.corrects}: {told}"


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
    link = RecordLink(sequence=record.sequence or 1, previous_hash=record.previous_record_hash)
    at = datetime.fromisoformat(record.timestamp)
    derived = make_record(read_story(transcript), link, at=at, transcript=transcript)
    recorded, made = _strip(record), _strip(derived)
    if record.corrects is not None:
        _leave_out_words(recorded, made)
    return compare("", recorded, made)


_WORDS = (
    "outcome", "outputs", "status", "reason", "actor", "corrects", "record_id", "timestamp",
)  # fmt: skip
"""Members of a correction that are the corrector's."""


def _leave_out_words(recorded: dict[str, Any], derived: dict[str, Any]) -> None:
    """What of a correction is a person's word is not derived; all else is as of the record before."""
    for one in (recorded, derived):
        for name in _WORDS:
            one.pop(name, None)
    reasons = derived["rationale"].get("reasons") or []
    told = recorded["rationale"].get("reasons") or []
    kept = told[: len(reasons)]
    for one, value in ((recorded, kept), (derived, reasons)):
        one["rationale"] = {**one["rationale"], "reasons": value}


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
