"""What a host's functions give is looked at: another type, or an error, is an error that names the function."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import AnswerInvalid, Decision, NotConfigured, RunStore
from cinatra_sdk.governance.contracts.invocation import IdentityClaim, UserDelegation
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.admission import HostWord, load_packs, make_claim
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.records.record_maker import Signer
from cinatra_sdk.governance.run.host_ports import GovernancePorts
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from tests.governance.packs import make_gateway, make_ports
from tests.governance.refund import FINANCE, TENANT, count_refunds, lend_refund, request

SECRET = "hunter2hunter2"
CLAIM: IdentityClaim = make_claim("r1", TENANT, "agent:a/b@1.0.0")
DELEGATION = UserDelegation(auth_type="oauth2", subject="ann", scopes=("a",))


def fail(*_: Any, **__: Any) -> Any:
    raise RuntimeError(f"ldap://admin:{SECRET}@dir is unreachable")


def give(value: Any) -> Any:
    return lambda *_, **__: value


async def later(*_: Any) -> Any:
    return ["finance_lead"]


ASKED: dict[str, Any] = {
    "roles_of": lambda ports: ports.list_roles(TENANT, "ann"),
    "clock": lambda ports: ports.read_time(),
    "heartbeat": lambda ports: ports.read_heartbeat("r1"),
    "delegation_holds": lambda ports: ports.holds_delegation("ann", DELEGATION),
    "delegation_for": lambda ports: ports.find_delegation("ann", DELEGATION),
    "claim_holds": lambda ports: ports.holds_claim(CLAIM),
    "claim_for": lambda ports: ports.make_claim("r1", TENANT, "agent:a/b@1.0.0"),
    "estimate": lambda ports: ports.count_tokens("a b"),
}
WRONG: dict[str, tuple[Any, ...]] = {
    "roles_of": ("not_finance_lead", b"finance_lead", None, {"a": 1}, [1], True),
    "clock": (None, 1.0, "2026-01-01T00:00:00Z", datetime(2026, 1, 1)),  # noqa: DTZ001 - no zone
    "heartbeat": ("now", datetime(2026, 1, 1)),  # noqa: DTZ001 - no zone
    "delegation_holds": (None, 1, "no"),
    "delegation_for": (1, True, {"scopes": ["a"]}),
    "claim_holds": (None, 1, "no"),
    "claim_for": (1, {}, "claim"),
    "estimate": (None, float("nan"), True, -1, "3"),
}


@pytest.mark.parametrize("port", ASKED)
def test_a_port_that_gives_something_else_is_named(port: str) -> None:
    for made in (fail, later, "no function", *map(give, WRONG[port])):
        ports: Any = GovernancePorts(**{port: made})
        with pytest.raises(NotConfigured, match=f"^the host's {port} (failed|gave) ") as refused:
            ASKED[port](ports)
        assert SECRET not in str(refused.value)
        assert refused.value.hint.startswith(f"mend {port}: ")
        assert refused.value.__cause__ is None


def test_a_port_that_gives_what_it_has_to_is_read() -> None:
    for roles in (["a", "b"], ("a", "b"), {"a", "b"}, frozenset("ab")):
        assert GovernancePorts(roles_of=give(roles)).list_roles(TENANT, "ann") == {"a", "b"}
    assert GovernancePorts().list_roles(TENANT, "ann") == frozenset()
    assert GovernancePorts(delegation_for=give(None)).find_delegation("ann", DELEGATION) == ""
    assert GovernancePorts(heartbeat=give(None)).read_heartbeat("r1") is None


@pytest.mark.parametrize("name", ["word_for", "user_for", "registry", "signer"])
def test_other_functions_of_a_host_are_named_too(name: str) -> None:
    run = {"run_id": "r1", "tenant": TENANT, "started_by": "ann"}
    wrong: tuple[Any, ...] = (fail, give("x"), later)
    if name != "user_for":  # None: nobody whom the host knows
        wrong += (give(None),)
    if name == "word_for":
        wrong += tuple(map(give, [HostWord(tenant=""), HostWord(tenant=None), HostWord(tenant="a", user="x")]))  # type: ignore[arg-type]  # what a host may do  # fmt: skip
    for made in wrong:
        registry: Any = type("Registry", (), {"load": made})()
        lent = {name: made} if name.endswith("_for") else {}
        governance = Governance(registry=registry, **lent)
        ask: dict[str, Any] = {
            "registry": partial(load_packs, ["ctxpack.a@1.0.0"], registry, TENANT),
            "signer": partial(Signer("k1", "HS256", made).sign, "text"),
        }
        with pytest.raises(NotConfigured, match=f"^the host's {name} (failed|gave) ") as refused:
            ask.get(name, partial(governance.read_word, run))()
        assert SECRET not in str(refused.value)


def test_a_text_of_roles_lets_nobody_approve() -> None:
    """`not_finance_lead` holds the letters of `finance_lead`."""
    ports = make_ports(roles_of=give("not_finance_lead"))
    gateway = make_gateway(ports=ports)
    with pytest.raises(NotConfigured, match=r"^the host's roles_of gave a str"):
        gateway.require_approver("GATE_FINANCE_APPROVAL", "mallory")
    ports = make_ports(roles_of=give(["not_finance_lead"]))
    gateway = make_gateway(ports=ports)
    with pytest.raises(GovernanceRefused, match="asks for somebody with the role"):
        gateway.require_approver("GATE_FINANCE_APPROVAL", "mallory")


def lend(ledger: Path, name: str = "", made: Any = None) -> HostParts:
    """The refund, with one function of the host replaced."""
    if name == "signer":
        return lend_refund(ledger, signer=Signer("k1", "HS256", made))
    if name == "registry":
        return lend_refund(ledger, registry=type("Registry", (), {"load": made})())
    if name not in ("word_for", "user_for"):
        return lend_refund(ledger, **({name: made} if name else {}))
    from dataclasses import replace

    from graphs.governed_run import flow

    parts = lend_refund(ledger)
    governance: Any = parts.governance
    lent = parts.with_parts(governance=replace(governance, **{name: made}))
    return lent.with_parts(graphs=[flow.lent(lent)])


def test_a_stored_run_keeps_no_word_of_a_host_and_a_rejection_ends_it(
    fresh_database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = tmp_path / "refunds"
    whole = lend(ledger)

    def start(parts: HostParts, run_id: str) -> Any:
        with RunStore.open(fresh_database, host=parts) as store:
            return store.start(parts.graphs[0], {"request": request()}, run_id, tenant=TENANT, by="ann")  # type: ignore[arg-type]  # a GraphFlow  # fmt: skip

    def answer(parts: HostParts, run_id: str, said: Decision) -> Any:
        with RunStore.open(fresh_database, host=parts) as store:
            return store.answer(run_id, "gate", said, tenant=TENANT)

    with pytest.raises(NotConfigured, match=r"^the host's word_for gave a NoneType"):
        start(lend(ledger, "word_for", give(None)), "none")
    with RunStore.open(fresh_database, host=whole) as store:
        # Nothing is decided where the roles of a person are not known.
        start(whole, "r0")
        for made in (fail, give(None), give("not_finance_lead")):
            with pytest.raises(NotConfigured, match=r"^the host's roles_of "):
                answer(lend(ledger, "roles_of", made), "r0", Decision.approve(by="mallory"))
        with pytest.raises(AnswerInvalid):
            answer(whole, "r0", Decision.approve(by="mallory"))
        assert (store.decisions("r0"), count_refunds(ledger)) == ([], 0)
        # Words of the host are kept nowhere.
        for name in ("delegation_holds", "delegation_for", "clock"):
            start(whole, name)
            run = answer(lend(ledger, name, fail), name, Decision.approve(by=FINANCE))
            assert f"the host's {name} failed (RuntimeError)" in str(run.error)
        # A rejection ends the run.
        broken = {"word_for": give(None), "user_for": fail, "registry": give(None), "signer": fail}
        for name, made in broken.items():
            start(whole, name)
            run = answer(lend(ledger, name, made), name, Decision.reject(by="q"))
            assert (run.status, run.waiting) == ("rejected", ()), name
            last = DecisionRecords(store.database).page(run_id=name).items[0].record
            assert last.status == "REJECTED", name
        # The same where the decision was recorded first, and another process works on it.
        start(whole, "two")
        store.decide("two", "gate", Decision.reject(by="q"), tenant=TENANT)
        with RunStore.open(fresh_database, host=lend(ledger, "signer", fail)) as other:
            assert other.work("two", tenant=TENANT).status == "rejected"
        told = "".join(DecisionRecords(store.database).export(tenant=TENANT, transcripts=True))
    assert (
        "the end of run 'two' is not signed: the host's signer failed (RuntimeError)" in caplog.text
    )
    assert SECRET not in told + caplog.text
    assert count_refunds(ledger) == 0


def test_an_approved_run_that_the_host_keeps_from_its_record_fails_and_goes_on_where_it_stopped(
    fresh_database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    late: Any = partial(_raise, TimeoutError(SECRET))
    hosts = {
        "signer": fail, "late_signer": late, "signer_of_no_bytes": give("x"), "clock": late,
        "word_for": give(None), "registry": fail,
    }  # fmt: skip
    for run_id, made in hosts.items():
        ledger = tmp_path / run_id
        whole = lend(ledger)
        name = "signer" if "signer" in run_id else run_id
        broken = lend(ledger, name, made)
        with RunStore.open(fresh_database, host=whole) as store:
            store.start(whole.graphs[0], {"request": request()}, run_id, tenant=TENANT, by="ann")  # type: ignore[arg-type]  # a GraphFlow  # fmt: skip
            store.decide(run_id, "gate", Decision.approve(by=FINANCE), tenant=TENANT)
        with RunStore.open(fresh_database, host=broken) as store:
            for _ in range(2):  # the same again: nothing is sent twice, and nothing is lost
                run = store.resume(run_id)
                problem = run.error or {}
                assert (run.status, problem["code"]) == ("failed", "not_configured"), run_id
                assert f"the host's {name} " in str(problem["message"])
            assert [one.decided_by for one in store.decisions(run_id)] == [FINANCE]
            assert [need.run_id for need in store.needs().items] == [run_id]
        with RunStore.open(fresh_database, host=whole) as store:
            assert store.resume(run_id).status == "completed", run_id
            assert count_refunds(ledger) == 1
            records = [
                one.record for one in DecisionRecords(store.database).page(run_id=run_id).items
            ]
            assert {one.status for one in records} >= {"DECIDED", "ESCALATED"}
    assert SECRET not in caplog.text


def _raise(error: Exception, *_: Any, **__: Any) -> Any:
    raise error
