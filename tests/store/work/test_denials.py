"""A denied call in the store: recorded, not made, and the run goes on."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk import AnswerInvalid, Decision, RunStore
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, port, start, tool

NO = Decision.deny(by="ann", reason="not today")


def mailing(sent: list[str]) -> Any:
    def send(to: str) -> str:
        sent.append(to)
        return f"sent to {to}"

    asking = tool("mail", "send", [port("to")], [port("told")])
    asking["tool"]["requires_confirmation"] = True
    made = flow_of(
        start(port("to", default="bob")), asking, end(port("told")),
        edges=[("start", "to", "mail", "to"), ("mail", "told", "end", "told")],
    )  # fmt: skip
    return compile_flow(made, tools={"send": send})


def test_a_denied_call_is_recorded_and_the_run_goes_on_without_it(fresh_database: str) -> None:
    sent: list[str] = []
    flow = mailing(sent)
    with RunStore.open(fresh_database) as store:
        (asked,) = store.start(flow, run_id="r1").waiting
        assert asked.is_deniable
        run = store.answer("r1", "mail", NO, flow=flow)
        assert (run.status, run.outputs) == (
            "completed",
            {"told": "[Denied by operator] not today"},
        )
        (record,) = store.decisions("r1")
        assert (record.kind, record.decided_by, record.reason) == ("denied", "ann", "not today")
        told = [event for event in store.told("r1") if event.kind == "decision"]
        assert [(event.name, event.path) for event in told] == [("denied", "mail")]
    assert sent == []


def test_a_gate_before_no_call_cannot_be_denied(fresh_database: str) -> None:
    flow = compile_flow(flow_of(start(), gate("ok"), end()))
    with RunStore.open(fresh_database) as store:
        (asked,) = store.start(flow, run_id="r1").waiting
        assert not asked.is_deniable
        with pytest.raises(AnswerInvalid, match="stands before no call"):
            store.decide("r1", "ok", NO)
        assert store.get("r1").status == "waiting"
