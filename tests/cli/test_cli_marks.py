"""Under which mark a node is told: what was rejected did not go well, and what waits is not done."""

from __future__ import annotations

from typing import Any

import pytest
from oasflow_process import Oasflow

from cinatra_sdk import Decision, RunStore
from oas_compiler import compile_flow
from oas_compiler.cli.ask.run_dialogue import Progress
from oas_compiler.cli.terminal.streams import Terminal
from tests.flows import end, flow_node, flow_of, gate, node, port, start


def nested() -> Any:
    first = node("StartNode", "inner_start", inputs=[], cinatra={"required": [], "hidden": []})
    inner = flow_of(first, gate("check"), end(id_="inner_end"), id_="inner-flow")
    return flow_of(start(), flow_node("sub", inner), gate("after"), end())


def marked(text: str) -> list[str]:
    return [
        line.strip() for line in text.splitlines() if line.startswith("  ") and line[2] in "✓✗◆"
    ]


@pytest.fixture
def parked(cli: Any, flow_file: Any) -> Any:
    begun = cli("run", flow_file(nested()), "--simulate", "--run-id", "r1")
    assert marked(begun.stderr) == [
        "✓ The start", "✓ The sub » The inner_start", "◆ The sub » The check  waits for a person",
    ]  # fmt: skip
    return cli


def test_a_rejection_is_told_with_who_where_and_why(parked: Any) -> None:
    rejected = parked("reject", "r1", "--as", "ann", "--reason", "wrong list")
    assert rejected.exit_code == 5
    assert marked(rejected.stderr) == ["✗ The sub » The check  rejected by ann: wrong list"]


def test_a_rejection_without_a_reason_ends_with_who(parked: Any) -> None:
    rejected = parked("reject", "r1", "--as", "ann")
    assert marked(rejected.stderr) == ["✗ The sub » The check  rejected by ann"]


def test_an_approval_is_told_with_who(parked: Any) -> None:
    approved = parked("approve", "r1", "--as", "ann", "--reason", "fine")
    assert marked(approved.stderr) == [
        "✓ The sub » The check  approved by ann", "✓ The sub » The inner_end",
        "◆ The after  waits for a person",
    ]  # fmt: skip


def test_a_setup_gate_that_waits_is_told_once_and_as_waiting(cli: Any, flow_file: Any) -> None:
    flow = flow_of(start(port("topic"), required=["topic"]), gate("ok"), end())
    begun = cli("run", flow_file(flow), "--run-id", "r1")
    assert marked(begun.stderr) == ["◆ The start  waits for a person"]
    answered = cli("answer", "r1", "--value", '{"topic": "x"}', "--as", "ann")
    assert marked(answered.stderr) == [
        "✓ The start  approved by ann",
        "◆ The ok  waits for a person",
    ]


def test_a_setup_gate_that_is_rejected_is_told_as_rejected(cli: Any, flow_file: Any) -> None:
    flow = flow_of(start(port("topic"), required=["topic"]), end())
    cli("run", flow_file(flow), "--run-id", "r1")
    rejected = cli("reject", "r1", "--as", "ann", "--reason", "no")
    assert marked(rejected.stderr) == ["✗ The start  rejected by ann: no"]


def test_whoever_goes_on_after_somebody_elses_rejection_is_told_of_it(
    parked: Any, fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def died(*_arguments: Any, **_named: Any) -> Any:
        raise KeyboardInterrupt

    with RunStore.open(fresh_database) as store, monkeypatch.context() as dying:
        dying.setattr("cinatra_sdk.store.run_store.activate", died)
        with pytest.raises(KeyboardInterrupt):
            store.answer("r1", "sub/check", Decision.reject(by="bob", reason="too late"))
    resumed = parked("resume", "r1")
    assert resumed.exit_code == 5
    assert marked(resumed.stderr) == ["✗ The sub » The check  rejected by bob: too late"]


def test_a_gate_that_the_policy_skips_is_no_persons(
    fresh_database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flow = compile_flow(flow_of(start(), gate("first"), gate("second"), end()))
    waiver = {"steps": [{"stepNumber": 1, "requiresApproval": False}, {"stepNumber": 2, "requiresApproval": True}]}  # fmt: skip
    with RunStore.open(fresh_database) as store:
        watched = Progress(flow.plan, Terminal.open())
        store.start(flow, context=flow.context(approval_policy=waiver), on_event=watched)
    assert marked(capsys.readouterr().err) == [
        "✓ The start", "✓ The first", "◆ The second  waits for a person",
    ]  # fmt: skip


def test_without_unicode_the_marks_are_letters(oasflow: Oasflow, here: Any, flow_file: Any) -> None:
    assert here("run", flow_file(), "--simulate", "--run-id", "r1").code == 3
    rejected = oasflow("reject", "r1", "--as", "ann", PYTHONIOENCODING="ascii")
    assert rejected.code == 5
    assert "\n  x The first  rejected by ann\n" in rejected.err
