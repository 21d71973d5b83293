"""Exports: runs with what their approvals prove, and decision records, as lines that anybody can verify.

    lines = export_run(database, "r1", tally, …)    the lines of one run, the manifest last
    tally = ExportTally(tenant="acme")
    tally.add_record(row)                 the line of a row of `decision_records`
    tally.end("2026-05-04T…Z", signer)    the last line: what has to be there, signed

In: rows.  Out: lines of `cinatra_sdk.api.export_json`.  `governance/records/verifier.py` and `run_evidence.py`
read them, and have the other half of each rule.
No line holds the result of a call, a credential, or an address of the platform: they are not evidence.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from cinatra_sdk.governance.contracts.record_format import hash_of
from cinatra_sdk.governance.records.record_maker import Signer, format_time
from cinatra_sdk.governance.records.run_evidence import CONTENTS, HELD
from cinatra_sdk.governance.records.verifier import (
    ERASED,
    FORMAT,
    READ,
    SIGNED_AS,
    is_end,
    is_erased,
)
from cinatra_sdk.governed.approval_policy import policy_hash
from cinatra_sdk.governed.person import PersonRecord
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row, Rows, every, one
from cinatra_sdk.postgres.connection import run as execute
from cinatra_sdk.store.pages import PAGE

if TYPE_CHECKING:
    from pydantic import JsonValue

    from cinatra_sdk.api.export_json import (
        DecisionEvidenceJson,
        EffectEvidenceJson,
        EventEvidenceJson,
        EvidencePersonJson,
        EvidencePolicyJson,
        EvidenceStopJson,
        FlowEvidenceJson,
        GateEvidenceJson,
        RunEvidenceJson,
        SettlementEvidenceJson,
    )
    from cinatra_sdk.store.database import Database

_EXACT: Final = 2**53
"""Whole numbers from here on are not the same to every reader of JSON."""
_TOLD: Final = ("code", "message", "node")
"""What is told of an error; the error itself is for a run that is carried out again."""


@dataclass(kw_only=True)
class ExportTally:
    """What an export has come to so far."""

    tenant: str | None = None
    """None: of every tenant."""
    run: str | None = None
    """None: of every run."""
    transcripts: bool = False
    records: int = 0
    unsigned: int = 0
    heads: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    ended: dict[str, bool] = field(default_factory=dict)
    unreadable: dict[str, list[int]] = field(default_factory=dict)
    """Numbers of the rows of each run that no reader can make into a record."""
    erased: dict[str, list[int]] = field(default_factory=dict)
    """Numbers of the records of each run whose content, or whose transcript, was erased."""
    evidence: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Of each run that is told whole: how many lines it has, and the sha256 of the last one."""
    _digest: Any = field(default_factory=hashlib.sha256, repr=False)
    _told: list[str] | None = field(default=None, repr=False)
    """The sha256 of each line of the run that is being told; None: of no run."""
    _number: Counter[str] = field(default_factory=Counter, repr=False)
    """Of the lines of each kind of that run."""

    @property
    def without_end(self) -> list[str]:
        """Runs whose last record, corrections aside, is none of an end."""
        return sorted(run for run, ended in self.ended.items() if not ended)

    def add_record(self, row: Mapping[str, Any]) -> str:
        """The line of a record.  What is no JSON is exported as its text: manifest and verifier name it."""
        run, record = row["run_id"], _read_json(row["record"])
        made = {
            "format": FORMAT,
            "run_id": run,
            "seq": row["seq"],
            "tenant": row["tenant"],
            "run_status": row["run_status"],
            "created_at": format_time(row["created_at"]),
            "record": record,
        }
        if self.transcripts:
            made["transcript"] = _read_json(row["transcript"])
        if not all(isinstance(made.get(name, {}), dict) for name in READ):
            self.unreadable.setdefault(run, []).append(row["seq"])
        if is_erased(made["record"]) or is_erased(made.get("transcript")):
            self.erased.setdefault(run, []).append(row["seq"])
        self.records += 1
        self.heads[run], self.counts[run] = row["record_hash"], self.counts.get(run, 0) + 1
        told = record if isinstance(record, dict) else {}
        self.unsigned += told.get("signature") is None
        if "corrects" not in told:
            self.ended[run] = is_end(told.get("status"), row["run_status"])
        return self._write("record", made)

    def add(self, run: Mapping[str, Any], kind: str, data: Mapping[str, Any]) -> str:
        """A line that tells of a run; the first one is of the kind `run`.  run: with `run_id` and `tenant`."""
        if kind == "run":
            self._told, self._number = [], Counter()
        line = {
            "format": FORMAT,
            "run_id": run["run_id"],
            "tenant": run["tenant"],
            "n": 1 + self._number.total() - self._number["record"],
            "kind": kind,
            "data": data,
        }
        return self._write(kind, line)

    def end_run(self, run: Mapping[str, Any]) -> str:
        """The last line of a run: which lines have to stand before it."""
        told = self._told or []
        counts = {kind: self._number[kind] for kind in (*CONTENTS, "record") if kind != "end"}
        line = self.add(run, "end", {"counts": counts, "lines": [*told]})
        self.evidence[run["run_id"]] = {"lines": len(told), "end_sha256": told[-1]}
        self._told = None
        return line

    def end(self, made_at: str, signer: Signer | None) -> str:
        """The line of the manifest."""
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "made_at": made_at,
            "tenant": self.tenant,
            "run": self.run,
            "transcripts": self.transcripts,
            "records": self.records,
            "counts": self.counts,
            "heads": self.heads,
            "without_end": self.without_end,
            "evidence": self.evidence,
            "lines_sha256": f"sha256:{self._digest.hexdigest()}",
            "key": None if signer is None else {"kid": signer.kid, "alg": signer.alg},
        }
        if self.unreadable:
            manifest["unreadable"] = self.unreadable
        if self.erased:
            manifest[ERASED] = self.erased
        last: dict[str, Any] = {"manifest": manifest}
        if signer is not None:
            last["signature"] = signer.sign(SIGNED_AS + hash_of(manifest)).to_json()
        return _write_line(last)

    def _write(self, kind: str, value: Mapping[str, Any]) -> str:
        line = _write_line(value)
        self._digest.update(line.encode())
        if self._told is not None:
            self._told.append(hashlib.sha256(line[:-1].encode()).hexdigest())
            self._number[kind] += 1
        return line


def _write_line(value: Any) -> str:
    """JSON that neither a terminal nor the log of a build obeys: ASCII, without DEL and `##[…]`."""
    text = json.dumps(value).replace("\x7f", "\\u007f").replace("##", "#\\u0023")
    return text + "\n"


def _read_json(text: str) -> Any:
    """The value, or the text where it is no JSON that a line can hold: not a number, too deep."""
    try:
        value = json.loads(text)
        json.dumps([value], allow_nan=False)
    except (ValueError, RecursionError):
        return text
    return value


# ------------------------------------------------------------------ one run


def export_run(
    database: Database,
    run_id: str,
    tally: ExportTally,
    *,
    signer: Signer | None,
    policy: Mapping[str, JsonValue] | None,
    family: Sequence[str],
) -> Generator[str]:
    """The lines of one run, all of one moment, with the manifest at the end.

    run_id: of a run that is there.  policy: that the flow implies; None: the flow cannot be made here.
    family: of the run's parent and the runs that it began, those of which the reader may know.
    Until the last line is read, or the iterator is closed, it keeps a connection of the store.
    """
    with database.connection() as connection, connection.transaction():
        execute(connection, "begin_snapshot")
        began = one(connection, "tell_beginning")
        row = one(connection, "load_run", {"run_id": run_id, "tenant": None})
        assert began is not None  # one row always
        assert row is not None  # no run is deleted
        first = make_run_evidence(row, family, policy)
        yield from _list_lines(connection, row, first, tally)
    yield tally.end(format_time(began["now"]), signer)


def _list_lines(
    connection: Rows, row: Row, first: RunEvidenceJson, tally: ExportTally
) -> Iterator[str]:
    """The lines of a run; first: the data of the first one."""
    yield tally.add(row, "run", first)
    for kind, data in _list_evidence(connection, row):
        yield tally.add(row, kind, data)
    for record in every(connection, "list_chain", {"run_id": row["run_id"]}):
        yield tally.add_record(record)
    yield tally.end_run(row)


def _list_evidence(connection: Rows, row: Row) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Kind and data of each line between the first and the decision records."""
    of_run = {"run_id": row["run_id"]}
    stored = one(connection, "load_flow", {"digest": row["digest"]})
    assert stored is not None  # the run's row refers to this flow
    yield "flow", make_flow_evidence(row["digest"], stored)
    for gate in every(connection, "list_asked_gates", of_run):
        yield "gate", make_gate_evidence(gate)
    first = {"after_at": None, "after_gate": "", "after_sha256": "", "limit": None}
    for decision in every(connection, "list_decisions", {**of_run, **first}):
        yield "decision", make_decision_evidence(decision)
    for effect in every(connection, "list_hashed_effects", of_run):
        yield "effect", make_effect_evidence(effect)
    for word in every(connection, "list_settlements", of_run):
        yield "settlement", make_settlement_evidence(word)
    after = 0
    while events := every(connection, "list_events", {**of_run, "after": after, "limit": PAGE}):
        for event in events:
            yield "event", make_event_evidence(event)
        after = events[-1]["seq"]


def describe_person(row: Mapping[str, Any], column: str) -> EvidencePersonJson:
    """Who did something, as far as a row tells.  Whatever else the store knows of a person, this reads.

    column: the one with the name, such as `decided_by`.
    """
    prefix = {"started_by": "started", "stopped_by": "stopped"}.get(column, "by")
    kept = PersonRecord.read(row, prefix, column)
    return {
        "name": row[column] or "",
        "sub": kept.sub,
        "issuer": kept.issuer,
        "kind": kept.kind,
        "proof": kept.proof,
        "channel": kept.channel,
    }


def make_run_evidence(
    row: Row, family: Sequence[str], policy: Mapping[str, JsonValue] | None
) -> RunEvidenceJson:
    """family: as `export_run` takes it."""
    parent = row["parent_run_id"]
    knows_parent = parent in family
    stop: EvidenceStopJson | None = None
    if row["status"] == "stopped":
        stop = {"by": describe_person(row, "stopped_by"), "reason": row["stop_reason"] or ""}
    return {
        "status": row["status"],
        "flow": row["digest"],
        "flow_name": row["flow_name"],
        "file": row["flow_file"] or "",
        "governed": row["governed"],
        "started_by": describe_person(row, "started_by"),
        "owner": row["owner"],
        "session": row["session_id"],
        "parent": parent if knows_parent else None,
        "parent_path": row["parent_path"] if knows_parent else "",
        "children": [name for name in family if name != parent],
        "variables": [*row["env_names"]],
        "inputs": hold(row["input"]),
        "outputs": hold(row["outputs"]),
        "branch": row["branch"],
        "messages": hold(row["messages"]),
        "error": _hold_error(row["error"]),
        "policy": _describe_policy(row, policy),
        "stopped": stop,
        "attempts": row["attempts"],
        "deadline": _format_moment(row["deadline"]),
        "created_at": _format_exactly(row["created_at"]),
        "updated_at": _format_exactly(row["updated_at"]),
        "archived_at": _format_moment(row["archived_at"]),
        "gone": _list_gone(row["archived_at"]),
    }


def _describe_policy(row: Row, policy: Mapping[str, JsonValue] | None) -> EvidencePolicyJson | None:
    given = row["policy"]
    if given is not None:
        value = given["policy"]
        return {"of": "host", "value": hold(value), "sha256": policy_hash(value)}
    if policy is None:
        return None
    return {"of": "flow", "value": hold(dict(policy)), "sha256": policy_hash(policy)}


def _list_gone(archived_at: datetime | None) -> list[str]:
    if archived_at is None:
        return []
    at = _format_exactly(archived_at)
    return [f"archived at {at}: checkpoints and results of calls are gone; hashes of results stay"]


def make_flow_evidence(digest: str, stored: Row) -> FlowEvidenceJson:
    source = bytes(stored["source"])
    try:
        text: str | None = source.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    return {
        "digest": digest,
        "name": stored["name"],
        "file": stored["file"],
        "source": text,
        "source_base64": None if text is not None else base64.b64encode(source).decode(),
    }


def make_gate_evidence(row: Row) -> GateEvidenceJson:
    return {
        "gate": row["gate_id"],
        "node": row["node"],
        "visit": row["visit"],
        "step": row["step"],
        "state": row["state"],
        "payload": hold(row["payload"]),
        "payload_sha256": row["payload_sha256"],
        "answer_schema": hold(row["response_schema"]),
        "opened_at": _format_exactly(row["opened_at"]),
        "deadline": _format_moment(row["deadline"]),
        "settled_at": _format_moment(row["settled_at"]),
    }


def make_decision_evidence(row: Row) -> DecisionEvidenceJson:
    return {
        "gate": row["gate_id"],
        "node": row["node"],
        "visit": row["visit"],
        "step": row["step"],
        "decision": row["kind"],
        "by": describe_person(row, "decided_by"),
        "reason": row["reason"],
        "answer": hold(row["answer"]),
        "payload_sha256": row["payload_sha256"],
        "policy_sha256": row["policy_sha256"],
        "at": _format_exactly(row["decided_at"]),
    }


def make_effect_evidence(row: Row) -> EffectEvidenceJson:
    return {
        "key": row["key"],
        "kind": row["kind"],
        "capability": row["capability"],
        "path": row["path"],
        "visit": row["visit"],
        "item": row["item"],
        "risk": row["risk"],
        "status": row["status"],
        "attempts": row["attempts"],
        "request_sha256": row["request_sha256"],
        "shown_sha256": row["shown_sha256"],
        "result_sha256": row["result_sha256"],
        "usage": hold(row["usage"]),
        "error": _hold_error(row["error"]),
        "begun_at": _format_exactly(row["begun_at"]),
        "ended_at": _format_moment(row["ended_at"]),
    }


def make_settlement_evidence(row: Row) -> SettlementEvidenceJson:
    return {
        "key": row["key"],
        "attempts": row["attempts"],
        "happened": row["happened"],
        "by": describe_person(row, "settled_by"),
        "reason": row["reason"],
        "value": hold(row["result"]),
        "at": _format_exactly(row["settled_at"]),
    }


def make_event_evidence(row: Row) -> EventEvidenceJson:
    return {
        "seq": row["seq"],
        "at": _format_exactly(row["at"]),
        "kind": row["kind"],
        "name": row["name"],
        "path": row["path"],
        "visit": row["visit"],
        "data": hold(row["data"]),
    }


def _hold_error(error: JsonValue) -> JsonValue:
    if isinstance(error, dict):
        error = {name: value for name, value in error.items() if name in _TOLD}
    return hold(error)


def _format_moment(moment: datetime | None) -> str | None:
    return None if moment is None else _format_exactly(moment)


def _format_exactly(moment: datetime) -> str:
    """UTC, to a microsecond, as the database has it."""
    told = moment.astimezone(UTC).isoformat(timespec="microseconds")
    return told.replace("+00:00", "Z")


def hold(value: JsonValue) -> JsonValue:
    """The value; as its text where a reader of JSON may read it otherwise, or refuse it."""
    if not (isinstance(value, dict) and set(value) == {HELD}) and _is_exact(value):
        return value
    return {HELD: json.dumps(value)}


def _is_exact(value: JsonValue) -> bool:
    """Whether each number and text in it is the same to every reader, and it is not too deep for one."""
    left = [(value, 0)]
    while left:
        one_, depth = left.pop()
        if depth > _DEEPEST:
            return False
        if isinstance(one_, (dict, list)):
            inside = [*one_, *one_.values()] if isinstance(one_, dict) else one_
            left += ((part, depth + 1) for part in inside)
        elif not _is_exact_leaf(one_):
            return False
    return True


_DEEPEST: Final = 200


def _is_exact_leaf(value: JsonValue) -> bool:
    if isinstance(value, str):
        return not any("\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or abs(value) < _EXACT
