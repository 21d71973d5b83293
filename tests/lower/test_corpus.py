"""Every public Cinatra flow, as it is: compiled, run to its end, rejected at each of its gates."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.errors import PolicyInvalid
from cinatra_sdk.events import RunEvent
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.testing import Result, drive, sampled_inputs, simulation
from oas_compiler import compile_flow

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus" / "cinatra"
FLOWS = sorted(path.parent.parent.name for path in CORPUS.glob("*/cinatra/oas.json"))
ABSENT = "the corpus of public flows is not beside the project"


@cache
def compiled(name: str) -> Any:
    return compile_flow(CORPUS / name)


def to_the_end(name: str, stubs: Any = None) -> Result:
    return drive(compiled(name), answers=lambda gate: gate.example(), stubs=stubs)


def all_gates() -> list[tuple[str, str]]:
    found = []
    for name in FLOWS:
        flow = compiled(name)
        if flow.approval.steps and flow.approval.steps[0].number == 0:
            found.append((name, flow.ir.start))
        found += [(name, gate.path[-1]) for gate in flow.gates]
    return found


def test_the_corpus_is_read_where_it_is_present() -> None:
    if not CORPUS.exists():
        pytest.skip(ABSENT)
    assert len(FLOWS) == 10


@pytest.mark.parametrize("name", FLOWS or [pytest.param("", marks=pytest.mark.skip(reason=ABSENT))])
def test_a_public_flow_runs_to_its_end_through_its_gates(name: str) -> None:
    result = to_the_end(name)
    assert result.status == "completed", result.error
    assert result.branch == "next"
    flow = compiled(name)
    assert result.outputs is not None
    assert list(result.outputs) == [port.title for port in flow.ir.outputs]
    asked = {gate.node for gate in result.gates}
    assert asked == {node for flow_name, node in all_gates() if flow_name == name}


@pytest.mark.parametrize(
    ("name", "node"), all_gates() or [pytest.param("", "", marks=pytest.mark.skip(reason=ABSENT))]
)
def test_a_reject_at_any_gate_stops_the_flow_there(name: str, node: str) -> None:
    flow = compiled(name)
    platform = simulation(flow)
    calls_at: list[int] = []
    begun: list[tuple[str, ...]] = []

    def answer(gate: Gate) -> Any:
        if gate.node != node:
            return gate.example()
        calls_at.append(len(platform.calls))
        begun.clear()
        return False

    def watch(event: RunEvent) -> None:
        if event.name == "started":
            begun.append(event.nodes)

    result = drive(flow, sampled_inputs(flow), answers=answer, platform=platform, on_event=watch)
    assert result.status == "rejected"
    assert (result.outputs, result.branch) == (None, None)
    assert result.gates[-1].node == node
    assert result.decisions[-1]["node"] == node
    assert result.decisions[-1]["approved"] is False
    # After the answer the engine runs the gate again from its top, within its FlowNodes: no more.
    assert calls_at == [len(platform.calls)]
    (at,) = [gate.path for gate in flow.gates if gate.node == node] or [(node,)]
    assert sorted(begun) == [at[:depth] for depth in range(1, len(at) + 1)]


def test_all_public_gates_have_nodes_and_most_have_calls_behind_them_for_a_reject_to_stop() -> None:
    """The control of the test above: approved, these runs go on."""
    if not FLOWS:
        pytest.skip(ABSENT)
    goes_on = [(name, node) for name, node in all_gates() if behind(name, node)[0]]
    calls = [(name, node) for name, node in all_gates() if behind(name, node)[1]]
    assert goes_on == all_gates()
    # Behind these two there is nothing but the end.
    assert set(all_gates()) - set(calls) == (
        {("email-outreach-agent", "sender-approval_gate"), ("reviewer-agent", "approval_gate")}
    )


def behind(name: str, node: str) -> tuple[int, int]:
    """How many other nodes start, and calls are made, after the gate is first approved."""
    flow = compiled(name)
    platform = simulation(flow)
    calls_at: list[int] = []
    begun: list[str] = []

    def answer(gate: Gate) -> Any:
        if gate.node == node and not calls_at:
            calls_at.append(len(platform.calls))
            begun.clear()
        return gate.example()

    def watch(event: RunEvent) -> None:
        if event.name == "started":
            begun.append(event.node)

    drive(flow, sampled_inputs(flow), answers=answer, platform=platform, on_event=watch)
    around = {part for gate in flow.gates if gate.node == node for part in gate.path}
    return len(set(begun) - around - {node}), len(platform.calls) - calls_at[0]


def test_a_policy_without_an_entry_for_the_gate_of_a_test_send_refuses_to_start() -> None:
    if not FLOWS:
        pytest.skip(ABSENT)
    flow = compiled("email-test-delivery-agent")
    (gate,) = flow.gates
    assert (gate.node, gate.step, gate.risk) == ("test_form_gate", 1, "test_send")
    assert (1, "test_form_gate", "test_form_gate") in flow.approval.guards
    with pytest.raises(PolicyInvalid, match="no entry for step 1"):
        flow.check_policy({"steps": []})


def test_outreach_asks_at_its_gates_under_the_steps_of_its_policy() -> None:
    if not FLOWS:
        pytest.skip(ABSENT)
    result = to_the_end("email-outreach-agent")
    assert [(gate.node, gate.step) for gate in result.gates] == [
        ("setup_gate", 1),
        ("recipients-scope_gate", 2),
        ("recipients-review_gate", 3),
        ("skills-recommend_gate", 4),
        ("ctx-offeringContext-context_select_gate", 5),
        ("drafts-data_gate", 6),
        ("drafts-approval_gate", 6),
        ("sender-approval_gate", 7),
    ]
    assert [call.node for call in result.calls] == [
        "context_setup",
        "recipients-generate",
        "ctx-offeringContext-resolve_context",
        "ctx-offeringContext-finalize_interactive",
        "drafts-draft",
        "sender-send",
    ]


def test_outreach_shows_the_context_candidates_of_the_message_before_its_gate() -> None:
    if not FLOWS:
        pytest.skip(ABSENT)
    candidates = [{"artifactId": "a1", "title": "Brand"}]
    stubs = {"/api/context-resolve": {"candidates": candidates, "slotMeta": {"maxItems": 5}}}
    result = to_the_end("email-outreach-agent", stubs)
    (gate,) = [g for g in result.gates if g.node == "ctx-offeringContext-context_select_gate"]
    assert gate.values["candidates"] == candidates
    assert gate.values["slotMeta"] == {"maxItems": 5}
    assert gate.values["selectedRefs"] == []
    assert gate.renderer == "@cinatra-ai/context-selection-agent:context-selector"


def test_the_re_entrant_test_form_shows_the_result_of_the_send_at_its_second_visit() -> None:
    if not FLOWS:
        pytest.skip(ABSENT)
    sent = {"lastSendResult": {"ok": True}, "gateCycle": 1, "recipientEmail": "a@example.com"}
    stubs = {
        "parse_action": [{"action": "send"}, {"action": "continue"}],
        "perform_test_send": sent,
    }
    result = to_the_end("email-test-delivery-agent", stubs)
    first, second = result.gates
    assert first.values["lastSendResult"] is None
    assert first.values["gateCycle"] == 0
    assert first.values["defaultSpecificInitialDraftIds"] == []
    assert second.id == "test_form_gate#2"
    assert second.values["lastSendResult"] == {"ok": True}
    assert second.values["gateCycle"] == 1
    assert second.values["defaultRecipientEmail"] == "a@example.com"
