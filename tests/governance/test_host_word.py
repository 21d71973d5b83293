"""What the host says of a run holds, at each activation anew, and nothing that a caller says of itself."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk import AnswerInvalid, Decision, RunStore, SimulatedPlatform, host_context
from cinatra_sdk.activations import advance
from cinatra_sdk.api import Person
from cinatra_sdk.errors import NodeFailed
from cinatra_sdk.governance.contracts.context_pack import ContextPack
from cinatra_sdk.governance.contracts.invocation import (
    AgentIdentity,
    Principal,
    UserClaims,
    UserDelegation,
)
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.admission import HostWord, admit_user, follow_word
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.packs.pack_policy import list_requesters
from cinatra_sdk.governance.packs.pack_registry import MemoryRegistry
from cinatra_sdk.governance.run.host_ports import GovernancePorts
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.store import PersonStore
from cinatra_sdk.testing import drive
from graphs.governed_run import build_graph
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, node, start
from tests.governance.packs import (
    USER,
    admit_example,
    make_ports,
    make_registry,
    make_word,
    put,
    read_pack,
)
from tests.governance.refund import FINANCE, TENANT, count_refunds, lend_refund, request
from tests.governance.small_pack import make_small_pack
from tests.governance.test_flows import FLOW, GATED

OTHERS = put(read_pack(), "policy_layer/approval_gates/0/approver", "not_requester")
OTHERS = put(OTHERS, "policy_layer/approval_gates/0/required_approver_role", ...)


def govern(pack: Any, **parts: Any) -> Governance:
    return Governance(registry=MemoryRegistry([pack]), pack_refs=(pack.ref,), **parts)


# ------------------------------------------------------------------ not by whoever asked


@pytest.mark.parametrize("by", ["ann", "ANN", " ann ", "\uff21nn"])
@pytest.mark.parametrize("how", ["answer", "decide"])
def test_a_store_takes_no_approval_of_whoever_started_the_run(
    fresh_database: str, tmp_path: Path, by: str, how: str
) -> None:
    parts = lend_refund(tmp_path / "refunds", registry=make_registry(OTHERS))
    with RunStore.open(fresh_database, host=parts) as store:
        run = store.start(parts.graphs[0], {"request": request()}, "r1", tenant=TENANT, by="ann")  # type: ignore[arg-type]  # a GraphFlow
        assert run.status == "waiting", run.error
        with pytest.raises(AnswerInvalid, match="not for whoever asked"):
            getattr(store, how)("r1", "gate", Decision.approve(by=by), tenant=TENANT)
        assert store.decisions("r1") == []
        done = store.answer("r1", "gate", Decision.approve(by="bob"), tenant=TENANT)
        assert (done.status, count_refunds(tmp_path / "refunds")) == ("completed", 1)


def test_whoever_started_a_run_may_reject_it(fresh_database: str, tmp_path: Path) -> None:
    parts = lend_refund(tmp_path / "refunds", registry=make_registry(OTHERS))
    with RunStore.open(fresh_database, host=parts) as store:
        store.start(parts.graphs[0], {"request": request()}, "r1", tenant=TENANT, by="ann")  # type: ignore[arg-type]  # a GraphFlow
        assert store.answer("r1", "gate", Decision.reject(by="ann")).status == "rejected"


def test_a_compiled_flow_of_a_store_takes_none_either(fresh_database: str) -> None:
    pack = make_small_pack(GATED)
    pack = type(pack).read(
        put(pack.to_json(), "policy_layer/approval_gates/0/approver", "not_requester")
    )
    host = HostParts(
        platform=SimulatedPlatform(stubs={"send": {"id": "m"}}), governance=govern(pack)
    )
    with RunStore.open(fresh_database, host=host) as store:
        flow = compile_flow(FLOW, governance=host.governance, platform=host.platform)
        waiting = store.start(flow, {"to": "bob"}, "r1", by="ann").waiting
        assert waiting[0].payload["values"]["approver"] == "not_requester"
        with pytest.raises(AnswerInvalid, match="not for whoever asked"):
            store.answer("r1", waiting[0].id, Decision.approve(by="ann"))


ALICE = UserClaims(user_id="alice")


def lend_acting(kind: str, folder: Path) -> tuple[HostParts, Any, dict[str, Any], str]:
    """A run for another person than the one who starts it: host, flow, inputs, and that person."""
    if kind == "loop":
        parts = lend_refund(folder / "refunds", registry=make_registry(OTHERS))
        return parts, parts.graphs[0], {"request": request()}, USER
    pack = make_small_pack(GATED)
    pack = type(pack).read(
        put(pack.to_json(), "policy_layer/approval_gates/0/approver", "not_requester")
    )
    parts = HostParts(
        platform=SimulatedPlatform(stubs={"send": {"id": "m"}}),
        governance=govern(pack, user_for=lambda _run: ALICE),
    )
    flow = compile_flow(FLOW, governance=parts.governance, platform=parts.platform)
    return parts, flow, {"to": "bob"}, ALICE.user_id


@pytest.mark.parametrize("kind", ["loop", "flow"])
@pytest.mark.parametrize("how", ["answer", "decide"])
def test_a_store_takes_no_approval_of_the_person_for_whom_a_run_acts(
    fresh_database: str, tmp_path: Path, kind: str, how: str
) -> None:
    parts, flow, inputs, person = lend_acting(kind, tmp_path)
    with RunStore.open(fresh_database, host=parts) as store:
        run = store.start(flow, inputs, "r1", tenant=TENANT, by="svc")
        assert run.status == "waiting", run.error
        gate_id = run.waiting[0].id
        for by in (person, f" {person.upper()}", "svc"):
            with pytest.raises(AnswerInvalid, match="not for whoever asked"):
                getattr(store, how)("r1", gate_id, Decision.approve(by=by), tenant=TENANT)
        assert store.decisions("r1") == []
        getattr(store, how)("r1", gate_id, Decision.approve(by="bob"), tenant=TENANT)
        if how == "decide":
            store.resume("r1")
        assert [said.decided_by for said in store.decisions("r1")] == ["bob"]
        assert store.get("r1").status == "completed"


@pytest.mark.parametrize("kind", ["loop", "flow"])
@pytest.mark.parametrize("how", ["aanswer", "adecide"])
def test_an_asynchronous_store_takes_none_either(
    fresh_database: str, tmp_path: Path, kind: str, how: str
) -> None:
    parts, flow, inputs, person = lend_acting(kind, tmp_path)

    async def approve() -> None:
        async with await RunStore.aopen(fresh_database, host=parts) as store:
            run = await store.astart(flow, inputs, "r1", tenant=TENANT, by="svc")
            approval = Decision.approve(by=person)
            with pytest.raises(AnswerInvalid, match="not for whoever asked"):
                await getattr(store, how)("r1", run.waiting[0].id, approval, tenant=TENANT)
            assert store.decisions("r1") == []

    asyncio.run(approve())


def test_an_approval_beside_a_rejection_is_asked_the_same(fresh_database: str) -> None:
    pack = make_small_pack(GATED)
    pack = type(pack).read(
        put(pack.to_json(), "policy_layer/approval_gates/0/approver", "not_requester")
    )
    parts = HostParts(
        platform=SimulatedPlatform(stubs={"send": {}}),
        governance=govern(pack, user_for=lambda _run: ALICE),
    )
    inner = [flow_of(start(), api("send"), end(), id_=f"branch{at}") for at in range(2)]
    source = flow_of(start(), node("ParallelFlowNode", "both", subflows=inner), end())
    flow = compile_flow(source, governance=parts.governance, platform=parts.platform)
    with RunStore.open(fresh_database, host=parts) as store:
        first, second = store.start(flow, {}, "r1", by="svc").waiting
        said = {first.id: Decision.reject(by="bob"), second.id: Decision.approve(by="alice")}
        with pytest.raises(AnswerInvalid, match="not for whoever asked"):
            store.decide("r1", said)
        assert store.decisions("r1") == []


def test_a_run_of_an_earlier_release_is_started_by_whom_its_store_names() -> None:
    run = admit_example().run
    old = run.model_copy(update={"metadata": {}})
    assert list_requesters(old, "svc") == ["svc", USER]
    assert list_requesters(old) == []
    assert list_requesters(run, "svc") == [USER, USER], "a run that says it itself is believed"


def test_a_plain_graph_asks_again_where_whoever_asked_approves() -> None:
    pack = make_small_pack(GATED)
    pack = type(pack).read(
        put(pack.to_json(), "policy_layer/approval_gates/0/approver", "not_requester")
    )
    flow = compile_flow(FLOW, governance=govern(pack))
    context = flow.context(run_id="r1", started_by="ann")
    own, other = Decision.approve(by="ann"), Decision.approve(by="bob")
    waiting = drive(flow, {"to": "x"}, answers=[own], context=context, stubs={"send": {"id": "m"}})
    assert (waiting.status, waiting.calls) == ("waiting", ())
    assert "not for whoever asked" in str(waiting.gates[-1].payload["values"]["note"])
    done = drive(
        flow, {"to": "x"}, answers=[own, other], context=context, stubs={"send": {"id": "m"}}
    )
    assert (done.status, len(done.calls)) == ("completed", 1)


# ------------------------------------------------------------------ read at each activation


class Changing:
    """A host that changes its mind once a run waits."""

    def __init__(self, **later: Any) -> None:
        self.later = later
        self.changed = False

    def word_for(self, run: Any) -> HostWord:
        said = self.later if self.changed else {}
        return HostWord(tenant=run["tenant"] or "local", run_id=run["run_id"], **said)


@pytest.mark.parametrize("stored", [True, False])
def test_a_safety_mode_that_was_narrowed_holds_from_then_on(
    fresh_database: str, stored: bool
) -> None:
    pack = make_small_pack()
    host = Changing(safety_mode="read_only")
    flow = compile_flow(
        flow_of(start(), gate("ok"), api("send"), end()),
        governance=govern(pack, word_for=host.word_for),
        platform=SimulatedPlatform(stubs={"send": {}}),
    )

    def answer(_gate: Any) -> Any:
        host.changed = True
        return Decision.approve(by="ann")

    if stored:
        with RunStore.open(fresh_database) as store:
            run = store.start(flow, {}, "r1", tenant="acme")
            assert run.status == "waiting", run.error
            host.changed = True
            done = store.answer("r1", run.waiting[0].id, Decision.approve(by="ann"))
            assert (done.status, (done.error or {})["code"]) == ("failed", "MODE_EXCEEDS_SAFETY")
        return
    driven = drive(flow, {}, answers=answer, stubs={"send": {}})
    assert (driven.status, driven.calls) == ("failed", ())
    assert getattr(driven.error, "code", "") == "MODE_EXCEEDS_SAFETY"


def test_a_delegation_that_was_withdrawn_takes_its_scopes_along() -> None:
    kept = [UserDelegation(auth_type="oauth2", scopes=("mail.send",), subject="s", token_ref="t")]
    ports = GovernancePorts(delegation_for=lambda _user, _asked: kept[0] if kept else "")
    user = UserClaims(user_id="ann", delegation=kept[0])
    pack = make_small_pack(scopes=["mail.send"])
    flow = compile_flow(
        flow_of(start(), gate("ok"), api("send"), end()),
        governance=govern(pack, user_for=lambda _run: user, ports=ports),
    )
    assert drive(flow, {}, answers=[True], stubs={"send": {}}).status == "completed"

    def withdraw(_gate: Any) -> Any:
        kept.clear()
        return True

    done = drive(flow, {}, answers=withdraw, stubs={"send": {}})
    assert (done.status, done.calls) == ("failed", ())
    assert getattr(done.error, "code", "") == "DELEGATION_REQUIRED"


def test_a_role_that_was_taken_away_is_read_by_no_rule_any_more() -> None:
    rule = {
        "rule_id": "R_MANAGER", "if": {"!=": [{"var": "user.role"}, "manager"]}, "then": {"allow": False},
    }  # fmt: skip
    role: list[str | None] = ["manager"]
    flow = compile_flow(
        flow_of(start(), gate("ok"), api("send"), end()),
        governance=govern(
            make_small_pack([rule]), user_for=lambda _run: UserClaims(user_id="ann", role=role[0])
        ),
    )
    assert drive(flow, {}, answers=[True], stubs={"send": {}}).status == "completed"

    def demote(_gate: Any) -> Any:
        role[0] = None
        return True

    done = drive(flow, {}, answers=demote, stubs={"send": {}})
    assert getattr(done.error, "code", "") == "POLICY_DENIED"


def test_a_mode_that_the_host_raises_again_is_never_above_that_of_the_packs() -> None:
    run = admit_example().run
    asked = admit_example().envelope.user
    narrowed = follow_word(run, asked, make_word(safety_mode="read_only"), make_ports())
    assert narrowed.safety_mode == "read_only"
    raised = follow_word(run, asked, make_word(safety_mode="destructive"), make_ports())
    assert raised.safety_mode == run.safety_mode == "delegated"


def test_an_agent_that_the_host_suspends_goes_on_with_nothing_and_its_role_is_the_one_of_now() -> (
    None
):
    asked = admit_example().envelope
    agent = asked.agent.model_copy(update={"identity_claim": None, "role": "clerk"})
    run = admit_example(word=make_word(agent=agent)).run
    assert run.agent.role == "clerk"
    demoted = make_word(agent=agent.model_copy(update={"role": None}))
    assert follow_word(run, asked.user, demoted, make_ports()).agent.role is None
    for lifecycle in ("suspended", "retired", "draft"):
        gone = make_word(agent=agent.model_copy(update={"lifecycle": lifecycle}))
        with pytest.raises(GovernanceRefused, match=f"the host's agent is {lifecycle}") as caught:
            follow_word(run, asked.user, gone, make_ports())
        assert caught.value.code == "IDENTITY_INVALID"


def test_an_agent_of_the_host_without_a_name_takes_none_of_a_request() -> None:
    asked = admit_example().envelope.agent
    nameless = asked.model_copy(update={"identity_claim": None, "agent_urn": None})
    with pytest.raises(GovernanceRefused, match="has no agent_urn") as caught:
        admit_example(word=make_word(agent=nameless))
    assert caught.value.code == "IDENTITY_INVALID"
    assert "AgentIdentity(agent_urn=" in caught.value.hint
    claimed = nameless.model_copy(update={"identity_claim": asked.identity_claim})
    named = admit_example(word=make_word(agent=claimed)).run.agent
    assert named.agent_urn == asked.agent_urn, "a claim of the host's names it"


@pytest.mark.parametrize("place", ["principal_chain", "identity_claim"])
def test_an_agent_of_the_host_is_of_the_tenant_of_the_run(place: str) -> None:
    asked = admit_example().envelope.agent
    assert asked.identity_claim is not None
    urn = asked.agent_urn
    foreign = {
        "principal_chain": (Principal(kind="agent", id=str(urn), tenant_id="globex"),),
        "identity_claim": asked.identity_claim.model_copy(update={"tenant_id": "globex"}),
    }
    agent = asked.model_copy(update={"identity_claim": None, place: foreign[place]})
    with pytest.raises(GovernanceRefused, match=r"the host's agent.* is not the tenant") as caught:
        admit_example(word=make_word(agent=agent))
    assert caught.value.code == "TENANT_MISMATCH"


def test_a_flow_gives_its_name_to_an_agent_of_the_host_without_one() -> None:
    agent = AgentIdentity(agent_id="mailer", workload_identity="spiffe://acme/mailer", role="clerk")
    flow = compile_flow(FLOW, governance=govern(make_small_pack(), agent=agent))
    done = drive(flow, {"to": "x"}, stubs={"send": {"id": "m"}})
    assert done.status == "completed", done.error


def test_a_run_of_an_earlier_release_goes_on_for_the_user_that_it_began_with() -> None:
    run = admit_example().run
    old = run.model_copy(update={"metadata": {"ephemeral": False, "request_id": "req"}})
    asked = admit_example().envelope.user
    word = make_word(user=UserClaims(user_id="another"), started_by="another")
    followed = follow_word(old, asked, word, make_ports())
    assert followed.user == run.user
    assert followed.metadata["started_by"] == "another", "whom its gates are not for"


# ------------------------------------------------------------------ users and scopes


def test_scopes_of_the_host_win_over_those_that_a_request_brings() -> None:
    own = UserDelegation(auth_type="oauth2", scopes=("orders.read",), subject="s", token_ref="tok")
    asked = admit_example().envelope.user
    assert asked.delegation is not None
    assert "payments.refund" in asked.delegation.scopes
    ports = make_ports(delegation_for=lambda _user, _asked: own)
    assert admit_user(asked, make_word(), ports).delegation == own
    held = admit_user(asked, make_word(), make_ports(delegation_for=lambda *_: "")).delegation
    assert held is not None
    assert (held.scopes, held.token_ref) == ((), None)


def test_a_host_without_a_user_admits_nobody() -> None:
    with pytest.raises(GovernanceRefused, match="say who starts the run") as caught:
        admit_user(UserClaims(user_id="ann"), make_word(user=None), make_ports())
    assert caught.value.code == "USER_UNVOUCHED"


def test_a_run_that_nobody_started_is_refused_before_it_is_stored(
    fresh_database: str, tmp_path: Path
) -> None:
    # Without `user_for` no host says whom it has verified.
    pack = put(read_pack(), "policy_layer/bundles/0/policy_dsl/rules/0/if", False)
    parts = lend_refund(tmp_path / "refunds", registry=make_registry(pack))
    governance: Any = parts.governance
    members = {name: getattr(governance, name) for name in governance.__dataclass_fields__}
    lent = parts.with_parts(governance=Governance(**{**members, "user_for": None}), graphs=())
    flow = parts.graphs[0].lent(lent)  # type: ignore[attr-defined]  # a GraphFlow
    with RunStore.open(fresh_database, host=lent) as store:
        for by in ("", "mallory"):
            with pytest.raises(GovernanceRefused) as caught:
                store.start(flow, {"request": request()}, tenant=TENANT, by=by)
            assert caught.value.code == "USER_UNVOUCHED"
        assert store.list() == []
        run = store.start(flow, {"request": request()}, tenant=TENANT, by="usr_771")
        assert run.status == "waiting", run.error
        done = store.answer(run.id, "gate", Decision.approve(by=FINANCE))
        assert done.status == "completed", done.error


def test_a_run_of_the_loop_goes_on_under_the_packs_with_which_it_was_admitted(
    tmp_path: Path,
) -> None:
    ledger = tmp_path / "refunds"
    newer = ContextPack.read(put(read_pack(), "pack_meta/pack_version", "5.3.0"))
    saver = InMemorySaver()

    def go_on(registry: Any, run: str, given: Any, by: str = "", **parts: Any) -> Any:
        lent = lend_refund(ledger, registry=registry)
        governance: Any = lent.governance
        members = {name: getattr(governance, name) for name in governance.__dataclass_fields__}
        lent = lent.with_parts(governance=Governance(**{**members, **parts}), graphs=())
        return advance(
            build_graph(lent, saver), given, {"configurable": {"thread_id": run}},
            context=host_context(run_id=run, tenant=TENANT, started_by="usr_771"),
            answer=lambda _gate: {"approved": True, "by": by} if by else None,
        )  # fmt: skip

    assert go_on(make_registry(), "r1", {"request": request()}).status == "waiting"
    both, refs = make_registry(None, newer), (newer.ref, "decision-catalog.support@2.1.0")
    assert go_on(both, "r1", None, by=FINANCE, pack_refs=refs).status == "completed"
    with pytest.raises(NodeFailed) as caught:
        go_on(both, "r2", {"request": request()})
    assert caught.value.code == "PACK_UNVOUCHED"


def test_an_intent_of_a_compiled_flow_is_one_of_its_catalogs() -> None:
    made = make_small_pack().to_json()
    made["decision_layer"] = {"decisions": [{"decision_key": "mail.send", "version": "1.0.0"}]}
    pack = type(make_small_pack()).read(made)
    for intent, code in (
        ("mail.send", None),
        ("mail.sends", "INTENT_UNKNOWN"),
        ("", "INTENT_UNKNOWN"),
    ):
        flow = compile_flow(FLOW, governance=govern(pack, intent=intent))
        done = drive(flow, {"to": "bob"}, stubs={"send": {"id": "m"}})
        assert getattr(done.error, "code", None) == code


def test_the_host_of_the_example_believes_no_scopes_of_a_request() -> None:
    import importlib.util

    from tests.sources import ROOT

    found = importlib.util.spec_from_file_location("refund_host", ROOT / "examples/refund/host.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    asked = json.loads((ROOT / "examples/refund/request.json").read_text())["user"]["delegation"]
    brought = UserDelegation.read({**asked, "scopes": ["everything"]})
    held = module.find_delegation("usr_771", brought)
    assert held.scopes == ("orders.read", "payments.refund")
    assert module.find_delegation("ceo", brought) == ""


def test_a_surface_is_told_of_the_rule_of_the_pack_before_it_shows_a_button(
    fresh_database: str, tmp_path: Path
) -> None:
    parts = lend_refund(tmp_path / "refunds", registry=make_registry(OTHERS))
    with RunStore.open(fresh_database, host=parts) as store:
        store.start(parts.graphs[0], {"request": request()}, "r1", tenant=TENANT, by="ann")  # type: ignore[arg-type]  # a GraphFlow
        ann, bob = (
            PersonStore(store, Person(id=name, tenant=TENANT, proof="session"))
            for name in ("Ann", "bob")
        )
        said = ann.may("answer", "r1", gate_id="gate")
        assert (said.allowed, said.code) == (False, "not_requester")
        assert ann.may("answer", "r1", gate_id="gate", decision=Decision.reject()).allowed
        assert bob.may("answer", "r1", gate_id="gate").allowed
        with pytest.raises(AnswerInvalid, match="not for whoever asked"):
            ann.answer("r1", "gate", Decision.approve())
        assert store.decisions("r1") == []
        assert bob.answer("r1", "gate", Decision.approve()).status == "completed"
