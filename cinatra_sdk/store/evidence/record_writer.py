"""Decision records of governed runs: written in the transaction that changes the state of the run.

    begin_record(flow, params, run)      a run is stored: its first record
    end_record(connection, …)            an activation ends: waiting, completed, rejected, failed
    follow_record(connection, …)         somebody ends the run without its flow: stopped, rejected, failed

The database refuses a change of a governed run without its record (`016_governance.sql`), so that no way
to end a run can forget the record.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from psycopg.types.json import Json

from cinatra_sdk.contract import ENDED
from cinatra_sdk.errors import FlowError, NotConfigured
from cinatra_sdk.postgres.connection import Row, Rows, every, one
from cinatra_sdk.postgres.connection import run as execute

if TYPE_CHECKING:
    from cinatra_sdk.governance.contracts.decision_record import DecisionRecord
    from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
    from cinatra_sdk.governance.flow_rules import RunRecorder
    from cinatra_sdk.governance.records.record_maker import Signer
    from cinatra_sdk.host_parts.host_parts import FlowGovernance
    from cinatra_sdk.store.flows.flow_protocol import DurableFlow


log = logging.getLogger("oasflow.store")
_STATUSES: Final = {
    "completed": "DECIDED",
    "rejected": "REJECTED",
    "stopped": "CLOSED",
    "waiting": "IN_FLIGHT",
    "failed": "ESCALATED",
}
"""Status of a record, by that of its run; where nothing more is known."""
_UNREADABLE: Final = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What reading raises of rows that somebody else wrote; `GovernanceRefused` is a `ValueError`."""


def find_recorder(flow: Any) -> RunRecorder | None:
    """None for a flow that no pack governs."""
    recorder: RunRecorder | None = getattr(flow, "recorder", None)
    return recorder


def find_signer(flow: Any) -> Signer | None:
    recorder = find_recorder(flow)
    return None if recorder is None else recorder.governance.ports.signer


@contextmanager
def work_time(flow: Any, row: Row) -> Iterator[None]:
    """Around the work of an activation, whose time counts for the budget of a governed run."""
    recorder = find_recorder(flow) if row["governed"] else None
    if recorder is None:
        yield
        return
    with recorder.working(describe_run(row)):
        yield


def describe_run(row: Mapping[str, Any]) -> dict[str, Any]:
    """The identity of a run, as recorders read it."""
    return {name: row.get(name) or "" for name in ("run_id", "tenant", "started_by")}


def govern_flow(flow: DurableFlow, governance: FlowGovernance | None) -> DurableFlow:
    """The flow of a new run, under the packs that this process has for every flow, if any.

    A flow with packs of its own stays under these.
    """
    own = flow.host.governance
    if governance is None or not governance.governs_flows or (own and own.governs_flows):
        return flow
    ruled: DurableFlow = flow.ruled(governance) if hasattr(flow, "ruled") else flow
    return ruled


def require_governed(
    row: Row, flow: DurableFlow, governance: FlowGovernance | None = None
) -> DurableFlow:
    """The flow of a run, under rules where the run is.  governance: of this process.

    Raises: `NotConfigured` where neither flow nor process lends packs for a governed run.
    """
    if not row["governed"]:
        return flow
    ruled: DurableFlow = flow.ruled(governance) if hasattr(flow, "ruled") else flow
    if find_recorder(ruled) is None:
        raise NotConfigured(
            f"run '{row['run_id']}' is governed, and this process lends no packs",
            hint="HostParts(governance=…), or --host MODULE:FACTORY",
        )
    return ruled


def begin_record(flow: Any, params: Mapping[str, Any], run: Mapping[str, Any]) -> Row | None:
    """The row of the first record of a run; None where no pack governs it.

    Raises: `GovernanceRefused`, before anything is stored.
    """
    recorder = find_recorder(flow)
    if recorder is None:
        return None
    transcript = recorder.begin(params, describe_run(run))
    return _make_row(run, transcript, None, "running", recorder.governance.ports.signer)


def restore_records(connection: Rows, flow: Any, row: Row) -> None:
    """Tell the rules what the run has come to so far, before it is worked on."""
    recorder = find_recorder(flow)
    if recorder is None or not row["governed"]:
        return
    from cinatra_sdk.governance.records.story import list_ledger_calls
    from cinatra_sdk.governance.run.evidence import Evidence

    run_id = row["run_id"]
    last = one(connection, "load_last_record", {"run_id": run_id})
    assert last is not None  # a governed run is stored with its first record
    transcript = read_transcript(run_id, last)
    try:
        rows = every(connection, "list_governed_effects", {"run_id": run_id})
        recorded, made = [], []
        for effect, told in zip(rows, list_ledger_calls(rows), strict=True):
            if _was_made(effect):
                made.append(told["call"]["capability_id"])
            cited = (told["result"] or {}).get("citations")
            if cited:
                recorded.append(Evidence(cited[0]["evidence_ref"], _hash_result(effect)))
        transcript["used"] = count_used(transcript["used"], rows)
        recorder.restore(describe_run(row), transcript, recorded, made)
    except FlowError:
        raise
    except _UNREADABLE as problem:
        raise _build_unreadable_error(run_id, last) from problem


def read_transcript(run_id: str, kept: Row) -> dict[str, Any]:
    """What a record was made from, and the next one is.

    kept: a row with `seq` and `transcript`.
    Raises: `GovernanceRefused` (RECORD_INVALID) where it is none that a record can be made from.
    """
    from cinatra_sdk.governance.records.story import read_story

    try:
        transcript: dict[str, Any] = json.loads(kept["transcript"])
        read_story(transcript)
    except _UNREADABLE as problem:
        raise _build_unreadable_error(run_id, kept) from problem
    return transcript


def _build_unreadable_error(run_id: str, kept: Row) -> GovernanceRefused:
    from cinatra_sdk.governance.contracts.refusals import GovernanceRefused

    return GovernanceRefused(
        "RECORD_INVALID",
        f"run '{run_id}' cannot go on: what its record '{_name_record(run_id, kept)}' was made from, "
        "or a call in its ledger, cannot be read",
        hint=f"stop the run, which needs none of it: oasflow stop {shlex.quote(run_id)}",
    )


def _name_record(run_id: str, kept: Row) -> str:
    """As the database names it, whatever the record itself says."""
    return f"dr_{run_id}_{kept['seq']}"


def _hash_result(effect: Row) -> str:
    from cinatra_sdk.outside.effects.effect import hash_json

    return f"sha256:{hash_json((effect['result'] or {}).get('value'))}"


def _was_made(effect: Row) -> bool:
    return effect["status"] in ("done", "unknown")


def _was_tried(effect: Row) -> bool:
    """Whether a call counts for the budget: also one that failed, unless nobody was called."""
    if effect["status"] != "failed":
        return _was_made(effect)
    return (effect["error"] or {}).get("reached", True) is not False


def count_used(used: Mapping[str, Any], rows: list[Row]) -> dict[str, Any]:
    """What a run has used up, with what the ledger alone knows: a process that died told nobody."""
    from cinatra_sdk.outside.effects.effect import read_usage

    usages = [read_usage(one_row["usage"]) for one_row in rows if _was_tried(one_row)]
    tokens = sum(one.input_tokens + one.output_tokens for one in usages)
    return {
        **used,
        "tool_calls": max(used["tool_calls"], len(usages)),
        "tokens": max(used["tokens"], tokens),
    }


def end_record(
    connection: Rows,
    flow: Any,
    row: Row,
    values: Mapping[str, Any],
    ending: Mapping[str, Any],
) -> dict[str, Any]:
    """Write the record of an activation that ends; in its transaction, before the run's row changes.

    values: the state of the run's graph.  ending: the columns of the run's row (`ending_of`).
    Out: the columns that say something else now, since only the database knows a record's place.
    """
    recorder = find_recorder(flow)
    if recorder is None or not row["governed"]:
        return {}
    from cinatra_sdk.governance.flow_rules import Told
    from cinatra_sdk.governance.loop.conclusion import DECISION_RECORD

    run_id = row["run_id"]
    one(connection, "lock_run_row", {"run_id": run_id})
    last = one(connection, "load_last_record", {"run_id": run_id})
    standing = one(connection, "load_standing", {"run_id": run_id})
    if last is None or standing is None or standing["status"] in ENDED:
        return {}  # somebody ended it meanwhile, with its record
    status = str(ending["status"])
    if status == "completed" and standing["rejected_at_gate"]:
        status = "rejected"
    outputs = ending["outputs"].obj if ending["outputs"] is not None else None
    told = Told(
        run=describe_run(row), last=read_transcript(run_id, last), values=values, status=status,
        outputs=outputs, branch=ending["branch"],
    )  # fmt: skip
    transcript = recorder.tell(told)
    error = ending["error"].obj if ending["error"] is not None else {}
    transcript = _complete(
        connection, run_id, transcript, status, error, retry_in=ending.get("retry_in")
    )
    kept = _make_row(row, transcript, last, status, recorder.governance.ports.signer)
    execute(connection, "insert_record", kept)
    for proposal in _list_proposals(values):
        about = {"run_id": run_id, "tenant": row["tenant"], "proposal": json.dumps(proposal)}
        said = {**about, "proposal_id": proposal["proposal_id"]}
        execute(connection, "insert_memory_proposal", said)
    if outputs is None or DECISION_RECORD not in outputs:
        return {}
    return {"outputs": Json({**outputs, DECISION_RECORD: json.loads(kept["record"])})}


def follow_record(
    connection: Rows,
    row: Row,
    status: str,
    *,
    reason: str,
    signer: Signer | None = None,
) -> None:
    """Write the record of a run that somebody ends without its flow, in the same transaction.

    Nothing that was recorded before prevents an end: where it cannot be read, the record says so.  A
    signer that fails prevents none either: the record is then not signed, and the log says so.
    """
    if not row["governed"]:
        return
    run_id = row["run_id"]
    last = one(connection, "load_last_record", {"run_id": run_id})
    assert last is not None  # see `restore_records`

    def follow(transcript: dict[str, Any]) -> Row:
        error = {"code": "", "message": reason}
        told = _complete(connection, run_id, transcript, status, error)
        return _sign_where_possible(partial(_make_row, row, told, last, status), signer, run_id)

    try:
        kept = follow(read_transcript(run_id, last))
    except _UNREADABLE:
        name = _name_record(run_id, last)
        log.warning("what record '%s' was made from, or a call of its run, cannot be read", name)
        why = f"what the record before, {name}, was made from cannot be read: {reason}"
        chain = every(connection, "list_chain", {"run_id": run_id})
        kept = _follow_readable(chain, follow, why) or _sign_where_possible(
            partial(_make_bare_row, row, last, status, why), signer, run_id
        )
    execute(connection, "insert_record", kept)


def _sign_where_possible(
    make: Callable[[Signer | None], Row], signer: Signer | None, run_id: str
) -> Row:
    try:
        return make(signer)
    except Exception as error:  # what a host's key service raises, in whatever form
        if signer is None:
            raise
        why = error.message if isinstance(error, FlowError) else type(error).__name__
        kept = make(None)
        log.warning("the end of run '%s' is not signed: %s", run_id, why)
        return kept


def _follow_readable(
    chain: list[Row], follow: Callable[[dict[str, Any]], Row], why: str
) -> Row | None:
    """The record of an end as the newest record has it that can be read; None where none can."""
    for kept in reversed(chain):
        try:
            known = read_transcript(kept["run_id"], kept)
            return follow({**known, "status": "IN_FLIGHT", "outcome": None, "reason": why})
        except _UNREADABLE:
            continue
    return None


def _make_bare_row(row: Row, last: Row, status: str, why: str, signer: Signer | None) -> Row:
    """A record of an end that says nothing but this, of a run of which nothing else can be read."""
    from cinatra_sdk.governance.contracts.decision_record import DecisionRecord
    from cinatra_sdk.governance.records.record_maker import CONTROLS, format_time, seal_record

    nobody = "unreadable"
    following = {"seq": last["seq"] + 1}
    body = {
        "record_id": _name_record(row["run_id"], following),
        "decision_key": "run", "decision_version": "0.0.0",
        "timestamp": format_time(datetime.now(UTC)),
        "status": _STATUSES[status], "reason": why,
        "actor": {"type": "AGENT", "id": nobody},
        "agent_identity": {
            "subject": nobody, "claim_hash": "sha256:" + "0" * 64, "principal_chain": [],
        },
        "intent_ref": "", "subject_ids": [], "inputs_refs": {}, "outputs": {}, "evidence_refs": [],
        "policy_decisions": [], "approvals": [], "confidence": 0.0,
        "controls_active": {name: [] for name in CONTROLS},
        "rationale": {"strategy": nobody, "alternatives_considered": []},
        "budget_usage": {"tokens": 0, "tool_calls": 0, "cost_usd_cents": 0, "wall_clock_ms": 0},
        "lineage": {"pack_version": f"{nobody}@0.0.0", "snapshot_version": ""},
        "trace_id": hashlib.sha256(row["run_id"].encode()).hexdigest()[:32],
        "sequence": following["seq"], "previous_record_hash": last["record_hash"],
    }  # fmt: skip
    record = seal_record(DecisionRecord.read(body, code="RECORD_INVALID"), signer)
    return _list_columns(row, record, {}, status)


def _complete(
    connection: Rows,
    run_id: str,
    transcript: dict[str, Any],
    status: str,
    error: Mapping[str, Any],
    *,
    retry_in: float | None = None,
) -> dict[str, Any]:
    """The transcript with what only the database knows: calls of the ledger, words of people, the end."""
    from cinatra_sdk.governance.records.story import block_waiting, join_calls, list_ledger_calls

    rows = every(connection, "list_governed_effects", {"run_id": run_id})
    calls = join_calls(
        transcript["calls"],
        list_ledger_calls(rows),
        trusts_ledger=transcript["kind"] == "flow",
    )
    named = _name_status(transcript["status"], status, is_error=bool(error), retry_in=retry_in)
    told = f"{error.get('code', '')}: {error.get('message', '')}".strip(": ") if error else ""
    if status == "rejected":
        calls = block_waiting(calls, told or "rejected")
    return {
        **transcript,
        "calls": calls,
        "approvals": list_approvals(connection, run_id) or transcript["approvals"],
        "status": named,
        "reason": transcript["reason"] or told,
        "outcome": transcript["outcome"] if named in ("DECIDED", "CLOSED") else None,
        "used": count_used(transcript["used"], rows),
    }


def _name_status(known: str, status: str, *, is_error: bool, retry_in: float | None) -> str:
    """The status of a record; known: what the run itself says."""
    if status == "completed" and known == "DECIDED":
        return known
    if (status == "waiting" and is_error) or (status == "failed" and retry_in is not None):
        return "DEFERRED"
    return _STATUSES.get(status, "IN_FLIGHT")


def list_approvals(connection: Rows, run_id: str) -> list[dict[str, Any]]:
    """What people said at the gates of packs, as records tell it."""
    from cinatra_sdk.governance.records.record_maker import format_time

    shown = {
        one_row["gate_id"]: one_row["payload"].get("values") or {}
        for one_row in every(connection, "list_shown", {"run_id": run_id})
    }
    found = []
    for said in every(connection, "list_run_decisions", {"run_id": run_id}):
        values = shown.get(said["gate_id"], {})
        if "evidence_snapshot_hash" not in values:
            continue  # a gate of the flow's author
        body = {
            "gate_id": values["approval_gate"],
            "approver": said["decided_by"],
            "approval_mode_effective": values["approval_mode"],
            "evidence_snapshot_hash": values["evidence_snapshot_hash"],
            "decided_at": format_time(said["decided_at"]),
        }
        found.append(body if said["kind"] == "approved" else {**body, "decision": said["kind"]})
    return found


def _make_row(
    run: Mapping[str, Any],
    transcript: dict[str, Any],
    last: Row | None,
    run_status: str,
    signer: Signer | None,
) -> Row:
    record, kept = _make_record(transcript, last, signer)
    return _list_columns(run, record, kept, run_status)


def _list_columns(
    run: Mapping[str, Any], record: DecisionRecord, transcript: dict[str, Any], run_status: str
) -> Row:
    text = json.dumps(record.to_json(), ensure_ascii=False)
    return {
        "run_id": run["run_id"],
        "tenant": run["tenant"],
        "seq": record.sequence,
        "record_id": record.record_id,
        "status": record.status,
        "run_status": run_status,
        "record": text,
        "record_hash": record.record_hash,
        "previous_hash": record.previous_record_hash,
        "transcript": json.dumps(transcript, ensure_ascii=False),
    }


def _make_record(
    transcript: dict[str, Any], last: Row | None, signer: Signer | None
) -> tuple[DecisionRecord, dict[str, Any]]:
    """The record, and the transcript that it was made from.

    A story that cannot be a record as it is (an outcome that its decision does not allow) is recorded
    as escalated, with the reason: an end without a record would be worse.
    """
    from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
    from cinatra_sdk.governance.records.record_maker import RecordLink, make_record
    from cinatra_sdk.governance.records.story import read_story

    link = RecordLink(
        sequence=1 if last is None else last["seq"] + 1,
        previous_hash=None if last is None else last["record_hash"],
    )
    at = datetime.now(UTC)
    try:
        made = make_record(
            read_story(transcript), link, at=at, signer=signer, transcript=transcript
        )
    except GovernanceRefused as problem:
        log.warning("%s", problem)
        told = {**transcript, "status": "ESCALATED", "outcome": None, "outputs": {}}
        told["reason"] = f"{problem.code}: {problem.message}"
        return make_record(read_story(told), link, at=at, signer=signer, transcript=told), told
    return made, transcript


def _list_proposals(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    loop = values.get("loop")
    found: list[dict[str, Any]] = []
    if isinstance(loop, Mapping) and loop.get("next") == "end":
        found = list(loop.get("proposals") or [])
    return found
