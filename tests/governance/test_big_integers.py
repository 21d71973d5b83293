"""Integers that canonical JSON cannot hold: a run that meets one goes on, and its record holds."""

from __future__ import annotations

import random
from typing import Any

import pytest
import rfc8785

from cinatra_sdk import Decision, HostParts, RunStore, SimulatedPlatform
from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.governance.contracts.plans import Plan
from cinatra_sdk.governance.contracts.record_format import (
    canonical_json,
    find_inexact,
    spell_integers,
)
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.packs.pack_registry import MemoryRegistry
from cinatra_sdk.governance.records.replay import replay
from cinatra_sdk.governance.records.verifier import find_problems
from cinatra_sdk.governance.run.evidence import freeze_evidence
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from oas_compiler import compile_flow
from tests.effort import tries
from tests.flows import api, end, flow_of, start
from tests.governance.small_pack import make_small_pack

BIG = 2**60
ID = {"title": "id", "type": "integer"}
FLOW = flow_of(
    start(ID), api("send", outputs=[ID], data={"id": "{{id}}", "fixed": BIG}, inputs=[ID]), end(ID),
    edges=[("start", "id", "send", "id"), ("send", "id", "end", "id")],
)  # fmt: skip


@pytest.mark.parametrize("gated", [False, True])
def test_a_run_with_an_integer_of_64_bit_is_recorded(fresh_database: str, *, gated: bool) -> None:
    rules = [{"rule_id": "R1", "then": {"requires_approval_gate": "G"}}] if gated else []
    pack = make_small_pack(rules)
    governance = Governance.of(pack)
    platform = SimulatedPlatform({"send": {"id": BIG + 1}})
    flow = compile_flow(FLOW, governance=governance, platform=platform)
    with RunStore.open(fresh_database, host=HostParts(governance=governance)) as store:
        run = store.start(flow, {"id": BIG})
        if gated:
            run = store.answer(run.id, run.waiting[0].id, Decision.approve(by="ann"))
        assert (run.status, run.outputs) == ("completed", {"id": BIG + 1})
        records = DecisionRecords(store.database)
        lines = list(records.export(run_id=run.id, transcripts=True))
        assert list(find_problems(lines, {})) == []
        last = records.get(records.page(run_id=run.id).items[0].record.record_id)
        assert last.record.to_json()["outputs"] == {"id": str(BIG + 1)}
        (call,) = last.transcript["calls"]
        assert call["call"]["args"]["fixed"] == str(BIG)
        registry = MemoryRegistry([pack])
        assert replay(last.record, last.transcript, registry=registry).differences == ()


def test_an_approval_tells_the_integer_from_its_digits() -> None:
    made = {
        freeze_evidence("a.b", {"id": given}, [], mode="network")
        for given in (BIG, BIG + 1, str(BIG), str(BIG + 1))
    }
    assert len(made) == 4


def test_a_contract_names_the_place_of_such_an_integer() -> None:
    step = {"id": "s1", "tool": "a.b", "params": {"ids": [1, BIG]}, "approval_mode": "read_only"}
    with pytest.raises(GovernanceRefused, match="/steps/0/params/ids/1 is an integer beyond"):
        Plan.read({"steps": [step]})


def test_the_fast_way_writes_what_the_library_writes() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    refused = 0
    for _ in range(tries(3_000, 100_000)):
        value = make_value(dice, 4)
        try:
            expected = rfc8785.dumps(value)
        except (rfc8785.CanonicalizationError, UnicodeError):
            refused += 1
            with pytest.raises(ValueRefused):
                canonical_json(value)
        else:
            assert canonical_json(value) == expected
            assert find_inexact(value) is None
            assert spell_integers(value) == value
    assert refused, "the control: some values have no canonical JSON"


LETTERS = [
    "a",
    "é",
    "\u2028",
    "\x1f",
    "\x7f",
    '"',
    "\\",
    "\ue000",
    "\uffff",
    "\U0001f600",
    "\ud800",
]
SCALARS: list[Any] = [
    None, True, False, 0, -1, 2**53 - 1, -(2**53) + 1, 2**53, -BIG, 1.0, 0.1, -0.0, 1e21, 1e-7, float("nan"),
]  # fmt: skip


def make_value(dice: random.Random, depth: int) -> Any:
    kind = dice.randrange(3 if depth else 2)
    if kind == 0:
        return dice.choice(SCALARS[:-1] if dice.random() < 0.98 else SCALARS)
    if kind == 1:
        letters = LETTERS[:-1] if dice.random() < 0.98 else LETTERS
        return "".join(dice.choices(letters, k=dice.randrange(4)))
    size = dice.randrange(5)
    if dice.random() < 0.4:
        return [make_value(dice, depth - 1) for _ in range(size)]
    names = ["".join(dice.choices(LETTERS[:-1], k=dice.randrange(3))) for _ in range(size)]
    return {name: make_value(dice, depth - 1) for name in names}
