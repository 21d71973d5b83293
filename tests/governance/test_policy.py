"""The strictest word wins: undecided rules restrict and never loosen, and no approval passes a refusal."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.gateway import GateApproval
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.packs.pack_policy import decide
from cinatra_sdk.governance.packs.rulebook import make_rulebook
from cinatra_sdk.langgraph_threads.host_context import host_context
from cinatra_sdk.outside.effects.door import Verdict
from cinatra_sdk.testing import adrive, drive
from oas_compiler import compile_flow
from tests.governance.packs import RECORDED, make_gateway, make_refund
from tests.governance.small_pack import make_small_pack
from tests.governance.test_flows import FLOW, GATED

UNDECIDED = {">": [{"var": "context.nothing"}, 1]}
MET: Any = True


def rule(name: str, condition: Any, mode: str) -> dict[str, Any]:
    return {"rule_id": name, "if": condition, "then": {"approval_mode": mode}}


@pytest.mark.parametrize(
    ("rules", "mode"),
    [
        ([], "delegated"),
        ([rule("A", MET, "read_only")], "read_only"),
        ([rule("A", UNDECIDED, "read_only")], "delegated"),
        ([rule("A", UNDECIDED, "destructive")], "destructive"),
        ([rule("A", MET, "read_only"), rule("B", UNDECIDED, "network")], "network"),
        ([rule("A", MET, "network"), rule("B", UNDECIDED, "local_write")], "network"),
        ([rule("A", MET, "local_write"), rule("B", MET, "network")], "network"),
        ([rule("A", UNDECIDED, "read_only"), rule("B", UNDECIDED, "local_write")], "delegated"),
        ([rule("A", False, "read_only")], "delegated"),
    ],
)
def test_the_mode_of_a_call(rules: list[dict[str, Any]], mode: str) -> None:
    """The capability is declared as delegated."""
    book = make_rulebook([make_small_pack(rules, mode="delegated")])
    declared = book.capabilities["mail.send"]
    facts = {"capability": "mail.send", "intent": "x", "args": {}, "context": {}}
    assert decide(book, declared, facts)[0].effective_approval_mode == mode


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"args": {**make_refund().args, "amount_inr": 60_000}}, "ARGUMENTS_INVALID"),
        ({"mode_requested": "read_only", "idempotency_key": None}, "IDEMPOTENCY_KEY_REQUIRED"),
        ({"evidence_refs": ()}, "EVIDENCE_MISSING"),
    ],
)
def test_an_approval_passes_no_call_that_is_refused(changed: dict[str, Any], code: str) -> None:
    gateway = make_gateway()
    good = gateway.examine(make_refund(), RECORDED)
    examined = gateway.examine(make_refund(**changed), RECORDED)
    assert examined.refusal is not None
    for snapshot in (good.snapshot_hash, examined.snapshot_hash):
        given = [GateApproval(gate_id=name, approver="lead", snapshot_hash=snapshot) for name in examined.gates]  # fmt: skip
        forged = replace(examined, snapshot_hash=snapshot)
        with pytest.raises(GovernanceRefused) as caught:
            gateway.redeem(forged, given)
        assert caught.value.code == code
    assert gateway.usage.read().tool_calls == 0, "nothing was counted"


@pytest.mark.parametrize("later", [False, True])
def test_an_approval_is_no_word_of_the_host(later: bool) -> None:
    flow = compile_flow(FLOW, governance=Governance.of(make_small_pack(GATED)))
    asked: list[str] = []

    def refuse(effect: Any) -> Verdict:
        asked.append(effect.capability)
        return Verdict.refuse("not today")

    def go(answers: Any) -> Any:
        context = host_context(run_id="r1", allow=refuse)
        given: dict[str, Any] = {
            "answers": answers,
            "context": context,
            "stubs": {"send": {"id": "m"}},
        }
        return asyncio.run(adrive(flow, {"to": "bob"}, **given)) if later else drive(flow, {"to": "bob"}, **given)  # fmt: skip

    assert (go(None).status, asked) == ("waiting", []), "a person first, as the rules ask for one"
    refused = go([True])
    assert (refused.status, refused.calls, len(asked)) == ("failed", (), 1)
    assert "not today" in str(refused.error)
