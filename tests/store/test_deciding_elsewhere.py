"""A process that has the database and nothing of a flow's host takes decisions; whoever has the rest goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cinatra_sdk import (
    AnswerInvalid,
    Decision,
    FlowChanged,
    NotConfigured,
    RunStore,
)
from cinatra_sdk.governance import Governance, GovernancePorts
from cinatra_sdk.governed.approval_policy import policy_hash
from graphs.orchestrator_v1 import POLICY, lend
from graphs.orchestrator_v1 import flow as orchestrator
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, port, start, tool
from tests.governance.test_flows import FLOW as GOVERNED
from tests.governance.test_flows import GATED, make_small_pack
from tests.store.graph_worker import INPUT

ANN = Decision.approve(by="ann")
TOOLS = compile_flow(
    flow_of(
        start(port("x", default="1")),
        gate("ok"),
        tool("post", "post", [port("x")], [port("y")]),
        end(port("y")),
        edges=[("start", "x", "post", "x"), ("post", "y", "end", "y")],
    ),
    tools={"post": lambda x: f"sent {x}"},
)
PLACEHOLDER = compile_flow(
    flow_of(start(), gate("ok"), api("send", url="https://{{CRM}}/x"), end()),
    env={"CRM": "crm.example"},
)
SHAPED = compile_flow(
    flow_of(start(port("to"), required=["to"]), gate("ok"), tool("post", "post", [], []), end()),
    tools={"post": lambda: None},
)


@pytest.fixture
def elsewhere(fresh_database: str) -> Iterator[RunStore]:
    """A store of a process that lends nothing."""
    with RunStore.open(fresh_database) as opened:
        yield opened


def begin(dsn: str, flow: Any, inputs: Any = None) -> str:
    with RunStore.open(dsn) as store:
        return store.start(flow, inputs or {}, "r1", by="bob").waiting[0].id


def test_an_approval_needs_no_tools_and_whoever_has_them_goes_on(
    fresh_database: str, elsewhere: RunStore
) -> None:
    begin(fresh_database, TOOLS)
    run = elsewhere.decide("r1", "ok", ANN)
    assert (run.status, run.waiting) == ("waiting", ())
    (kept,) = elsewhere.decisions("r1")
    with RunStore.open(fresh_database) as owner:
        done = owner.work("r1", flow=TOOLS)
        assert done.outputs == {"y": "sent 1"}
        owner.start(TOOLS, run_id="r2")
        owner.answer("r2", "ok", ANN, flow=TOOLS)
        assert owner.decisions("r2")[0].policy_sha256 == kept.policy_sha256 != ""


def test_an_answer_still_needs_them_and_writes_nothing_without(
    fresh_database: str, elsewhere: RunStore
) -> None:
    """The control: what goes on with the run here is refused before it is decided."""
    begin(fresh_database, TOOLS)
    with pytest.raises(NotConfigured):
        elsewhere.answer("r1", "ok", ANN)
    assert elsewhere.decisions("r1") == []
    elsewhere.decide("r1", "ok", ANN)
    with pytest.raises(NotConfigured):
        elsewhere.work("r1")
    assert elsewhere.get("r1").status == "waiting"


def test_an_approval_needs_no_values_of_placeholders(
    fresh_database: str, elsewhere: RunStore
) -> None:
    begin(fresh_database, PLACEHOLDER)
    assert elsewhere.decide("r1", "ok", ANN).waiting == ()
    assert elsewhere.decisions("r1")[0].policy_sha256 != ""


def test_an_approval_needs_no_code_of_a_hand_written_graph(
    fresh_database: str, elsewhere: RunStore
) -> None:
    gate_id = begin(fresh_database, orchestrator, INPUT)
    assert elsewhere.decide("r1", gate_id, ANN).waiting == ()
    (kept,) = elsewhere.decisions("r1")
    assert kept.policy_sha256 == policy_hash(POLICY), "the gate's row has it"
    with RunStore.open(fresh_database, host=lend()) as owner:
        assert [gate.id for gate in owner.work("r1").waiting] != [gate_id]


def test_the_form_of_the_answer_is_checked_all_the_same(
    fresh_database: str, elsewhere: RunStore
) -> None:
    setup = begin(fresh_database, SHAPED)
    with pytest.raises(AnswerInvalid, match="a number"):
        elsewhere.decide("r1", setup, Decision.approve(by="ann", value=7))
    assert elsewhere.decisions("r1") == []
    run = elsewhere.decide("r1", setup, Decision.approve(by="ann", value="bob"))
    assert run.input == {"to": "bob"}


def test_another_flow_is_refused_as_before(fresh_database: str, elsewhere: RunStore) -> None:
    begin(fresh_database, TOOLS)
    with pytest.raises(FlowChanged):
        elsewhere.decide("r1", "ok", ANN, flow=PLACEHOLDER)
    assert elsewhere.decisions("r1") == []


def test_a_role_that_nobody_here_knows_is_no_approval(
    fresh_database: str, elsewhere: RunStore
) -> None:
    """A rule of a pack that this process cannot ask does not let anybody through."""
    raw = make_small_pack(GATED).to_json()
    raw["policy_layer"]["approval_gates"][0]["required_approver_role"] = "lead"
    pack = type(make_small_pack()).read(raw)
    ports = GovernancePorts(roles_of=lambda _tenant, person: {"lead"} if person == "ann" else ())
    governed = compile_flow(GOVERNED, governance=Governance.of(pack, ports=ports))
    gate_id = begin(fresh_database, governed, {"to": "bob"})
    with pytest.raises(NotConfigured, match="somebody with the role 'lead'"):
        elsewhere.decide("r1", gate_id, ANN)
    assert elsewhere.decisions("r1") == []
    with RunStore.open(fresh_database) as owner:
        with pytest.raises(AnswerInvalid, match="role 'lead'"):
            owner.decide("r1", gate_id, Decision.approve(by="eve"), flow=governed)
        owner.decide("r1", gate_id, ANN, flow=governed)
    assert [one.decided_by for one in elsewhere.decisions("r1")] == ["ann"]
