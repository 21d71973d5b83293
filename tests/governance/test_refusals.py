"""Each reason for a refusal: a case that is refused for it, and its neighbour that is not."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk import host_context
from cinatra_sdk.activations import advance
from cinatra_sdk.governance.contracts.context_pack import ContextPack
from cinatra_sdk.governance.contracts.invocation import AgentIdentity, ToolCallEnvelope, UserClaims
from cinatra_sdk.governance.contracts.refusals import REASONS, GovernanceRefused
from cinatra_sdk.governance.gateway.admission import HostWord, admit, make_claim
from cinatra_sdk.governance.gateway.delegation import narrow
from cinatra_sdk.governance.gateway.gateway import GateApproval
from cinatra_sdk.governance.loop.action import GATE
from cinatra_sdk.governance.packs.pack_registry import read_published
from cinatra_sdk.governance.records.record_maker import RecordLink, make_record
from cinatra_sdk.governance.run.budgets import RunUsage, Used, call_within
from cinatra_sdk.governance.run.evidence import Evidence
from graphs.governed_run import build_graph
from tests.governance.packs import (
    ARGS,
    KEY,
    NOW,
    RECORDED,
    RUN,
    TENANT,
    USER,
    admit_example,
    make_gateway,
    make_ports,
    make_refund,
    make_registry,
    make_request,
    make_word,
    put,
    read_example,
    read_pack,
)
from tests.governance.refund import FINANCE, lend_refund

Case = Callable[[], Any]
ATTACHMENT = {
    "artifact_id": "art_1", "media_type": "application/pdf", "sha256": "a" * 64, "uri": "s3://a/b",
}  # fmt: skip
RULES = "policy_layer/bundles/0/policy_dsl/rules"


def _approve(gateway: Any, call: Any, **changed: Any) -> Any:
    """Examine, approve what was shown, and redeem."""
    examined = gateway.examine(call, RECORDED)
    given = [
        GateApproval(gate_id=gate, approver="lead", snapshot_hash=examined.snapshot_hash)
        for gate in examined.gates
    ]
    again = gateway.examine(make_refund(**changed), RECORDED) if changed else examined
    return gateway.redeem(again, given)


def _redeem(gateway: Any, call: Any, recorded: Any = RECORDED) -> Any:
    return gateway.redeem(gateway.examine(call, recorded))


def _look_up(**changed: Any) -> Any:
    given = {
        "capability_id": "adp_orders.lookup", "args": {"order_id": "ord_881"},
        "mode_requested": "read_only", "evidence_refs": (), "idempotency_key": None,
    }  # fmt: skip
    return make_refund(**{**given, **changed})


def _run_loop(tmp: Path, *, answer: Any = None, request: Any = None, **more: Any) -> Any:
    """The loop in memory; gives where it stops."""
    run = more.pop("run", "r1")
    graph = build_graph(lend_refund(tmp / "refunds", **more), InMemorySaver())
    given = request or {k: v for k, v in make_request().items() if k != "agent"} | {
        "agent": read_example("request.json")["agent"]
    }
    return advance(
        graph,
        {"request": given},
        {"configurable": {"thread_id": run}},
        context=host_context(run_id=run, tenant=TENANT),
        answer=lambda _gate: answer,
    )


def _child(**changed: Any) -> Any:
    run = admit_example().run
    agent = AgentIdentity(
        agent_id="child",
        agent_urn="agent:acme/child@1.0.0",
        workload_identity="spiffe://acme/child",
    )
    given: dict[str, Any] = {"run_id": "child-1", "scopes": ["orders.read"], "used": Used()}
    return narrow(run, agent, **{**given, **changed})


def _write_record(outcome: str | None) -> Any:
    from cinatra_sdk.governance.gateway.admission import describe_admitted
    from cinatra_sdk.governance.gateway.context_compiler import compile_context
    from cinatra_sdk.governance.records.story import begin_transcript, read_story

    admitted = admit_example()
    compiled = compile_context(admitted, make_ports())
    kept = describe_admitted(admitted, HostWord(tenant=TENANT), "2026-05-04T09:31:42Z")
    told = begin_transcript("loop", kept, compiled, admitted.book)
    story = read_story({**told, "status": "DECIDED", "outcome": outcome})
    return make_record(story, RecordLink(), at=NOW)


def _need_evidence() -> dict[str, Any]:
    return make_refund(evidence_refs=())


FOREIGN = {"kg": lambda ref, _run: Evidence(ref, tenant="another")}
FILES = {
    "kg": lambda ref, run: Evidence(ref, tenant=run.tenant_id),
    "attachment": lambda ref, run: Evidence(ref, ref.partition("#")[2], run.tenant_id),
}
READ_ONLY = put(read_pack(), "policy_layer/approval_gates/0/required_approver_role", ...)
# The rule asks for what another rule asks for, too: one from which nothing follows is refused.
NO_GATE = put(read_pack(), f"{RULES}/2/then", {"requires": ["kg:order:"]})


_CLAIMED = {"identity_verified": True}
"""The caller's own word, which no rule takes."""


def _admit_chosen(chosen: str, *, newest: str) -> Any:
    registry = make_registry(
        None, ContextPack.read(put(read_pack(), "pack_meta/pack_version", newest))
    )
    refs = [f"ctxpack.support@{chosen}", "decision-catalog.support@2.1.0"]
    return admit(make_request(context_pack_refs=refs), make_word(), registry, make_ports())


CASES: dict[str, tuple[Case, Case]] = {
    "INVALID_ENVELOPE": (
        lambda: admit_example(surprise=1),
        lambda: admit_example(input__message="Refund it, please"),
    ),
    "PACK_REF_UNPINNED": (
        lambda: admit_example(context_pack_refs=["ctxpack.support@latest"]),
        admit_example,
    ),
    "PACK_NOT_FOUND": (
        lambda: admit_example(context_pack_refs=["ctxpack.support@5.2.1"]),
        lambda: admit_example(
            context_pack_refs=["ctxpack.support@5.2.0", "decision-catalog.support@2.1.0"]
        ),
    ),
    "PACK_UNVOUCHED": (
        lambda: _admit_chosen("5.2.0", newest="5.10.0"),
        lambda: _admit_chosen("5.10.0", newest="5.10.0"),
    ),
    "PACK_INCOMPATIBLE": (
        lambda: admit_example(
            put(read_pack(), "contract_meta/compatibility/requires", {"oasflow": ">=99"})
        ),
        lambda: admit_example(
            put(read_pack(), "contract_meta/compatibility/requires", {"oasflow": ">=0.1.0"})
        ),
    ),
    "PACK_TENANT_MISMATCH": (
        lambda: admit_example(put(read_pack(), "pack_meta/tenant", "another")),
        lambda: admit_example(put(read_pack(), "pack_meta/tenant", "*")),
    ),
    "PACK_INVALID": (
        lambda: admit_example(put(read_pack(), f"{RULES}/0/if", {"no such operator": 1})),
        lambda: read_published("ctxpack.support@5.2.0", __import__("json").dumps(read_pack())),
    ),
    "TENANT_MISMATCH": (
        lambda: admit_example(user__tenant_id="another"),
        lambda: admit_example(user__tenant_id=TENANT),
    ),
    "IDENTITY_INVALID": (
        lambda: admit_example(agent__identity_claim=...),
        lambda: admit_example(word=make_word(governed=False), agent__identity_claim=...),
    ),
    "INTENT_UNKNOWN": (
        lambda: admit_example(input__intent="support.refunds"),
        lambda: admit_example(input__intent="support.refund"),
    ),
    "USER_UNVOUCHED": (
        lambda: admit_example(user__user_id="usr_772"),
        lambda: admit_example(
            word=make_word(user=UserClaims(user_id="usr_772")), user__user_id="usr_772"
        ),
    ),
    "SESSION_REQUIRED": (
        lambda: admit_example(mode="long_running", session_id=...),
        lambda: admit_example(mode="batch", session_id=...),
    ),
    "PAYLOAD_TOO_LARGE": (
        lambda: admit_example(runtime__max_payload_bytes=500),
        lambda: admit_example(runtime__max_payload_bytes=50_000),
    ),
    "ATTACHMENT_FORBIDDEN": (
        lambda: admit_example(attachments=[ATTACHMENT]),
        lambda: admit_example(ports=make_ports(evidence=FILES), attachments=[ATTACHMENT]),
    ),
    "DELEGATION_WIDENS": (
        lambda: _child(scopes=["orders.write"]),
        lambda: _child(scopes=["orders.read", "payments.refund"]),
    ),
    "CAPABILITY_UNSURFACED": (
        lambda: _redeem(make_gateway(), _look_up(capability_id="adp_orders.delete")),
        lambda: _redeem(make_gateway(), _look_up()),
    ),
    "ARGUMENTS_INVALID": (
        lambda: _redeem(make_gateway(), _look_up(args={"order_id": "881"})),
        lambda: _redeem(make_gateway(), _look_up(args={"order_id": "ord_1"})),
    ),
    "MODE_EXCEEDS_DECLARED": (
        lambda: _redeem(make_gateway(), _look_up(mode_requested="network")),
        lambda: _redeem(make_gateway(), _look_up(mode_requested="read_only")),
    ),
    "DELEGATION_REQUIRED": (
        lambda: _approve(make_gateway(ports=make_ports(delegation_for=None)), make_refund()),
        lambda: _approve(make_gateway(), make_refund()),
    ),
    "IDEMPOTENCY_KEY_REQUIRED": (
        lambda: _approve(make_gateway(), make_refund(idempotency_key=None)),
        lambda: _approve(make_gateway(), make_refund(idempotency_key=KEY)),
    ),
    "POLICY_DENIED": (
        lambda: _approve(
            make_gateway(word=make_word(user=UserClaims(user_id=USER)), input__context=_CLAIMED),
            make_refund(),
        ),
        lambda: _approve(make_gateway(input__context={}), make_refund()),
    ),
    "EVIDENCE_MISSING": (
        lambda: _approve(make_gateway(), make_refund(evidence_refs=())),
        lambda: _approve(make_gateway(), make_refund()),
    ),
    "MODE_EXCEEDS_SAFETY": (
        lambda: _redeem(make_gateway(NO_GATE), make_refund()),
        lambda: _redeem(
            make_gateway(put(NO_GATE, "pack_meta/environment_defaults/safety_mode", "destructive")),
            make_refund(),
        ),
    ),
    "GATE_PENDING": (
        lambda: _redeem(make_gateway(), make_refund()),
        lambda: _redeem(
            make_gateway(
                put(read_pack(), "pack_meta/environment_defaults/safety_mode", "destructive")
            ),
            make_refund(args={**ARGS, "amount_inr": 2000}),
        ),
    ),
    "EVIDENCE_DRIFT": (
        lambda: _approve(make_gateway(), make_refund(), args={**ARGS, "amount_inr": 4300}),
        lambda: _approve(make_gateway(), make_refund(), args=dict(ARGS)),
    ),
    "BUDGET_EXCEEDED": (
        lambda: _approve(make_gateway(usage=RunUsage(Used(tool_calls=8))), make_refund()),
        lambda: _approve(make_gateway(usage=RunUsage(Used(tool_calls=7))), make_refund()),
    ),
    "TIMEOUT": (
        lambda: call_within(10, threading.Event().wait, 5),
        lambda: call_within(5_000, lambda: 1),
    ),
    "MUST_REFUSE": (
        lambda: _redeem(make_gateway(input__context__currency="EUR"), _look_up()),
        lambda: _redeem(make_gateway(input__context__currency="INR"), _look_up()),
    ),
    "MUST_ESCALATE": (
        lambda: _redeem(make_gateway(input__message="I have a lawyer"), _look_up()),
        lambda: _redeem(make_gateway(input__message="I have a question"), _look_up()),
    ),
    "RECORD_INVALID": (
        lambda: _write_record("maybe"),
        lambda: _write_record("declined"),
    ),
}
"""Code → what is refused for it, and what is not."""
OF_THE_LOOP = {"GATE_REJECTED", "IDEMPOTENCY_CONFLICT", "PLAN_REFUSED"}
"""Codes that only a whole run comes to; below."""


def test_every_reason_has_its_cases() -> None:
    assert {*CASES, *OF_THE_LOOP} == set(REASONS)


@pytest.mark.parametrize("code", sorted(CASES))
def test_what_is_refused_for_a_reason(code: str) -> None:
    with pytest.raises(GovernanceRefused) as caught:
        CASES[code][0]()
    assert caught.value.code == code
    assert caught.value.status == REASONS[code].status
    assert caught.value.message


@pytest.mark.parametrize("code", sorted(CASES))
def test_the_neighbour_is_let_through(code: str) -> None:
    CASES[code][1]()


# ------------------------------------------------------------------ what a whole run comes to


def test_a_rejection_at_a_gate_ends_the_run(tmp_path: Path) -> None:
    stop = _run_loop(tmp_path, answer={"approved": False, "by": FINANCE, "reason": "no"})
    assert stop.status == "rejected"
    assert not (tmp_path / "refunds").exists()
    again = _run_loop(tmp_path, answer={"approved": True, "by": FINANCE}, run="r2")
    assert again.status == "completed"


def test_a_key_with_other_arguments_is_a_conflict(tmp_path: Path) -> None:
    plan = read_example("plan.json")
    twice = {**plan["steps"][2], "id": "again", "params": {**ARGS, "amount_inr": 100}}
    first = {**plan["steps"][2], "params": {**ARGS, "amount_inr": 200}}
    pack = put(read_pack(), "pack_meta/environment_defaults/safety_mode", "destructive")
    plans = [{**plan, "steps": [*plan["steps"][:2], first, twice]}]
    registry = make_registry(pack)
    # Two refunds under one key: the second is another request.
    from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger

    graph = build_graph(
        lend_refund(tmp_path / "refunds", registry=registry, plans=plans), InMemorySaver()
    )
    context = host_context(run_id="r1", tenant=TENANT, ledger=MemoryLedger())
    config = {"configurable": {"thread_id": "r1"}}
    with pytest.raises(Exception, match="escalated") as caught:
        advance(
            graph, {"request": read_example("request.json")}, config, context=context,
            answer=lambda _gate: None,
        )  # fmt: skip
    assert caught.value.code == "IDEMPOTENCY_CONFLICT"  # type: ignore[attr-defined]  # why no plan was taken
    calls = graph.get_state(config).values["loop"]["calls"]
    (conflict,) = {one["result"]["error"]["code"] for one in calls if one["result"]["error"]}
    assert conflict == "IDEMPOTENCY_CONFLICT"
    assert (tmp_path / "refunds").read_text().count("\n") == 1


def test_a_plan_that_nobody_may_carry_out_ends_the_run(tmp_path: Path) -> None:
    plan = {**read_example("plan.json"), "outcome": "perhaps"}
    with pytest.raises(Exception, match="the outcome is none of approved, declined") as caught:
        _run_loop(tmp_path, plans=[plan])
    assert caught.value.code == "PLAN_REFUSED"  # type: ignore[attr-defined]  # not that of the budget
    assert not (tmp_path / "refunds").exists()


# ------------------------------------------------------------------ members of the families


@pytest.mark.parametrize(
    "changed",
    [
        {"agent__agent_urn": ...},
        {"agent__lifecycle": "suspended"},
        {"agent__identity_claim__sub": "agent:contextos/another@1.0.0"},
        {"agent__identity_claim__run_id": "another"},
        {"agent__identity_claim__claim_hash": "sha256:..."},
        {"agent__identity_claim__exp": int(NOW.timestamp())},
        {"agent__identity_claim__nbf": int(NOW.timestamp()) + 1},
        {"agent__principal_chain": [{"kind": "user", "id": "usr_771"}]},
    ],
    ids=str,
)
def test_identities_that_do_not_hold(changed: dict[str, Any]) -> None:
    with pytest.raises(GovernanceRefused) as caught:
        admit_example(**changed)
    assert caught.value.code == "IDENTITY_INVALID"


@pytest.mark.parametrize(
    "changed",
    [
        {"tenant_id": "another"},
        {"agent__principal_chain": [{"kind": "user", "id": "u", "tenant_id": "another"}]},
        {"agent__identity_claim__tenant_id": "another"},
        {"agent__identity_claim__principal_chain": [{"kind": "user", "id": "u", "tenant_id": "x"}]},
    ],
    ids=str,
)
def test_one_part_of_another_tenant_is_enough(changed: dict[str, Any]) -> None:
    with pytest.raises(GovernanceRefused) as caught:
        admit_example(**changed)
    assert caught.value.code == "TENANT_MISMATCH"


def test_evidence_of_another_tenant_is_refused() -> None:
    with pytest.raises(GovernanceRefused) as caught:
        _approve(make_gateway(ports=make_ports(evidence=FOREIGN)), make_refund())
    assert caught.value.code == "TENANT_MISMATCH"


def test_a_signature_that_does_not_hold_is_no_identity() -> None:
    with pytest.raises(GovernanceRefused, match="signature"):
        admit_example(ports=make_ports(claim_holds=lambda _claim: False))
    admit_example(ports=make_ports(claim_holds=lambda _claim: True))


def test_a_token_that_the_caller_names_is_not_believed() -> None:
    run = admit_example(
        ports=make_ports(delegation_for=None), user__delegation__token_ref="tok_stolen"
    ).run
    assert run.user.delegation is not None
    assert run.user.delegation.token_ref is None


def test_hints_never_raise_a_budget() -> None:
    run = admit_example(runtime__max_tool_calls=10_000, runtime__max_cost_cents=1e9).run
    assert run.run_budget.max_tool_calls == 8
    assert run.run_budget.max_cost_cents == 25.0
    assert admit_example(runtime__max_tool_calls=0).run.run_budget.max_tool_calls == 0


def test_a_delegation_that_ended_while_a_gate_waited_voids_the_approval() -> None:
    alive = [True]
    gateway = make_gateway(ports=make_ports(delegation_holds=lambda _user, _delegation: alive[0]))
    examined = gateway.examine(make_refund(), RECORDED)
    given = [GateApproval(gate_id="GATE_FINANCE_APPROVAL", approver="lead", snapshot_hash=examined.snapshot_hash)]  # fmt: skip
    alive[0] = False
    with pytest.raises(GovernanceRefused) as caught:
        gateway.redeem(gateway.examine(make_refund(), RECORDED), given)
    assert caught.value.code == "DELEGATION_REQUIRED"


def test_another_content_behind_the_same_evidence_voids_the_approval() -> None:
    contents = ["sha256:" + "1" * 64]
    reader = {"kg": lambda ref, run: Evidence(ref, contents[0], run.tenant_id)}
    gateway = make_gateway(ports=make_ports(evidence=reader))
    examined = gateway.examine(make_refund(), RECORDED)
    given = [GateApproval(gate_id="GATE_FINANCE_APPROVAL", approver="lead", snapshot_hash=examined.snapshot_hash)]  # fmt: skip
    contents[0] = "sha256:" + "2" * 64
    with pytest.raises(GovernanceRefused) as caught:
        gateway.redeem(gateway.examine(make_refund(), RECORDED), given)
    assert caught.value.code == "EVIDENCE_DRIFT"


def test_a_rule_that_cannot_be_decided_restricts() -> None:
    pack = put(read_pack(), f"{RULES}/2/if", {">": [{"var": "context.nowhere"}, 2000]})
    examined = make_gateway(pack).examine(make_refund(), RECORDED)
    assert examined.gates == ("GATE_FINANCE_APPROVAL",)
    assert examined.decision is not None
    assert examined.decision.undecided_rule_ids == ("R_HIGH_VALUE_REQUIRES_APPROVAL",)


def test_a_request_is_refused_before_a_pack_is_read() -> None:
    class Nowhere:
        def load(self, ref: str, *, tenant: str) -> Any:
            raise AssertionError(f"{ref} was read for {tenant}")

    with pytest.raises(GovernanceRefused) as caught:
        admit(
            make_request(tenant_id="x"),
            make_word(),
            Nowhere(),
            make_ports(),
        )
    assert caught.value.code == "TENANT_MISMATCH"


def test_a_child_agent_of_another_tenant_is_refused() -> None:
    agent = AgentIdentity.read(
        {
            "agent_id": "child", "agent_urn": "agent:acme/child@1.0.0",
            "workload_identity": "spiffe://acme/child",
            "principal_chain": [{"kind": "agent", "id": "agent:acme/child@1.0.0", "tenant_id": "another"}],
        }
    )  # fmt: skip
    with pytest.raises(GovernanceRefused) as caught:
        narrow(admit_example().run, agent, run_id="child-1", scopes=[], used=Used())
    assert caught.value.code == "TENANT_MISMATCH"


@pytest.mark.parametrize(
    ("session", "refused"), [("sess_42f1", None), ("sess_other", "EVIDENCE_MISSING")]
)
def test_the_session_of_the_run_is_evidence_and_no_other(session: str, refused: str | None) -> None:
    call = _look_up(evidence_refs=(f"session:{session}",))
    refusal = make_gateway().examine(call, RECORDED).refusal
    assert (refusal and refusal.code) == refused


def test_a_claim_holds_from_its_first_second_on() -> None:
    assert admit_example(agent__identity_claim__nbf=int(NOW.timestamp())).run.run_id == RUN


@pytest.mark.parametrize("modes", [("local_write", "network"), ("network", "local_write")])
def test_of_several_rules_the_riskiest_mode_counts(modes: tuple[str, str]) -> None:
    rules = [
        {"rule_id": f"R{at}", "if": True, "then": {"approval_mode": mode}}
        for at, mode in enumerate(modes)
    ]
    pack = put(read_pack(), "policy_layer/bundles/0/policy_dsl/rules", rules)
    examined = make_gateway(pack).examine(make_refund(), RECORDED)
    assert examined.decision is not None
    assert examined.decision.effective_approval_mode == "network"


def test_envelopes_hold_no_token() -> None:
    gateway = make_gateway()
    examined = gateway.examine(make_refund(), RECORDED)
    assert isinstance(examined.envelope, ToolCallEnvelope)
    assert "tok_" not in str(examined.envelope.to_json())
    claim = make_claim(RUN, TENANT, "agent:contextos/support-refund@1.2.0", ("tools:read",))
    assert examined.envelope.auth_ref == f"claim_hash:{claim.claim_hash}"


def test_a_session_that_nobody_renews_is_escalated(tmp_path: Path) -> None:
    pack = put(read_pack(), "pack_meta/environment_defaults/heartbeat_ttl_ms", 1000)
    request = {**read_example("request.json"), "mode": "long_running"}
    late = lambda _run: NOW - timedelta(days=1)  # noqa: E731 - a port, in one line
    with pytest.raises(Exception, match="renewed"):
        _run_loop(tmp_path, request=request, registry=make_registry(pack), heartbeat=late)
    assert GATE == "gate"


def test_only_a_long_run_has_to_be_renewed(tmp_path: Path) -> None:
    pack = put(read_pack(), "pack_meta/environment_defaults/heartbeat_ttl_ms", 1000)
    late = lambda _run: NOW - timedelta(days=1)  # noqa: E731 - a port, in one line
    stop = _run_loop(tmp_path, registry=make_registry(pack), heartbeat=late)
    assert [gate.node for gate in stop.gates] == [GATE]


@pytest.mark.parametrize("name", ["heartbeat_ttl_ms", "max_session_duration_ms"])
def test_the_stricter_pack_says_how_long_a_session_lasts(tmp_path: Path, name: str) -> None:
    other = put(read_pack(), "pack_meta/pack_id", "ctxpack.other")
    for layer in (
        "policy_layer/bundles",
        "policy_layer/permissions",
        "evaluation_layer/evaluators",
    ):
        other = put(other, layer, [])
    other = put(other, f"pack_meta/environment_defaults/{name}", 1000)
    strict = ContextPack.read(other)
    request = {**read_example("request.json"), "mode": "long_running"}
    request["context_pack_refs"] = [*request["context_pack_refs"], strict.ref]
    moments = (NOW + timedelta(hours=number) for number in itertools.count())
    with pytest.raises(Exception, match="session"):
        _run_loop(
            tmp_path, request=request, registry=make_registry(None, strict),
            heartbeat=lambda _run: NOW, clock=lambda: next(moments),
        )  # fmt: skip
