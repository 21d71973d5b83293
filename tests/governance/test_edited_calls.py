"""A call that a person edits stands under the rules as it is edited; a call of the rules is not edited."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.flows import end, flow_of, port, start, tool
from tests.governance.small_pack import make_small_pack

GATED = [{"rule_id": "R1", "then": {"requires_approval_gate": "G"}}]
NOT_TO_EVE = [
    {"rule_id": "R2", "if": {"==": [{"var": "args.to"}, "eve"]}, "then": {"allow": False}}
]
EVE = Decision.approve(by="ann", value={"to": "eve"})


def run(rules: Any, *answers: Any, confirmed: bool = True) -> tuple[Any, list[str]]:
    call = tool("send", "send", [port("to")], [port("id")])
    call["tool"]["requires_confirmation"] = confirmed
    flow = flow_of(
        start(port("to")), call, end(port("id")),
        edges=[("start", "to", "send", "to"), ("send", "id", "end", "id")],
    )  # fmt: skip
    made: list[str] = []
    pack = make_small_pack(rules, kind="tool", binds_to="send")
    compiled = compile_flow(
        flow, governance=Governance.of(pack), tools={"send": lambda to: made.append(to) or "m1"}
    )
    return drive(compiled, {"to": "bob"}, answers=list(answers)), made


def test_an_edited_call_is_examined_as_it_is_edited() -> None:
    failed, made = run(NOT_TO_EVE, EVE)
    assert (failed.status, getattr(failed.error, "code", ""), made) == (
        "failed",
        "POLICY_DENIED",
        [],
    )
    done, made = run(NOT_TO_EVE, Decision.approve(by="ann", value={"to": "ada"}))
    assert (done.status, made) == ("completed", ["ada"])


def test_a_rule_shows_the_edited_call_at_its_own_gate_and_it_is_made_so() -> None:
    waiting, made = run(GATED, EVE)
    assert (waiting.status, made) == ("waiting", [])
    assert [gate.values["arguments"] for gate in waiting.gates] == [{"to": "bob"}, {"to": "eve"}]
    done, made = run(GATED, EVE, True)
    assert (done.status, made) == ("completed", ["eve"])


@pytest.mark.parametrize("confirmed", [False, True])
def test_a_call_that_a_rule_has_sent_to_a_gate_is_not_edited(confirmed: bool) -> None:
    with pytest.raises(AnswerInvalid, match=r"gate 'send:G', .*the call of '.*' cannot be edited"):
        run(GATED, *([True] if confirmed else []), EVE, confirmed=confirmed)
