"""Decision records, replays, packs and proposals as text for people.

In: records of the store of evidence.  Out: text for rich to print; of records and replays also JSON.

    dr_n1_1  DECIDED
      decision      send_mail 1.2.0
      outcome       approved
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from cinatra_sdk.data.text.message_words import say_number
from oas_compiler.cli.terminal.layout import Indented, Listing, unbroken
from oas_compiler.cli.terminal.printable_text import clean, cut
from oas_compiler.cli.view.tables import format_since

if TYPE_CHECKING:
    from cinatra_sdk.governance.contracts.decision_record import DecisionRecord
    from cinatra_sdk.governance.records.replay import Replayed
    from cinatra_sdk.store.evidence.decision_records import StoredRecord
    from cinatra_sdk.store.evidence.governance_sources import PackEntry
    from cinatra_sdk.store.evidence.memory_proposals import StoredProposal


STYLES: Final[Mapping[str, str]] = {
    "DECIDED": "green",
    "DEFERRED": "yellow",
    "REJECTED": "magenta",
    "ESCALATED": "red",
    "IN_FLIGHT": "cyan",
    "CLOSED": "red",
}


def _style(status: str) -> Text:
    return Text(clean(status), style=f"bold {STYLES.get(status, '')}".strip())


def list_records(items: Iterable[StoredRecord]) -> list[dict[str, Any]]:
    """Records of a list, as JSON."""
    return [
        {
            "run": one.run_id,
            "seq": one.seq,
            "tenant": one.tenant,
            "flow": one.flow,
            "run_status": one.run_status,
            "created_at": one.created_at.isoformat(timespec="milliseconds"),
            "record": one.record.to_json(),
        }
        for one in items
    ]


def records_table(items: Sequence[StoredRecord], now: datetime) -> Listing:
    rows = [
        [
            Text(clean(one.record.record_id)),
            _style(one.record.status),
            Text(cut(clean(one.record.decision_key), 40)),
            Text(cut(clean(one.record.outcome or ""), 30)),
            Text(", ".join(clean(said.approver) for said in one.record.approvals)),
            Text(format_since(one.created_at, now)),
        ]
        for one in items
    ]
    return Listing(
        ["record", "status", "decision", "outcome", "decided by", "written"],
        rows,
        words=frozenset({"decision", "outcome"}),
    )


def record_view(stored: StoredRecord) -> RenderableType:
    """A record: the decision, its approvers, its grounds, and whether its hash holds."""
    record = stored.record
    head = Text.assemble(Text(clean(record.record_id), style="bold"), "  ", _style(record.status))
    parts = [head, *_list_head(stored), *_list_grounds(record), *_list_figures(record)]
    return Group(*(one for one in parts if one is not _NOTHING))


def _list_head(stored: StoredRecord) -> list[RenderableType]:
    record = stored.record
    chain = record.agent_identity.principal_chain[:-1]
    return [
        _line("decision", f"{record.decision_key} {record.decision_version}"),
        _line("outcome", record.outcome or ""),
        _line("reason", record.reason),
        _line("run", f"{stored.run_id}, number {stored.seq}, {stored.run_status}"),
        _line("written", record.timestamp),
        _line("agent", record.agent_identity.subject),
        _line("for", ", ".join(one.id for one in chain)),
        _line("about", ", ".join(record.subject_ids)),
        _line("corrects", record.corrects or ""),
    ]


def _list_grounds(record: DecisionRecord) -> list[RenderableType]:
    gates = record.controls_active.approval_gates_active
    return [
        *_list_block("outputs", [json.dumps(_plain(record.outputs), ensure_ascii=False)]),
        *_list_block("approvals", [_describe_approval(one) for one in record.approvals]),
        *_list_block("evidence", list(record.evidence_refs)),
        *_list_block("rules", [_describe_rules(one) for one in record.policy_decisions]),
        *_list_block("gates active", list(gates)),
        *_list_block("scores", [f"{name} {value:g}" for name, value in record.scorecard.items()]),
    ]


def _list_figures(record: DecisionRecord) -> list[RenderableType]:
    usage, lineage = record.budget_usage, record.lineage
    intact = "holds" if record.is_intact else "DOES NOT HOLD: the record was changed"
    kid = record.signature.kid if record.signature else ""
    signed = f", with a signature by {kid} that only an export verifies" if kid else ""
    used = (
        f"{say_number(usage.tokens, 'token')}, {say_number(usage.tool_calls, 'call')}, "
        f"{usage.cost_usd_cents:g} cents, "
        f"{usage.wall_clock_ms} ms of work"
    )
    return [
        _line("used", used),
        _line("pack", f"{lineage.pack_version}, snapshot {lineage.snapshot_version}"),
        _line("trace", record.trace_id),
        _line("hash", f"{record.record_hash} ({intact}{signed})"),
    ]


_NOTHING: Final = Text("")


def _line(name: str, value: str) -> Text:
    if not value:
        return _NOTHING
    return unbroken(Text.assemble(Text(f"  {name:<13}", style="dim"), clean(value)))


def _list_block(name: str, lines: Sequence[str]) -> list[RenderableType]:
    kept = [line for line in lines if line and line != "{}"]
    if not kept:
        return []
    shown = Group(*(unbroken(Text(clean(line))) for line in kept))
    return [Text(f"  {name}", style="dim"), Indented(shown, by=4)]


def _describe_approval(one: Any) -> str:
    word = one.decision or "approved"
    return (
        f"{one.gate_id} {word} by {one.approver} at {one.decided_at}, {one.evidence_snapshot_hash}"
    )


def _describe_rules(one: Any) -> str:
    return f"{one.policy_decision_id}: {', '.join(one.rule_ids)}" if one.rule_ids else ""


def _plain(value: Any) -> Any:
    from cinatra_sdk.governance.contracts.record_format import thaw

    return thaw(value)


def describe_replay(replayed: Replayed) -> dict[str, Any]:
    """A replay as JSON."""
    return {
        "record": replayed.record_id,
        "status": replayed.status,
        "corrects": replayed.corrects,
        "verdicts": replayed.verdicts,
        "skipped": list(replayed.skipped),
        "differences": [
            {"place": one.place, "recorded": _plain(one.recorded), "derived": _plain(one.derived)}
            for one in replayed.differences
        ],
    }


def replay_view(replayed: Replayed) -> RenderableType:
    """Whether a replay gave the recorded values, and every place where it did not."""
    lines: list[RenderableType] = []
    if replayed.differences:
        lines.append(Text(f"{clean(replayed.record_id)} differs", style="bold red"))
        for one in replayed.differences:
            lines.append(Indented(unbroken(Text(clean(one.place or "the record"))), by=2))
            for word, value in (("recorded", one.recorded), ("derived", one.derived)):
                shown = cut(clean(json.dumps(_plain(value), ensure_ascii=False)), 200)
                lines.append(Indented(Text(f"{word:<9} {shown}"), by=4))
    else:
        told = f"{clean(replayed.record_id)} comes out the same"
        if replayed.corrects is not None:
            told = (
                f"{clean(replayed.record_id)} is a person's word on {clean(replayed.corrects)}: what "
                "it corrects is not derived again, the rest comes out the same"
            )
        lines.append(Text(told, style="bold green"))
        verdicts = say_number(replayed.verdicts, "verdict")
        lines.append(Text(f"  {verdicts} derived again; nothing was called"))
    lines += [Text(f"  not derived again: {clean(one)}") for one in replayed.skipped]
    return Group(*lines)


def packs_table(entries: Sequence[PackEntry], now: datetime) -> Listing:
    rows = [
        [
            Text(clean(one.ref)),
            Text("every tenant" if one.tenant == "*" else clean(one.tenant)),
            Text(clean(one.published_by)),
            Text(format_since(one.published_at, now)),
            Text(clean(one.sha256)),
        ]
        for one in entries
    ]
    return Listing(["pack", "tenant", "by", "published", "hash"], rows)


def proposals_table(items: Sequence[StoredProposal], now: datetime) -> Listing:
    rows = [
        [
            Text(clean(one.proposal.proposal_id)),
            Text(clean(one.proposal.candidate.entity_ceid)),
            Text(clean(one.proposal.candidate.predicate)),
            Text(cut(clean(json.dumps(_plain(one.proposal.candidate.value))), 60)),
            Text("open" if one.review is None else clean(one.review.verdict)),
            Text(format_since(one.proposed_at, now)),
        ]
        for one in items
    ]
    return Listing(
        ["proposal", "about", "what", "value", "review", "proposed"],
        rows,
        words=frozenset({"value"}),
    )
