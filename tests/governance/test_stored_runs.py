"""Governed runs in the database: a record for every end, in a chain, that tells the truth."""

from __future__ import annotations

import json
import random
import signal
import threading
from collections.abc import Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cinatra_sdk import Decision, HostParts, RunStore, SimulatedPlatform
from cinatra_sdk.errors import AnswerInvalid, FlowChanged, NotConfigured, RunNotFound
from cinatra_sdk.governance.contracts.context_pack import ContextPack
from cinatra_sdk.governance.contracts.record_format import hash_of
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.admission import HostWord
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.packs.pack_registry import FolderRegistry
from cinatra_sdk.governance.records.record_maker import Signer, format_time, seal_record
from cinatra_sdk.governance.records.replay import make_replay_packet, replay
from cinatra_sdk.governance.records.verifier import describe, find_problems, verify
from cinatra_sdk.store.evidence.decision_records import DecisionRecords, StoredRecord
from cinatra_sdk.store.evidence.governance_sources import StoredPacks
from cinatra_sdk.store.evidence.memory_proposals import MemoryProposals
from oas_compiler import compile_flow
from tests.effort import tries
from tests.flows import api, end, flow_of, gate, port, start
from tests.governance.packs import make_registry, put, read_catalog, read_example, read_pack
from tests.governance.refund import FINANCE, TENANT, count_refunds, lend_refund, request
from tests.governance.refund_killed import go_to_the_end, refund_until_killed
from tests.governance.signed_records import verify_hmac
from tests.governance.small_pack import make_small_pack
from tests.warm import FORKED

SAMPLE = json.loads(
    (Path(__file__).parent / "samples" / "decision_record.json").read_text(encoding="utf-8")
)
SEND_FLOW = flow_of(
    start(port("to")), api("send", outputs=[port("id")], data={"to": "{{to}}"}, inputs=[port("to")]),
    end(port("id")), edges=[("start", "to", "send", "to"), ("send", "id", "end", "id")],
)  # fmt: skip


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "refunds"


@pytest.fixture
def parts(ledger: Path) -> HostParts:
    return lend_refund(ledger)


@pytest.fixture
def store(fresh_database: str, parts: HostParts) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, host=parts) as opened:
        yield opened


def begin(store: RunStore, parts: HostParts, **about: Any) -> Any:
    return store.start(parts.graphs[0], {"request": request()}, tenant=TENANT, **about)  # type: ignore[arg-type]  # a GraphFlow


def chain(store: RunStore, run_id: str) -> list[StoredRecord]:
    page = DecisionRecords(store.database).page(run_id=run_id)
    return list(reversed(page.items))


def statuses(store: RunStore, run_id: str) -> list[tuple[str, str]]:
    return [(one.record.status, one.run_status) for one in chain(store, run_id)]


def require_chain(store: RunStore, run_id: str) -> None:
    """Hashes, links, transcripts, and a replay of each."""
    records = DecisionRecords(store.database)
    lines = list(records.export(run_id=run_id, transcripts=True))
    assert list(find_problems(lines, {})) == []
    for one in chain(store, run_id):
        full = records.get(one.record.record_id)
        assert replay(full.record, full.transcript, registry=make_registry()).differences == ()


# ------------------------------------------------------------------ ends


def test_the_refund_of_the_seed(store: RunStore, parts: HostParts, ledger: Path) -> None:
    waiting = begin(store, parts)
    assert [gate.id for gate in waiting.waiting] == ["gate"]
    (gate,) = waiting.waiting
    assert (gate.risk, gate.name) == ("destructive", "Call adp_payments.issue_refund")
    assert tell_last_call(store, waiting.id) == ("refund", "paused", "GATE_PENDING", HIGH_VALUE)
    done = store.answer(waiting.id, "gate", Decision.approve(by=FINANCE))
    assert done.status == "completed"
    assert count_refunds(ledger) == 1
    assert statuses(store, done.id) == [
        ("IN_FLIGHT", "running"), ("IN_FLIGHT", "waiting"), ("DECIDED", "completed"),
    ]  # fmt: skip
    record = chain(store, done.id)[-1].record
    told = record.to_json()
    assert done.outputs["decision_record"] == told, "the run tells of the record that is kept"
    assert store.get(done.id).outputs["decision_record"] == told
    assert {*SAMPLE} <= {*told}, "every field of the seed's sample"
    assert record.outcome == "approved"
    assert tell_last_call(store, done.id) == ("refund", "completed", "", HIGH_VALUE)
    assert record.budget_usage.tool_calls == 3
    assert [one.approver for one in record.approvals] == [FINANCE]
    assert record.lineage.pack_version == "ctxpack.support@5.2.0"
    require_resolvable(store, chain(store, done.id)[-1].record.record_id)
    require_chain(store, done.id)


HIGH_VALUE = "R_HIGH_VALUE_REQUIRES_APPROVAL"


def tell_last_call(store: RunStore, run_id: str) -> tuple[str, str, str, str]:
    """The last call of the newest record: its step, status and code, and a rule that asked for its gate.

    The record can be derived again, and tells of the rules of each of its calls.
    """
    full = DecisionRecords(store.database).get(chain(store, run_id)[-1].record.record_id)
    found = replay(full.record, full.transcript, registry=make_registry())
    assert found.differences == ()
    last = full.transcript["calls"][-1]
    named = [one.rule_ids for one in full.record.policy_decisions]
    assert named == [tuple(one["rule_ids"]) for one in full.transcript["calls"]]
    code = (last["result"].get("error") or {}).get("code", "")
    rule = next((one for one in last["rule_ids"] if one == HIGH_VALUE), "")
    return last["step"], last["result"]["status"], code, rule


def require_resolvable(store: RunStore, record_id: str) -> None:
    """Every reference of the record leads to something that the run has."""
    full = DecisionRecords(store.database).get(record_id)
    record, transcript = full.record, full.transcript
    calls = {one["call"]["tool_call_id"]: one for one in transcript["calls"]}
    bundles = transcript["compiled"]["manifests"]["policy_manifest"]
    rules = {f"policy:{one['bundle_id']}#{rule}" for one in bundles for rule in one["rule_ids"]}
    for ref in record.evidence_refs:
        if ref.startswith("tool:"):
            assert calls[ref.rpartition(":")[2]]["result"]["status"] in ("ok", "completed")
        elif ref.startswith("policy:"):
            assert ref in rules
        else:
            assert ref.startswith("kg:order:ord_881#")
    decided = {one["call"]["policy_decision_id"] for one in calls.values()}
    assert {one.policy_decision_id for one in record.policy_decisions} == decided
    shown = {one["snapshot_hash"] for one in calls.values()}
    assert {one.evidence_snapshot_hash for one in record.approvals} <= shown
    assert record.inputs_refs["request"] == request()["request_id"]
    assert record.inputs_refs["transcript"] == hash_of(transcript)
    decisions = store.decisions(full.run_id)
    assert [one.approver for one in record.approvals] == [row.decided_by for row in decisions]


def test_a_rejected_refund(store: RunStore, parts: HostParts, ledger: Path) -> None:
    run = begin(store, parts)
    done = store.answer(run.id, "gate", Decision.reject(by=FINANCE, reason="not this one"))
    assert done.status == "rejected"
    assert count_refunds(ledger) == 0
    last = chain(store, run.id)[-1].record
    assert (last.status, last.outcome) == ("REJECTED", None)
    assert last.approvals[0].decision == "rejected"
    assert "not this one" in last.reason
    assert tell_last_call(store, run.id) == ("refund", "blocked", "GATE_REJECTED", HIGH_VALUE)
    require_chain(store, run.id)


def test_a_rejection_without_packs_has_its_record(
    store: RunStore, parts: HostParts, fresh_database: str, ledger: Path
) -> None:
    run = begin(store, parts)
    with RunStore.open(fresh_database) as other:
        with pytest.raises(NotConfigured):
            other.answer(run.id, "gate", Decision.approve(by=FINANCE))
        assert other.answer(run.id, "gate", Decision.reject(by="ann")).status == "rejected"
    assert statuses(store, run.id)[-1] == ("REJECTED", "rejected")
    assert tell_last_call(store, run.id) == ("refund", "blocked", "GATE_REJECTED", HIGH_VALUE)
    assert count_refunds(ledger) == 0
    require_chain(store, run.id)


def test_a_stopped_run_is_closed(store: RunStore, parts: HostParts) -> None:
    run = begin(store, parts)
    store.stop(run.id, by="ann", reason="wrong customer")
    store.stop(run.id, by="ann", reason="again")
    last = chain(store, run.id)[-1].record
    assert statuses(store, run.id)[-1] == ("CLOSED", "stopped")
    assert "wrong customer" in last.reason
    assert tell_last_call(store, run.id) == ("refund", "paused", "GATE_PENDING", HIGH_VALUE)
    assert len(chain(store, run.id)) == 3
    require_chain(store, run.id)


def test_a_run_that_was_stopped_before_it_began_is_closed(
    store: RunStore, parts: HostParts
) -> None:
    run = store.create(parts.graphs[0], {"request": request()}, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
    store.stop(run.id, by="ann")
    assert statuses(store, run.id) == [("IN_FLIGHT", "running"), ("CLOSED", "stopped")]


def test_a_tool_that_fails_for_good_escalates(fresh_database: str, ledger: Path) -> None:
    def tell() -> None:
        raise ValueError("out of order")

    parts = lend_refund(ledger, tell=tell)
    with RunStore.open(fresh_database, host=parts) as store:
        run = begin(store, parts)
        assert run.status == "failed"
        last = chain(store, run.id)[-1].record
        assert (last.status, chain(store, run.id)[-1].run_status) == ("ESCALATED", "failed")
        assert last.budget_usage.replans == 2
        require_chain(store, run.id)


def test_a_run_that_used_up_its_budget_goes_on_with_more(fresh_database: str, ledger: Path) -> None:
    pack = put(read_pack(), "pack_meta/environment_defaults/run_budget/max_tool_calls", 2)
    budgets: list[Any] = [None]
    parts = lend_refund(ledger, registry=make_registry(pack))
    word = lambda run: HostWord(tenant=TENANT, run_id=run["run_id"], budget=budgets[0])  # noqa: E731
    made = Governance(**{**_members(parts.governance), "word_for": word})
    parts = parts.with_parts(governance=made, graphs=())
    from graphs.governed_run import flow

    parts = parts.with_parts(graphs=[flow.lent(parts)])
    with RunStore.open(fresh_database, host=parts) as store:
        run = begin(store, parts)
        assert (run.status, run.error["code"]) == ("failed", "BUDGET_EXCEEDED")
        assert chain(store, run.id)[-1].record.status == "ESCALATED"
        assert count_refunds(ledger) == 0
        assert store.resume(run.id).status == "failed", "with no more than before"
        before = ContextPack.read(read_pack()).pack_meta.environment_defaults.run_budget
        budgets[0] = before
        run = store.resume(run.id)
        run = store.answer(run.id, run.waiting[0].id, Decision.approve(by=FINANCE))
        assert run.status == "completed", run.error
        assert count_refunds(ledger) == 1
        assert chain(store, run.id)[-1].record.status == "DECIDED"


def test_a_run_that_may_ask_for_no_further_plan_goes_on_once_the_host_allows_one(
    fresh_database: str, ledger: Path
) -> None:
    good, budgets = read_example("plan.json"), list[Any]([None])
    nonsense = {**good, "outcome": "perhaps"}
    usual = ContextPack.read(read_pack()).pack_meta.environment_defaults.run_budget
    assert usual is not None
    most = usual.max_replan_attempts
    parts = lend_refund(ledger, plans=[*[nonsense] * (most + 1), good])
    word = lambda run: HostWord(tenant=TENANT, run_id=run["run_id"], budget=budgets[0])  # noqa: E731
    made = Governance(**{**_members(parts.governance), "word_for": word})
    parts = parts.with_parts(governance=made, graphs=())
    from graphs.governed_run import flow

    parts = parts.with_parts(graphs=[flow.lent(parts)])
    with RunStore.open(fresh_database, host=parts) as store:
        run = begin(store, parts)
        assert (run.status, run.error["code"]) == ("failed", "PLAN_REFUSED")
        assert store.resume(run.id).error["code"] == "PLAN_REFUSED", "with no more than before"
        budgets[0] = usual.model_copy(update={"max_replan_attempts": most + 1})
        run = store.resume(run.id)
        assert run.status == "waiting", run.error
        run = store.answer(run.id, run.waiting[0].id, Decision.approve(by=FINANCE))
        assert run.status == "completed", run.error
        assert count_refunds(ledger) == 1


def test_a_limit_of_the_host_above_the_packs_raises_no_budget(
    fresh_database: str, ledger: Path
) -> None:
    pack = put(read_pack(), "pack_meta/environment_defaults/run_budget/max_tool_calls", 2)
    ceiling = ContextPack.read(read_pack()).pack_meta.environment_defaults.run_budget
    assert ceiling is not None
    ceiling = ceiling.model_copy(update={"max_tool_calls": 100})
    parts = lend_refund(ledger, registry=make_registry(pack))
    word = lambda run: HostWord(tenant=TENANT, run_id=run["run_id"], budget=ceiling)  # noqa: E731
    made = Governance(**{**_members(parts.governance), "word_for": word})
    parts = parts.with_parts(governance=made, graphs=())
    from graphs.governed_run import flow

    parts = parts.with_parts(graphs=[flow.lent(parts)])
    with RunStore.open(fresh_database, host=parts) as store:
        run = begin(store, parts)
        assert (run.status, run.error["code"]) == ("failed", "BUDGET_EXCEEDED")
        assert store.resume(run.id).status == "failed", "the limit is what it was"
        assert count_refunds(ledger) == 0


def _members(governance: Any) -> dict[str, Any]:
    return {name: getattr(governance, name) for name in governance.__dataclass_fields__}


def test_a_request_that_is_refused_leaves_nothing_behind(store: RunStore, parts: HostParts) -> None:
    wrong = put(request(), "context_pack_refs", ["ctxpack.support@latest"])
    with pytest.raises(GovernanceRefused) as caught:
        store.start(parts.graphs[0], {"request": wrong}, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
    assert caught.value.code == "PACK_REF_UNPINNED"
    with pytest.raises(GovernanceRefused) as caught:
        store.start(parts.graphs[0], {"request": request()}, tenant="another")  # type: ignore[arg-type]  # a GraphFlow
    assert caught.value.code == "TENANT_MISMATCH"
    assert store.list() == []


def test_only_somebody_with_the_role_passes_the_gate(store: RunStore, parts: HostParts) -> None:
    run = begin(store, parts)
    with pytest.raises(AnswerInvalid, match="finance_lead"):
        store.answer(run.id, "gate", Decision.approve(by="bob"))
    assert store.get(run.id).waiting
    assert store.decisions(run.id) == []


def test_many_who_decide_at_once_make_one_refund_and_one_record(
    store: RunStore, parts: HostParts, ledger: Path
) -> None:
    run = begin(store, parts)
    ended: list[str] = []

    def decide(number: int) -> None:
        made = Decision.approve if number % 2 else Decision.reject
        try:
            ended.append(store.answer(run.id, "gate", made(by=FINANCE)).status)
        except Exception as error:
            ended.append(type(error).__name__)

    threads = [threading.Thread(target=decide, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    status = store.get(run.id).status
    assert status in ("completed", "rejected")
    assert count_refunds(ledger) == (status == "completed")
    assert [one for one in statuses(store, run.id) if one[1] == status] == [
        ("DECIDED" if status == "completed" else "REJECTED", status)
    ]
    require_chain(store, run.id)


# ------------------------------------------------------------------ the worker is killed


@pytest.mark.parametrize("rejects", ["", "gate"], ids=["approved", "rejected"])
def test_one_refund_at_most_wherever_the_worker_is_killed(
    fresh_database: str, tmp_path: Path, rejects: str
) -> None:
    step = tries(17, 1)
    first = random.SystemRandom().randint(1, step)
    print(f"killed at point {first} and at each {step}. after it")
    killed = 0
    for point in range(first, 2_000, step):
        ledger, run_id = tmp_path / f"refunds-{point}", f"r-{point}"
        child = FORKED.Process(
            target=refund_until_killed,
            args=(point, fresh_database, str(ledger), run_id, rejects),
        )
        child.start()
        child.join()
        assert child.exitcode in (0, -signal.SIGKILL), (point, child.exitcode)
        parts = lend_refund(ledger)
        with RunStore.open(fresh_database, host=parts) as store:
            run = go_to_the_end(store, parts.graphs[0], run_id, rejects)
            assert run.status == ("rejected" if rejects else "completed"), (point, run.error)
            assert count_refunds(ledger) == (0 if rejects else 1), point
            last = chain(store, run_id)[-1]
            assert last.record.status == ("REJECTED" if rejects else "DECIDED"), point
            paid = [ref for ref in last.record.evidence_refs if "issue_refund" in ref]
            assert len(paid) == (0 if rejects else 1), point
            assert last.record.budget_usage.tool_calls == (2 if rejects else 3), point
            require_chain(store, run_id)
        if child.exitcode == 0:
            break
        killed += 1
    print(f"killed {killed} times")
    assert killed > 3


def test_the_record_of_a_stopped_run_tells_of_a_call_that_only_the_ledger_knows(
    fresh_database: str, tmp_path: Path
) -> None:
    """Killed right after the refund, and stopped before anybody goes on."""

    def kill(point: int) -> tuple[str, int]:
        ledger, run_id = tmp_path / f"refunds-{point}", f"r-{point}"
        if not ledger.exists():
            child = FORKED.Process(
                target=refund_until_killed, args=(point, fresh_database, str(ledger), run_id, "")
            )
            child.start()
            child.join()
        return run_id, count_refunds(ledger)

    # In strides to the first point after the refund, then each one around it.
    first = next(point for point in range(_FEWEST, 2_000, 5) if kill(point)[1])
    found = 0
    for point in range(first - 4, first + 3):
        run_id, refunds = kill(point)
        with RunStore.open(fresh_database) as store:
            if not refunds or store.get(run_id).status != "running":
                continue
            effects = {one.capability: one.status for one in store.effects(run_id).items}
            store.stop(run_id, by="ann")
            record = chain(store, run_id)[-1].record
            refunded = [ref for ref in record.evidence_refs if "issue_refund" in ref]
            assert bool(refunded) == (effects["adp_payments.issue_refund"] == "done"), point
            found += 1
    assert found


_FEWEST = 48
"""Things that a run does before its refund, at least."""


# ------------------------------------------------------------------ what the database refuses


def test_the_database_refuses_an_end_without_a_record(
    store: RunStore, parts: HostParts, fresh_database: str
) -> None:
    run = begin(store, parts)
    for status in ("completed", "failed", "stopped", "rejected"):
        with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="decision record"):
            execute(fresh_database, f"update oasflow.runs set status = '{status}' where run_id = '{run.id}'")  # fmt: skip
    assert store.get(run.id).status == "waiting"


def test_a_restored_record_is_no_record_of_a_transaction_now(
    store: RunStore, parts: HostParts, owner_database: str
) -> None:
    """A database that was restored elsewhere counts its transactions anew, and meets old numbers."""
    run = begin(store, parts)
    with psycopg.connect(owner_database, options="-c search_path=oasflow") as owner:
        owner.execute("alter table decision_records disable trigger user")
        owner.execute("alter table runs disable trigger user")
        owner.execute("alter table runs enable always trigger runs_are_recorded")
        owner.execute("update decision_records set made_in = pg_current_xact_id()")
        for status in ("running", "waiting"):
            owner.execute("update runs set status = %s where run_id = %s", [status, run.id])
        with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="decision record"):
            owner.execute("set constraints all immediate")
        owner.rollback()


@pytest.mark.parametrize(
    "statement",
    [
        "update oasflow.decision_records set record = '{}'",
        "delete from oasflow.decision_records",
        "truncate oasflow.decision_records",
        "update oasflow.context_packs set content = '{}'",
        "delete from oasflow.memory_proposals",
        "update oasflow.memory_reviews set verdict = 'declined'",
    ],
)
def test_nothing_of_a_record_is_changed(
    store: RunStore, parts: HostParts, owner_database: str, statement: str
) -> None:
    done = store.answer(begin(store, parts).id, "gate", Decision.approve(by=FINANCE))
    packs = StoredPacks(store.database)
    packs.publish(ContextPack.read(read_pack()), by="ann")
    proposal = MemoryProposals(store.database).list_open()[0].proposal.proposal_id
    MemoryProposals(store.database).review(proposal, promoted=True, by="ann")
    with pytest.raises(psycopg.Error):
        execute(owner_database, statement)
    require_chain(store, done.id)


def test_a_record_follows_the_one_before_it(
    store: RunStore, parts: HostParts, fresh_database: str
) -> None:
    run = begin(store, parts)
    copied = (
        "insert into oasflow.decision_records (run_id, seq, tenant, record_id, status, run_status,"
        " record, record_hash, previous_hash, transcript) select run_id, {}, tenant, 'x', status,"
        " run_status, record, record_hash, previous_hash, transcript from oasflow.decision_records"
        f" where run_id = '{run.id}' and seq = 2"
    )
    for seq in (2, 3, 4):
        with pytest.raises(psycopg.Error):
            execute(fresh_database, copied.format(seq))


FORGE = """
insert into oasflow.decision_records (run_id, seq, tenant, record_id, status, run_status, record,
    record_hash, previous_hash, transcript)
select run_id, seq + 1, tenant, '{id}', '{status}', run_status, jsonb_build_object(
    'record_id', 'forged', 'sequence', seq + 1, 'status', 'DECIDED', 'previous_record_hash', record_hash,
    'record_hash', 'sha256:' || repeat('0', 64)), 'sha256:' || repeat('0', 64), record_hash, transcript
from oasflow.decision_records where run_id = '{run}' order by seq desc limit 1"""


@pytest.mark.parametrize(
    ("ended", "id_", "status", "said"),
    [
        (False, "forged", "ESCALATED", "is what its row says"),
        (False, "other", "DECIDED", "is what its row says"),
        (True, "forged", "DECIDED", "only a correction follows"),
    ],
)
def test_a_record_is_what_its_row_says_and_an_end_is_the_last(
    store: RunStore,
    parts: HostParts,
    fresh_database: str,
    *,
    ended: bool,
    id_: str,
    status: str,
    said: str,
) -> None:
    run = begin(store, parts)
    if ended:
        store.stop(run.id, by="ann", reason="enough")
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match=said):
        execute(fresh_database, FORGE.format(run=run.id, id=id_, status=status))


NEXT_RECORD = """
insert into decision_records (run_id, seq, tenant, record_id, status, run_status, record, record_hash,
                              previous_hash, transcript)
select run_id, seq + 1, tenant, 'dr_' || run_id || '_' || seq + 1, 'IN_FLIGHT', run_status,
       json_build_object('record_id', 'dr_' || run_id || '_' || seq + 1,
                         'record_hash', 'sha256:' || repeat('0', 64), 'previous_record_hash', record_hash,
                         'sequence', seq + 1, 'status', 'IN_FLIGHT'),
       'sha256:' || repeat('0', 64), record_hash, {}
from decision_records order by seq desc limit 1"""
JUNK = {
    "nothing": "'{}'", "a list": "'[1]'", "null": "'null'",
    "a member of another kind": "(transcript::jsonb || '{\"used\": 5}')::text",
    "calls that are none": "(transcript::jsonb || '{\"calls\": [{}]}')::text",
    "no kind": "(transcript::jsonb - 'kind')::text",
    "a number that is too long": "'{\"admitted\": ' || repeat('9', 5000) || '}'",
}  # fmt: skip


@pytest.mark.parametrize(
    ("junk", "ending"), list(zip(JUNK, cycle(["stop", "reject", "rejected before"]), strict=False))
)
def test_a_run_whose_last_record_was_made_from_nothing_that_can_be_read_ends(
    store: RunStore, parts: HostParts, fresh_database: str, junk: str, ending: str
) -> None:
    asked = begin(store, parts, run_id="r").waiting[0].id
    if ending == "rejected before":
        store.decide("r", asked, Decision.reject(by=FINANCE))
    execute(fresh_database, NEXT_RECORD.format(JUNK[junk]))
    if ending == "rejected before":
        assert store.resume("r").status == "rejected"
        return
    approval = Decision.approve(by=FINANCE)
    acts = (partial(store.answer, "r", asked, approval), partial(store.resume, "r"))
    for act in acts:
        with pytest.raises(GovernanceRefused, match=r"record 'dr_r_3'.*cannot be read") as refused:
            act()
        assert (refused.value.code, "oasflow stop r" in refused.value.hint) == (
            "RECORD_INVALID",
            True,
        )
    assert list(store.decisions("r")) == []
    if ending == "stop":
        assert store.stop("r", by="ann", reason="odd").status == "stopped"
    else:
        assert store.answer("r", asked, Decision.reject(by=FINANCE)).status == "rejected"
    last = json.loads(read_last(fresh_database))
    assert last["status"] == ("CLOSED" if ending == "stop" else "REJECTED")
    assert "dr_r_3, was made from cannot be read" in last["reason"]
    assert last["intent_ref"], "from the newest record that can be read"


def test_a_run_of_which_no_record_can_be_read_ends_with_a_record_that_says_so(
    store: RunStore, parts: HostParts, fresh_database: str
) -> None:
    begin(store, parts, run_id="r")
    # What a call of the ledger says is a part of every record.
    execute(
        fresh_database,
        "insert into effects (run_id, key, tenant, kind, status, governed)"
        f" values ('r', 'k', '{TENANT}', 'http', 'begun', '[1]')",
    )
    with pytest.raises(GovernanceRefused, match="a call in its ledger, cannot be read"):
        store.resume("r")
    assert store.stop("r", by="ann").status == "stopped"
    last = DecisionRecords(store.database).get("dr_r_3").record
    assert (last.status, last.actor.id, last.is_intact) == ("CLOSED", "unreadable", True)
    assert "dr_r_2, was made from cannot be read" in last.reason


def read_last(dsn: str) -> str:
    with psycopg.connect(dsn, options="-c search_path=oasflow") as rows:
        found = rows.execute(
            "select record::text from decision_records order by seq desc limit 1"
        ).fetchone()
    assert found is not None
    return str(found[0])


def execute(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(statement)


def test_an_export_tells_of_every_change(store: RunStore, parts: HostParts) -> None:
    done = store.answer(begin(store, parts).id, "gate", Decision.approve(by=FINANCE))
    begin(store, parts)
    lines = list(DecisionRecords(store.database).export(transcripts=True))
    assert list(find_problems(lines, {})) == []
    assert done.id in lines[0] + lines[3]
    for changed in (
        lines[1:], lines[:-1], lines[:2] + lines[3:], [lines[1], lines[0], *lines[2:]],
        [*lines, lines[0]], [lines[0].replace("4200", "42"), *lines[1:]],
        [*lines[:-1], json.dumps({"manifest": {}}) + "\n"], ["no json\n", *lines],
    ):  # fmt: skip
        assert list(find_problems(changed, {})) != []


def test_an_export_is_of_one_moment(
    store: RunStore, parts: HostParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs that end, and one that begins, while it is read are told as they stood at `made_at`."""
    monkeypatch.setattr("cinatra_sdk.store.evidence.decision_records.PAGE", 1)
    for run in ("a", "b", "c"):
        begin(store, parts, run_id=run)
    store.stop("a", by="ann")
    records = DecisionRecords(store.database)
    lines = records.export()
    read = [next(lines) for _ in range(4)]
    assert [json.loads(line)["run_id"] for line in read] == ["a", "a", "a", "b"]
    store.stop("b", by="ann")
    store.stop("c", by="ann")
    begin(store, parts, run_id="d")
    read += lines
    manifest = json.loads(read[-1])["manifest"]
    assert list(find_problems(read, {})) == []
    assert manifest["counts"] == {"a": 3, "b": 2, "c": 2}
    assert manifest["without_end"] == ["b", "c"]
    first = chain(store, "a")[-1].created_at
    assert format_time(first) <= manifest["made_at"] < format_time(chain(store, "b")[-1].created_at)
    later = json.loads(list(records.export())[-1])["manifest"]
    assert later["without_end"] == ["d"]


def test_an_export_that_nobody_reads_to_its_end_gives_its_connection_back(
    store: RunStore, parts: HostParts
) -> None:
    begin(store, parts)
    for _ in range(20):  # more than the store has
        lines = DecisionRecords(store.database).export()
        next(lines)
        del lines
    assert len(store.list()) == 1


def test_signed_records_and_corrections(fresh_database: str, ledger: Path) -> None:
    secret = b"x" * 32
    parts = lend_refund(ledger, signer=Signer.hmac("kid_1", secret))
    with RunStore.open(fresh_database, host=parts) as store:
        done = store.answer(begin(store, parts).id, "gate", Decision.approve(by=FINANCE))
        records = DecisionRecords(store.database, signer=Signer.hmac("kid_1", secret))
        last = chain(store, done.id)[-1].record
        assert verify_hmac(last, secret)
        assert not verify_hmac(last, b"y" * 32)
        outputs = {"transaction_id": "txn_as_the_bank_says"}
        made = records.correct(
            last.record_id, by="Ann B", reason="the bank's", outcome="approved", outputs=outputs
        )
        assert made.record.corrects == last.record_id
        mark = "corrected by Ann B: outcome, outputs; not derived from results"
        assert made.record.rationale.reasons == (*last.rationale.reasons, mark)
        full = records.get(made.record.record_id)
        again = replay(full.record, full.transcript, registry=make_registry())
        assert (again.differences, again.corrects) == ((), last.record_id)
        assert again.skipped == (f"record {last.record_id}: {mark}",)
        forged = seal_record(full.record.model_copy(update={"confidence": 0.5}), None)
        (odd,) = replay(forged, full.transcript).differences
        assert odd.place == "confidence", "what a correction does not correct is derived"
        assert chain(store, done.id)[-2].record == last, "that one stays"
        with pytest.raises(GovernanceRefused):
            records.correct(last.record_id, by="ann", reason="x", outputs={"n": float("nan")})
        lines = list(records.export(run_id=done.id))
        found = verify(lines, {"kid_1": secret})
        assert found.problems == []
        word = f"record {made.record.record_id} corrects {last.record_id}, a person's word: {mark}"
        assert word in describe(found)
        assert list(find_problems(lines, {"kid_1": b"y" * 32})) != []
        nobody = list(records.export(run_id=done.id, tenant="beta"))
        assert list(find_problems(nobody, {"kid_1": secret})) == []
        unsigned = list(DecisionRecords(store.database).export(run_id=done.id))
        told = [problem for _, problem in find_problems(unsigned, {})]
        assert told == ["the records are signed, and the manifest is not: the export may be cut"]
        packet = make_replay_packet(last, records.get(last.record_id).transcript)
        assert packet.expected.decision_record_hash == last.record_hash


def test_a_correction_is_held_to_what_the_run_carried_out(
    store: RunStore, parts: HostParts
) -> None:
    waiting, records = begin(store, parts), DecisionRecords(store.database)

    def refuse(record: str, why: str, **word: Any) -> None:
        before = len(chain(store, waiting.id))
        with pytest.raises(GovernanceRefused, match=why):
            records.correct(record, by="ann", reason="x", **word)
        assert len(chain(store, waiting.id)) == before

    early = chain(store, waiting.id)[-1].record.record_id
    words: tuple[dict[str, Any], ...] = (
        {"status": "DECIDED"}, {"status": "DECIDED", "outcome": "approved"}, {"status": "REJECTED"},
        {"outcome": "declined"}, {"outputs": {"transaction_id": "txn_invented"}},
    )  # fmt: skip
    for word in words:
        refuse(early, "is none of a run's end", **word)
    noted = records.correct(early, by="ann", reason="the reason alone")
    assert noted.record.rationale.reasons[-1].startswith("corrected by ann: reason; not derived")
    store.answer(waiting.id, "gate", Decision.approve(by=FINANCE))
    end = chain(store, waiting.id)[-1].record.record_id
    for word in words[1:]:
        refuse(early, "is none of a run's end", **word)
    refuse(
        end, "claims no call of 'adp_payments.issue_refund', and there is one", outcome="declined"
    )
    refuse(end, "the outcome is none of", outcome="foo")
    refuse(end, "has ended, and 'IN_FLIGHT' says", status="IN_FLIGHT")
    refuse(end, "what is REJECTED has no outcome", status="REJECTED", outcome="approved")
    refuse(end, "the decision has no output 'txn_9'", outputs={"txn_9": 1})
    made = records.correct(end, by="ann", reason="the auditor", status="ESCALATED")
    assert made.record.outcome is None
    # Neither a correction, nor what it was made from, is a way around.
    refuse(made.record.record_id, "DECIDED, and has no outcome", status="DECIDED")
    refuse(made.record.record_id, "and there is one", status="DECIDED", outcome="declined")
    require_chain(store, waiting.id)


def test_nothing_that_was_not_carried_out_is_corrected_into_a_record(
    store: RunStore, parts: HostParts
) -> None:
    run = begin(store, parts)
    store.stop(run.id, by="ann")
    records, end = DecisionRecords(store.database), chain(store, run.id)[-1].record.record_id
    with pytest.raises(GovernanceRefused, match="and none was carried out"):
        records.correct(end, by="ann", reason="x", status="DECIDED", outcome="approved")


def test_a_replay_says_what_differs(store: RunStore, parts: HostParts) -> None:
    done = store.answer(begin(store, parts).id, "gate", Decision.approve(by=FINANCE))
    full = DecisionRecords(store.database).get(chain(store, done.id)[-1].record.record_id)
    other = put(read_pack(), "policy_layer/bundles/0/policy_dsl/rules/2/if", False)
    found = replay(full.record, full.transcript, registry=make_registry(other))
    assert {"packs", "calls/refund/rule_ids"} <= {one.place for one in found.differences}
    changed = json.loads(json.dumps(full.transcript))
    changed["outputs"]["refund_amount_inr"] = 1
    found = replay(full.record, changed, registry=make_registry())
    assert {"inputs_refs/transcript", "outputs/refund_amount_inr"} <= {
        one.place for one in found.differences
    }
    assert replay(full.record, {}).status == "replay_mismatch"


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        ("score/verdict", "escalate"),
        ("score/scorecard/amount_matches", 0.5),
        ("verify/verdict", "replan"),
        ("calls/2/call/approval_mode_effective", "read_only"),
    ],
)
def test_a_replay_derives_each_verdict_again(
    store: RunStore, parts: HostParts, place: str, wrong: Any
) -> None:
    done = store.answer(begin(store, parts).id, "gate", Decision.approve(by=FINANCE))
    full = DecisionRecords(store.database).get(chain(store, done.id)[-1].record.record_id)
    found = replay(full.record, full.transcript, registry=make_registry())
    assert (found.verdicts, found.skipped) == (5, ()), "three calls, the plan and the results"
    results = [one["result"] for one in full.transcript["calls"]]
    assert [one["mutations"] for one in results] == [[], [], ["refund:txn_1"]]
    changed = put(dict(full.transcript), place, wrong)
    found = replay(full.record, changed, registry=make_registry())
    place = place.replace("calls/2/call", "calls/refund")
    assert place in {one.place for one in found.differences}


# ------------------------------------------------------------------ two tenants


def test_nothing_is_seen_by_another_tenant(store: RunStore, parts: HostParts) -> None:
    done = store.answer(begin(store, parts).id, "gate", Decision.approve(by=FINANCE))
    records, memory = DecisionRecords(store.database), MemoryProposals(store.database)
    last = chain(store, done.id)[-1].record.record_id
    assert records.page(tenant="beta").items == []
    with pytest.raises(RunNotFound):
        records.get(last, tenant="beta")
    with pytest.raises(RunNotFound):
        records.correct(last, by="ann", reason="x", tenant="beta")
    assert len(list(records.export(tenant="beta"))) == 1, "the manifest alone"
    assert len(list(records.export(run_id=done.id, tenant="beta"))) == 1
    assert memory.list_open(tenant="beta") == []
    mine = memory.list_open(tenant=TENANT)[0].proposal.proposal_id
    with pytest.raises(Exception, match="not there"):
        memory.review(mine, promoted=True, by="ann", tenant="beta")
    packs = StoredPacks(store.database)
    packs.publish(ContextPack.read(read_pack()), by="ann")
    with pytest.raises(GovernanceRefused) as caught:
        packs.load("ctxpack.support@5.2.0", tenant="beta")
    assert caught.value.code == "PACK_TENANT_MISMATCH"
    assert packs.list_entries(tenant="beta") == []


def test_a_version_of_a_pack_is_published_once(store: RunStore) -> None:
    from cinatra_sdk.governance.contracts.context_pack import DecisionCatalog

    packs = StoredPacks(store.database)
    assert packs.publish(ContextPack.read(read_pack()), by="ann") is True
    assert packs.publish(ContextPack.read(read_pack()), by="bob") is False
    changed = ContextPack.read(put(read_pack(), "pack_meta/ttl_seconds", 1))
    with pytest.raises(GovernanceRefused, match="another content"):
        packs.publish(changed, by="ann")
    assert packs.publish(DecisionCatalog.read(read_catalog()), by="ann")
    assert packs.load("ctxpack.support@5.2.0", tenant=TENANT) == ContextPack.read(read_pack())


def test_a_catalog_that_no_run_could_use_is_not_published(store: RunStore) -> None:
    from cinatra_sdk.governance.contracts.context_pack import DecisionCatalog

    wrong = put(read_catalog(), "decisions/0/eligibility_rules", {"nope": 1})
    packs = StoredPacks(store.database)
    with pytest.raises(GovernanceRefused, match=r"'decision-catalog\.support@2\.1\.0': .*'nope'"):
        packs.publish(DecisionCatalog.read(wrong), by="ann")
    assert packs.list_entries() == []


# ------------------------------------------------------------------ compiled flows


FLOW = flow_of(
    start(port("to")), gate("own"), api("send", outputs=[port("id")], data={"to": "{{to}}"}, inputs=[port("to")]),
    end(port("id")), edges=[("start", "to", "send", "to"), ("send", "id", "end", "id")],
)  # fmt: skip
GATED = [{"rule_id": "R1", "if": {"!=": [{"var": "context.to"}, "ann"]}, "then": {"requires_approval_gate": "G"}}]  # fmt: skip


def test_a_governed_flow_in_the_database(fresh_database: str) -> None:
    governance = Governance.of(make_small_pack(GATED))
    flow = compile_flow(
        FLOW, governance=governance, platform=SimulatedPlatform({"send": {"id": "m1"}})
    )
    with RunStore.open(fresh_database, host=HostParts(governance=governance)) as store:
        run = store.start(flow, {"to": "ann"}, by="me")
        run = store.answer(run.id, "own", Decision.approve(by="ann"))
        assert run.outputs == {"id": "m1"}, "one gate: that of the file"
        run = store.start(flow, {"to": "bob"}, by="me")
        run = store.answer(run.id, "own", Decision.approve(by="ann"))
        assert [gate.id for gate in run.waiting] == ["send:G"], "and that of the pack"
        with RunStore.open(fresh_database, host=HostParts(governance=governance)) as other:
            run = other.answer(run.id, "send:G", Decision.approve(by="ann"))
        assert (run.status, run.outputs) == ("completed", {"id": "m1"})
        last = chain(store, run.id)[-1].record
        assert (last.status, last.outcome) == ("DECIDED", "completed")
        assert [one.gate_id for one in last.approvals] == ["G"]
        assert len(last.evidence_refs) == 2, "the rule, and the call"
        lines = list(DecisionRecords(store.database).export(transcripts=True))
        assert list(find_problems(lines, {})) == []
        full = DecisionRecords(store.database).get(last.record_id)
        assert replay(full.record, full.transcript, registry=governance.registry).differences == ()
        run = store.start(flow, {"to": "bob"}, by="me")
        run = store.answer(run.id, "own", Decision.approve(by="ann"))
        run = store.answer(run.id, "send:G", Decision.deny(by="ann"))
        assert run.status == "completed"
        assert chain(store, run.id)[-1].record.approvals[0].decision == "denied"


def test_a_governed_run_does_not_go_on_without_its_packs(fresh_database: str) -> None:
    governance = Governance.of(make_small_pack(GATED))
    flow = compile_flow(
        FLOW, governance=governance, platform=SimulatedPlatform({"send": {"id": "m1"}})
    )
    with RunStore.open(fresh_database, host=HostParts(governance=governance)) as store:
        run = store.start(flow, {"to": "bob"})
        plain = compile_flow(FLOW, platform=SimulatedPlatform({"send": {"id": "m1"}}))
        with RunStore.open(fresh_database) as other:
            for given in (None, plain):
                with pytest.raises(NotConfigured, match="governed"):
                    other.answer(run.id, "own", Decision.approve(by="ann"), flow=given)
        assert store.get(run.id).waiting


# ------------------------------------------------------------------ packs that change below a run


def test_a_pack_that_changed_under_its_version_is_not_gone_on_with(
    fresh_database: str, tmp_path: Path
) -> None:
    rules = [{"rule_id": "R1", "then": {"requires_approval_gate": "G"}}]
    pack = make_small_pack(rules)
    file = tmp_path / f"{pack.ref}.json"
    file.write_text(json.dumps(pack.to_json()), encoding="utf-8")
    governance = Governance(registry=FolderRegistry(tmp_path), pack_refs=(pack.ref,))
    platform = SimulatedPlatform({"send": {"id": "m1"}})
    flow = compile_flow(SEND_FLOW, governance=governance, platform=platform)
    with RunStore.open(fresh_database, host=HostParts(governance=governance)) as store:
        run = store.start(flow, {"to": "bob"})
        file.write_text(json.dumps(make_small_pack().to_json()), encoding="utf-8")
        with pytest.raises(FlowChanged, match="another content"):
            store.answer(run.id, run.waiting[0].id, Decision.approve(by="ann"))
        assert platform.calls == []
        file.write_text(json.dumps(pack.to_json()), encoding="utf-8")
        assert store.resume(run.id).status == "completed"


# ------------------------------------------------------------------ simulated calls


@pytest.mark.parametrize("simulated", [False, True])
def test_a_record_says_that_its_calls_were_simulated(
    fresh_database: str, *, simulated: bool
) -> None:
    governance = Governance.of(make_small_pack())
    platform = SimulatedPlatform({"send": {"id": "m1"}})
    platform.simulates = simulated
    made = compile_flow(SEND_FLOW, governance=governance, platform=platform)
    with RunStore.open(fresh_database, host=HostParts(governance=governance)) as store:
        run = store.start(made, {"to": "bob"})
        (_, record) = [one.record for one in chain(store, run.id)]
    told = any("simulated" in one for one in record.rationale.reasons)
    assert (record.status, told) == ("DECIDED", simulated)
