"""Thousands of made-up runs: nothing is done without surface, permission, mode, delegation, gate and budget.

Each run has a pack that was put together at random, and calls that were, too.  Whether a call may be made
is worked out here from how the pack was put together, and never from the code under test.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk import host_context
from cinatra_sdk.activations import advance
from cinatra_sdk.errors import NodeFailed
from cinatra_sdk.governance.contracts.decision_record import DecisionRecord
from cinatra_sdk.governance.contracts.invocation import AgentIdentity, UserClaims
from cinatra_sdk.governance.contracts.record_format import MODES, rank
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.call_proposal import GovernedCall
from cinatra_sdk.governance.gateway.delegation import narrow
from cinatra_sdk.governance.gateway.gateway import GateApproval
from cinatra_sdk.governance.run.budgets import RunUsage, Used
from cinatra_sdk.governance.run.evidence import Evidence
from graphs.governed_run import build_graph
from tests.effort import tries
from tests.governance.packs import (
    TENANT,
    USER,
    admit_example,
    make_gateway,
    make_ports,
    make_registry,
    put,
    read_example,
    read_pack,
)
from tests.governance.refund import lend_refund

RUNS = 2_000


@dataclass
class World:
    """A pack that was put together at random, and what follows from how."""

    rng: random.Random
    mode: Any = ""
    safety: Any = ""
    declared: bool = True
    permitted: bool = True
    forbidden: bool = False
    denied: bool = False
    prohibited: bool = False
    gated: bool = False
    scope: str | None = None
    delegated: bool = True
    alive: bool = True
    evidence: bool = False
    most: int = 3
    seen: list[str] = field(default_factory=list)

    @classmethod
    def make(cls, rng: random.Random) -> World:
        often = lambda chance: rng.random() < chance  # noqa: E731 - a draw, in one line
        return cls(
            rng, mode=rng.choice(MODES), safety=rng.choice(MODES), declared=often(0.9),
            permitted=often(0.9), forbidden=often(0.1), denied=often(0.1), prohibited=often(0.1),
            gated=often(0.5), scope=rng.choice([None, "payments.refund", "held.by.nobody"]),
            delegated=often(0.8), alive=often(0.8), evidence=often(0.3), most=rng.randint(0, 4),
        )  # fmt: skip

    def pack(self) -> dict[str, Any]:
        permissions = [
            {"permission_id": "P0", "adapter_id": "a", "capability": "other", "allow": True}
        ]
        if self.permitted:
            permissions.append(
                {"permission_id": "P1", "adapter_id": "a", "capability": "act", "allow": True,
                 "scopes": [self.scope] if self.scope else []}
            )  # fmt: skip
        if self.forbidden:
            permissions.append(
                {"permission_id": "P2", "adapter_id": "a", "capability": "*", "allow": False}
            )
        then: dict[str, Any] = {}
        if self.evidence:
            then["requires"] = ["tool:a.other"]
        if self.denied:
            then["allow"] = False
        if self.gated:
            then["requires_approval_gate"] = "G"
        rules: list[dict[str, Any]] = []
        if then:  # a rule from which nothing follows is refused with its pack
            about_act = {"capabilities": ["a.act"]}
            rules.append({"rule_id": "R1", "applies_to": about_act, "then": then})
        if self.prohibited:
            rules.append({"rule_id": "R2", "then": {"prohibits": ["a.act"]}})
        capabilities = ["other", "act"]
        made = put(read_pack(), "policy_layer", {
            "bundles": [{"bundle_id": "B", "policy_dsl": {"language": "jsonlogic", "rules": rules}}],
            "permissions": permissions, "approval_gates": [{"gate_id": "G"}],
        })  # fmt: skip
        about = {"act": {"approval_mode": self.mode}, "other": {"approval_mode": "read_only"}}
        adapter = {
            "adapter_id": "a", "type": "tool", "capabilities": capabilities,
            "approval_mode": "destructive", "capability_metadata": about,
        }  # fmt: skip
        made = put(made, "tooling_layer", {"adapters": [adapter]})
        made = put(made, "pack_meta/environment_defaults/safety_mode", self.safety)
        budget = "pack_meta/environment_defaults/run_budget/max_tool_calls"
        return put(made, budget, self.most)

    def may(self, made: int, approved: bool, evidence: bool) -> bool:
        """Whether one more call may be made, by how the pack was put together."""
        writes = self.mode != "read_only"
        surfaced = self.declared and self.permitted and not self.forbidden
        # Scopes that a request brings hold where the host keeps its delegation.
        scoped = self.scope is None or (self.scope == "payments.refund" and self.delegated)
        on_behalf = rank(self.mode) < rank("delegated") or (self.delegated and self.alive)
        asked = self.gated or False
        lifted = rank(self.mode) <= rank(self.safety) or asked
        return (
            surfaced and scoped and on_behalf and lifted and made < self.most
            and not self.denied and not self.prohibited
            and (approved or not asked) and (evidence or not self.evidence)
            and (writes or True)
        )  # fmt: skip


def _try_calls(world: World) -> tuple[int, int]:
    """Several calls of one run; gives how many were made and how many were not."""
    rng = world.rng
    ports = make_ports(
        delegation_for=(lambda user, _d: f"tok_{user}") if world.delegated else None,
        delegation_holds=lambda _user, _d: world.alive,
    )
    usage = RunUsage()
    gateway = make_gateway(world.pack(), ports, usage=usage)
    recorded: dict[str, Evidence] = {}
    made = refused = 0
    for number in range(rng.randint(1, 5)):
        args = {"n": rng.randint(0, 9)}
        call = GovernedCall(
            capability_id="a.act" if world.declared else "a.unknown",
            args=args, tool_call_id=f"c{number}", idempotency_key=f"k{number}",
            mode_requested=world.mode,
        )  # fmt: skip
        examined = gateway.examine(call, recorded)
        changed = rng.random() < 0.3
        shown = gateway.examine(
            GovernedCall(**{**_fields(call), "args": {"n": 100}}) if changed else call, recorded
        )
        asked = bool(examined.gates)
        approved = asked and not changed and rng.random() < 0.8
        given = (
            [
                GateApproval(gate_id=g, approver="x", snapshot_hash=shown.snapshot_hash)
                for g in shown.gates
            ]
            if approved or changed
            else []
        )
        try:
            gateway.redeem(examined, given)
        except GovernanceRefused:
            was_made = False
        else:
            was_made = True
        expected = world.may(made, approved, bool(recorded))
        assert was_made == expected, (world, number, examined.refusal, approved, changed)
        made, refused = made + was_made, refused + (not was_made)
        assert usage.read().tool_calls == made <= world.most
        if rng.random() < 0.3:
            recorded["tool:a.other:o"] = Evidence("tool:a.other:o", "sha256:" + "1" * 64)
    return made, refused


def _fields(call: GovernedCall) -> dict[str, Any]:
    return {name: getattr(call, name) for name in call.__dataclass_fields__}


def test_no_effect_without_everything_that_it_needs() -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    made = refused = 0
    for _ in range(RUNS):
        done, not_done = _try_calls(World.make(rng))
        made, refused = made + done, refused + not_done
    assert made > 100, "the control: some calls are made"
    assert refused > 1_000, "the control: most are not"


def test_a_run_that_forgets_one_rule_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the test above: without the prohibition, it fails."""
    monkeypatch.setattr(World, "may", lambda *_: True)

    def try_many() -> None:
        for seed in range(50):
            _try_calls(World.make(random.Random(seed)))

    with pytest.raises(AssertionError):
        try_many()


def test_scopes_budgets_and_modes_never_widen_through_children() -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    scopes = ["orders.read", "payments.refund", "tools:read", "held.by.nobody"]
    narrowed = refused = 0
    codes: set[str] = set()
    for _ in range(RUNS):
        run, depth = admit_example().run if narrowed % 50 == 0 else _ROOT, 0
        while depth < rng.randint(1, 5):
            depth += 1
            asked = rng.sample(scopes, rng.randint(0, 3))
            used = Used(tool_calls=rng.randint(0, 3), tokens=rng.randint(0, 5000))
            budget = run.run_budget.model_copy(
                update={"max_tool_calls": rng.randint(0, run.run_budget.max_tool_calls + 1)}
            )
            mode = rng.choice([None, *MODES])
            child = AgentIdentity(
                agent_id=f"c{depth}", agent_urn=f"agent:acme/c{depth}@1.0.0",
                workload_identity=f"spiffe://acme/c{depth}",
            )  # fmt: skip
            try:
                made = narrow(
                    run, child, run_id=f"r{depth}", scopes=asked, used=used,
                    budget=rng.choice([None, budget]), safety_mode=mode,
                )  # fmt: skip
            except GovernanceRefused as error:
                codes.add(error.code)
                refused += 1
                break
            assert _scopes(made) <= _scopes(run)
            assert rank(made.safety_mode) <= rank(run.safety_mode)
            assert made.tenant_id == run.tenant_id
            for name in ("total_tokens", "max_tool_calls", "max_cost_cents", "wall_clock_ms"):
                assert getattr(made.run_budget, name) <= getattr(run.run_budget, name)
            assert (made.agent.principal_chain or ())[:-1] == run.agent.principal_chain
            run, narrowed = made, narrowed + 1
    assert codes == {"DELEGATION_WIDENS"}
    assert narrowed > 500
    assert refused > 100


_ROOT = admit_example().run


def _scopes(run: Any) -> set[str]:
    delegation, claim = run.user.delegation, run.agent.identity_claim
    return {*(delegation.scopes if delegation else ()), *(claim.scopes if claim else ())}


def test_a_record_breaks_with_every_changed_byte() -> None:
    sample = read_record()
    record = DecisionRecord.read(sample).sealed()
    assert record.is_intact
    text = json.dumps(record.to_json(), ensure_ascii=False)
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    looked = 0
    for place in rng.sample(range(len(text)), min(len(text), tries(600, len(text)))):
        changed = text[:place] + chr((ord(text[place]) + 1) % 127 or 1) + text[place + 1 :]
        try:
            other = DecisionRecord.read_json_text(changed)
        except GovernanceRefused:
            continue  # no record any more
        looked += 1
        assert not other.is_intact or other == record, place
    assert looked > 100, "the control: most changes leave a record"


def read_record() -> dict[str, Any]:
    file = Path(__file__).parent / "samples" / "decision_record.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


# ------------------------------------------------------------------ the whole loop


def test_whole_loops_never_refund_what_nobody_approved(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    paid = stopped = 0
    for number in range(tries(25, 2_000)):
        ledger = tmp_path / f"refunds-{number}"
        amount, limit = rng.choice([900, 2000, 2001, 4200]), rng.choice([0, 2000, 10_000])
        verified, answer = (
            rng.random() < 0.8,
            rng.choice(["approve", "reject", "deny", "wrong", "none"]),
        )
        calls = rng.randint(0, 8)
        pack = put(
            read_pack(), "policy_layer/bundles/0/policy_dsl/rules/2/if",
            {">": [{"var": "args.amount_inr"}, limit]},
        )  # fmt: skip
        pack = put(pack, "pack_meta/environment_defaults/run_budget/max_tool_calls", calls)
        plan = read_example("plan.json")
        plan = put(plan, "steps/2/params/amount_inr", amount)
        request = put(read_example("request.json"), "input/context/identity_verified", True)
        user = UserClaims.read({"user_id": USER, "identity_verified": verified})
        parts = lend_refund(ledger, registry=make_registry(pack), plans=[plan], user=user)
        graph = build_graph(parts, InMemorySaver())
        answers = iter(_answers(answer))
        code = _drive(graph, request, f"r{number}", answers)
        # A run that may plan no more ends with the cause, which here is a person's or a rule's no.
        ends = {
            "",
            "BUDGET_EXCEEDED",
            "MODE_EXCEEDS_SAFETY",
            "GATE_REJECTED",
            "POLICY_DENIED",
            "PLAN_REFUSED",
        }
        assert code in ends, code
        gated = amount > limit
        # Above the safety mode of the pack (delegated), only an approved gate lifts a refund.
        allowed = verified and calls >= 3 and gated and answer in ("approve", "wrong")
        was_paid = ledger.exists()
        assert was_paid == allowed, (number, amount, limit, verified, answer, calls)
        paid, stopped = paid + was_paid, stopped + (not was_paid)
    assert stopped > 0


def _drive(graph: Any, request: dict[str, Any], run: str, answers: Iterator[Any]) -> str:
    """The code of the error with which the run was escalated; empty where it was not."""
    try:
        advance(
            graph, {"request": request}, {"configurable": {"thread_id": run}},
            context=host_context(run_id=run, tenant=TENANT),
            answer=lambda _gate: next(answers, None),
        )  # fmt: skip
    except NodeFailed as error:
        return error.code
    return ""


def _answers(answer: str) -> list[dict[str, Any]]:
    lead, nobody = "user_finance_lead_77", "somebody"
    return {
        "approve": [{"approved": True, "by": lead}],
        "reject": [{"approved": False, "by": lead}],
        "deny": [{"approved": False, "denied": True, "by": lead}] * 3,
        # Somebody without the role is asked again, and finance answers then.
        "wrong": [{"approved": True, "by": nobody}, {"approved": True, "by": lead}],
        "none": [],
    }[answer]
