"""Members that redaction rules name stand in no record: not in calls, plans, outputs, proposals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cinatra_sdk import Decision, HostParts, RunStore, SimulatedPlatform
from cinatra_sdk.governance.contracts.context_pack import ContextPack
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.records.replay import replay
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from cinatra_sdk.store.evidence.memory_proposals import MemoryProposals
from oas_compiler import compile_flow
from tests.governance.packs import make_registry, put, read_example, read_pack
from tests.governance.refund import FINANCE, TENANT, lend_refund, request
from tests.governance.small_pack import make_small_pack
from tests.governance.test_flows import FLOW

PLACE = "policy_layer/guardrails"


def rule(*names: str) -> dict[str, Any]:
    return {"redaction_rules": [{"rule_id": "X", "fields": list(names)}]}


def test_of_a_plan_and_its_outputs(fresh_database: str, tmp_path: Path) -> None:
    names = ("order_id", "transaction_id", "idempotency_key")
    registry = make_registry(put(read_pack(), PLACE, rule(*names)))
    params = read_example("plan.json")["steps"][-1]["params"]
    hidden = ("txn_1", params["idempotency_key"])
    parts = lend_refund(tmp_path / "refunds", registry=registry)
    with RunStore.open(fresh_database, host=parts) as store:
        run = store.start(parts.graphs[0], {"request": request()}, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
        done = store.answer(run.id, "gate", Decision.approve(by=FINANCE))
        assert done.status == "completed", done.error
        records = DecisionRecords(store.database)
        last = records.get(records.page(run_id=run.id).items[0].record.record_id)
        assert last.record.outputs["transaction_id"] == "[redacted]"
        (*_, step) = last.transcript["plan"]["steps"]
        assert {step["params"][one] for one in names if one in step["params"]} == {"[redacted]"}
        proposals = MemoryProposals(store.database).list_open()
        assert proposals, "the run proposes something"
        kept = [last.record.to_json()["outputs"], last.transcript["plan"]]
        kept += [one.proposal.to_json()["candidate"]["value"] for one in proposals]
        assert [word for word in hidden if word in json.dumps(kept)] == []
        assert replay(last.record, last.transcript, registry=registry).differences == ()


def test_of_the_outputs_of_a_flow(fresh_database: str) -> None:
    governance = Governance.of(
        ContextPack.read(put(make_small_pack().to_json(), PLACE, rule("id")))
    )
    platform = SimulatedPlatform(stubs={"send": {"id": "m1-hidden"}})
    flow = compile_flow(FLOW, governance=governance, platform=platform)
    host = HostParts(platform=platform, governance=governance)
    with RunStore.open(fresh_database, host=host) as store:
        run = store.start(flow, {"to": "bob"}, tenant="acme")
        assert run.outputs == {"id": "m1-hidden"}, "the run itself gives it to whoever may read it"
        text = "\n".join(DecisionRecords(store.database).export(run_id=run.id, transcripts=True))
        assert '"id": "[redacted]"' in text or '"id":"[redacted]"' in text
        assert "m1-hidden" not in text
