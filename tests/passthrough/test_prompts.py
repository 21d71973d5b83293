"""`agent_run_hitl_prompts_list`: what people answered, and nobody else."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.host.passthrough import host_tools
from cinatra_sdk.host.passthrough.host_tools import prompts_tool
from cinatra_sdk.host.passthrough.passthrough_route import NamedCall
from cinatra_sdk.outside.routes import RunOwner
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, start


def list_prompts(store: RunStore) -> Any:
    owner = RunOwner(run_id="r1", tenant="o1")
    return prompts_tool(store.database).run(NamedCall(tool="list", owner=owner))


def answered(store: RunStore) -> None:
    flow = compile_flow(flow_of(start(), gate("skipped"), gate("first"), gate("second"), end()))
    waiver = {
        "steps": [
            {"stepNumber": 1, "requiresApproval": False},
            {"stepNumber": 2, "requiresApproval": True},
            {"stepNumber": 3, "requiresApproval": True},
        ]
    }
    run = store.start(flow, run_id="r1", context=flow.context(approval_policy=waiver))
    for reason in ("Shorter", "Fine"):
        run = store.answer("r1", run.waiting[0].id, Decision.approve(by="ann", reason=reason))


def test_what_the_policy_skipped_is_no_answer_of_a_person(fresh_database: str) -> None:
    with RunStore.open(fresh_database) as store:
        answered(store)
        listed = list_prompts(store)
    told = [(one["stepKey"], one["message"], one["decidedBy"]) for one in listed["prompts"]]
    assert told == [("first", "Shorter", "ann"), ("second", "Fine", "ann")]
    assert "leftOut" not in listed


def test_of_many_answers_the_last_are_listed_and_the_others_counted(
    fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_tools, "MOST_LISTED", 1)
    with RunStore.open(fresh_database) as store:
        answered(store)
        listed = list_prompts(store)
    assert [one["message"] for one in listed["prompts"]] == ["Fine"]
    assert listed["leftOut"] == 1
