"""Decision records in the database, for whoever audits runs.

records = DecisionRecords(store.database)
records.page(status="ESCALATED")            the newest first
records.get("dr_3f2a…_3").record            as it was hashed
for line in records.export(run_id="3f2a…"): file.write(line)
records.correct("dr_3f2a…_3", by="ann", reason="the amount was …", outputs={…})
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import UTC, datetime
from typing import Any, Final, Self, get_args

from pydantic import JsonValue

from cinatra_sdk.errors import AnswerInvalid, RunNotFound
from cinatra_sdk.gates.answers import check_answer_value
from cinatra_sdk.governance.contracts.decision_record import DecisionRecord, RecordStatus
from cinatra_sdk.governance.contracts.record_format import thaw
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.packs.plan_outputs import find_unnamed_output
from cinatra_sdk.governance.records.record_maker import (
    Signer,
    format_time,
    require_outcome,
    seal_record,
)
from cinatra_sdk.governance.records.story import NAMED, join_calls, list_ledger_calls, read_story
from cinatra_sdk.governance.records.verifier import ENDS, is_end
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row, Rows, every, one
from cinatra_sdk.postgres.connection import run as execute
from cinatra_sdk.store.arguments import (
    check_arguments,
    check_names,
    check_reason,
    check_word,
    read_actor,
)
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.evidence.run_export import ExportTally
from cinatra_sdk.store.pages import (
    PAGE,
    Page,
    read_cursor,
    read_number,
    read_page,
    read_rows,
    write_cursor,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord:
    """A record with its place in the chain of its run."""

    run_id: str
    seq: int
    tenant: str
    flow: str
    run_status: str
    """Of the run, as the record's transaction left it."""
    record: DecisionRecord
    created_at: datetime
    transcript: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What it was made from; empty in lists."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        return cls(
            run_id=row["run_id"],
            seq=row["seq"],
            tenant=row["tenant"],
            flow=row["flow_name"],
            run_status=row["run_status"],
            record=DecisionRecord.read_json_text(row["record"], code="RECORD_INVALID"),
            created_at=row["created_at"],
            transcript=_read_transcript(row) if "transcript" in row else {},
        )


@check_arguments
class DecisionRecords:
    """Reads the records, and corrects them by further ones; safe to share between threads."""

    def __init__(self, database: Database, *, signer: Signer | None = None) -> None:
        self._database = database
        self._signer = signer

    def page(
        self,
        *,
        run_id: str | None = None,
        status: RecordStatus | None = None,
        tenant: str | None = None,
        limit: int = PAGE,
        after: str = "",
    ) -> Page[StoredRecord]:
        """The newest first, a page of at most `limit`.

        A row that is no record is no item, and is named in `unreadable`.

        Raises: `InputInvalid` for another list's cursor, and for a status that no record has.
        """
        check_word("status", status, get_args(RecordStatus))
        at, (run, seq) = read_cursor(after, names=2)
        given = {
            "run_id": run_id, "status": status, "tenant": tenant, "limit": limit,
            "after_at": at, "after_run": run, "after_seq": read_number(after, seq),
        }  # fmt: skip
        with self._database.connection() as connection:
            rows, following = read_page(
                lambda most: every(connection, "list_records", {**given, "limit": most}),
                limit,
                lambda row: write_cursor(row["created_at"], row["run_id"], str(row["seq"])),
            )
        items, unreadable = read_rows(
            rows, StoredRecord.of, lambda row: f"record {row['record_id']}"
        )
        return Page(items=items, unreadable=unreadable, next=following)

    def get(self, record_id: str, *, tenant: str | None = None) -> StoredRecord:
        """With its transcript.  Raises: `RunNotFound` where there is no such record."""
        return StoredRecord.of(self._load(record_id, tenant))

    def _load(self, record_id: str, tenant: str | None) -> Row:
        check_names(record_id=record_id, tenant=tenant)
        with self._database.connection() as connection:
            row = one(connection, "load_record", {"record_id": record_id, "tenant": tenant})
        if row is None:
            raise RunNotFound(
                f"there is no decision record '{record_id}'", hint="see oasflow records"
            )
        return row

    def export(
        self, *, run_id: str | None = None, tenant: str | None = None, transcripts: bool = False
    ) -> Iterator[str]:
        """Whole chains as JSON Lines, with a manifest at the end; `governance/records/verifier.py` verifies them.

        The manifest tells what has to be there, and is signed where there is a signer.  All lines are
        of one moment, `made_at`, however long it takes to read them: until the last one is read, or the
        iterator is closed, they keep a connection of the store.
        transcripts: with what each record was made from.
        """
        tally = ExportTally(tenant=tenant, run=run_id, transcripts=transcripts)
        with self._database.connection() as connection, connection.transaction():
            execute(connection, "begin_snapshot")
            began = one(connection, "tell_beginning")
            assert began is not None  # one row always
            for run in [run_id] if run_id is not None else _list_runs(connection, tenant):
                for row in _list_chain(connection, run, tenant):
                    yield tally.add_record(row)
        yield tally.end(format_time(began["now"]), self._signer)

    def correct(
        self,
        record_id: str,
        *,
        by: str,
        reason: str,
        outcome: str | None = None,
        outputs: Mapping[str, JsonValue] | None = None,
        status: RecordStatus | None = None,
        tenant: str | None = None,
    ) -> StoredRecord:
        """A further record that says what the one before should have said; that one stays.

        The further record marks what is the corrector's word.  Outcome, outputs and status are corrected
        in the record of a run's end only; an outcome is one that the decision allows, and that the
        calls of the run carry.

        Raises: `RunNotFound`; `AnswerInvalid` without a name and a reason; `GovernanceRefused` for what
        is no record, or what the run does not carry.
        """
        who, why = read_actor(by), check_reason(reason)
        if not who.strip() or not why.strip():
            raise AnswerInvalid(
                "a correction says who makes it, and why", in_python="give by=…, reason=…"
            )
        _check_corrected([outcome, status, thaw(outputs)])
        wrong = self._load(record_id, tenant)
        with self._database.connection() as connection, connection.transaction():
            one(connection, "lock_run_row", {"run_id": wrong["run_id"]})
            last = one(connection, "load_last_record", {"run_id": wrong["run_id"]})
            assert last is not None  # there is one to correct
            given = {"outcome": outcome, "outputs": outputs, "status": status}
            changed = {name: thaw(one) for name, one in given.items() if one is not None}
            body = _make_correction(wrong, last, who, why) | changed
            if status is not None and status not in _WITH_OUTCOME and outcome is None:
                body.pop("outcome", None)
            reasons = body["rationale"].setdefault("reasons", [])
            reasons.append(mark_correction(who, changed or ["reason"]))
            corrected = DecisionRecord.read(body, code="RECORD_INVALID")
            if changed:
                _require_carried(connection, wrong, corrected)
            made = seal_record(corrected, self._signer)
            kept = {
                "run_id": wrong["run_id"], "seq": made.sequence, "tenant": wrong["tenant"],
                "record_id": made.record_id, "status": made.status,
                "run_status": last["run_status"], "record": json.dumps(made.to_json()),
                "record_hash": made.record_hash, "previous_hash": made.previous_record_hash,
                "transcript": wrong["transcript"],
            }  # fmt: skip
            execute(connection, "insert_record", kept)
        return self.get(made.record_id, tenant=tenant)


def _list_runs(connection: Rows, tenant: str | None) -> Iterator[str]:
    """A page at a time."""
    after = ""
    while True:
        asked = {"tenant": tenant, "after": after, "limit": PAGE}
        rows = every(connection, "list_recorded_runs", asked)
        if not rows:
            return
        yield from (row["run_id"] for row in rows)
        after = rows[-1]["run_id"]


def _list_chain(connection: Rows, run_id: str, tenant: str | None) -> list[Row]:
    rows = every(connection, "list_chain", {"run_id": run_id})
    return [row for row in rows if tenant is None or row["tenant"] == tenant]


def _read_transcript(row: Mapping[str, Any]) -> dict[str, Any]:
    """Raises: `GovernanceRefused`."""
    try:
        found = json.loads(row["transcript"])
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        why = f"the transcript of record '{row['record_id']}' is no JSON object"
        raise GovernanceRefused("RECORD_INVALID", why)
    return found


def _check_corrected(values: list[Any]) -> None:
    """Raises: `GovernanceRefused` for what no record holds: NaN, NUL, a text without end."""
    problem = ""
    try:
        check_answer_value(values)
    except AnswerInvalid as refused:
        problem = refused.message
    if problem:
        raise GovernanceRefused("RECORD_INVALID", problem.replace("the answer", "the correction"))


_WITH_OUTCOME: Final = ("DECIDED", "CLOSED")


def mark_correction(who: str, members: Iterable[str]) -> str:
    """What a correction says of itself among its reasons, as a planner's word is marked."""
    return f"corrected by {who}: {', '.join(members)}; not derived from results"


def _require_carried(connection: Rows, wrong: Row, corrected: DecisionRecord) -> None:
    """Hold a person's word on a decision to what the catalog and the calls of the run allow.

    Raises: `GovernanceRefused`.
    """
    if not is_end(wrong["status"], wrong["run_status"]):
        raise _refuse(
            f"record '{wrong['record_id']}' is none of a run's end: its status, outcome and outputs "
            "stand when the run has ended (correct the record of its end)"
        )
    if corrected.status not in ENDS:
        raise _refuse(f"the run has ended, and '{corrected.status}' says that it goes on")
    if corrected.outcome is not None and corrected.status not in _WITH_OUTCOME:
        raise _refuse(f"what is {corrected.status} has no outcome (correct its status, too)")
    try:
        transcript = _read_whole(connection, wrong["run_id"])
        story = read_story(transcript)
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError):
        raise _refuse(f"nothing tells what run '{wrong['run_id']}' carried out") from None
    require_outcome(corrected, story)
    if transcript.get("version", 1) >= NAMED:
        stray = find_unnamed_output(corrected.outputs, story.decision)
        if stray:
            raise _refuse(f"the decision has no output '{stray[:200]}'")


def _read_whole(connection: Rows, run_id: str) -> dict[str, Any]:
    """The transcript of a run's end with every call that the ledger knows by now."""
    chain = every(connection, "list_chain", {"run_id": run_id})
    own = [row for row in chain if "corrects" not in json.loads(row["record"])]
    transcript = _read_transcript(own[-1])
    ledger = list_ledger_calls(every(connection, "list_governed_effects", {"run_id": run_id}))
    trusts = transcript["kind"] == "flow"
    return {**transcript, "calls": join_calls(transcript["calls"], ledger, trusts_ledger=trusts)}


def _refuse(why: str) -> GovernanceRefused:
    return GovernanceRefused("RECORD_INVALID", f"the correction does not hold: {why}")


def _make_correction(wrong: Row, last: Row, who: str, why: str) -> dict[str, Any]:
    """The record that is wrong, as the next of its chain."""
    body = DecisionRecord.read_json_text(wrong["record"], code="RECORD_INVALID").to_json()
    for member in ("record_hash", "signature", "corrects"):
        body.pop(member, None)
    following = last["seq"] + 1
    return body | {
        "record_id": f"dr_{wrong['run_id']}_{following}",
        "timestamp": format_time(datetime.now(UTC)),
        "actor": {"type": "USER", "id": "_".join(who.split())},
        "reason": why,
        "corrects": wrong["record_id"],
        "sequence": following,
        "previous_record_hash": last["record_hash"],
    }
