"""A client of a graph server, who holds threads and no host: it writes approvals, records and turns."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk import SimulatedPlatform
from cinatra_sdk.activations import advance
from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.langgraph_threads.host_context import host_context
from graphs.governed_run import build_graph
from oas_compiler import compile_flow
from tests.governance.packs import TENANT
from tests.governance.refund import count_refunds, lend_refund, request
from tests.governance.small_pack import make_small_pack
from tests.governance.test_flows import FLOW, GATED


class Told(SimulatedPlatform):
    """Counts what is sent."""

    def __init__(self) -> None:
        super().__init__({"send": {"id": "m1"}})
        self.sent = 0

    def call(self, call: Any) -> Any:
        self.sent += 1
        return super().call(call)


def approve(record: Any) -> dict[str, Any]:
    """The node's own record, as it would be after the approval."""
    made = copy.deepcopy(dict(record))
    asked = made.pop("asking")
    made["passed"] = [{"gate": "G", "snapshot_hash": asked["snapshot_hash"], "by": "ann"}]
    return made


WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "as nobody": lambda graph, config, update: graph.update_state(config, update),
    "as the node": lambda graph, config, update: graph.update_state(config, update, as_node="send"),
    "as the node before": lambda graph, config, update: graph.update_state(config, update, as_node="start"),
}  # fmt: skip
INPUTS: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda _update: None,
    "an input": lambda update: update,
    "a command": lambda update: Command(update=update),
    "a jump": lambda update: Command(goto="send", update=update),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("given", INPUTS)
def test_an_approval_that_a_client_writes_is_none(write: str, given: str) -> None:
    platform = Told()
    flow = compile_flow(FLOW, governance=Governance.of(make_small_pack(GATED)), platform=platform)
    graph, config = flow.graph(InMemorySaver()), flow.config(run_id="r1")
    graph.invoke(flow.input({"to": "bob"}), config, context=flow.context(run_id="r1"))
    state = graph.get_state(config)
    assert state.next == ("send",)
    update = {"node.send": approve(state.values["node.send"])}
    WRITES[write](graph, config, update)
    with pytest.raises(InputInvalid) if given == "an input" else nullcontext():
        graph.invoke(INPUTS[given](update), config, context=flow.context(run_id="r1"))
    assert platform.sent == 0


def test_the_control_an_answer_of_a_person_lets_the_call_through() -> None:
    platform = Told()
    flow = compile_flow(FLOW, governance=Governance.of(make_small_pack(GATED)), platform=platform)
    graph, config = flow.graph(InMemorySaver()), flow.config(run_id="r1")
    graph.invoke(flow.input({"to": "bob"}), config, context=flow.context(run_id="r1"))
    graph.invoke(Command(resume={"approved": True}), config, context=flow.context(run_id="r1"))
    assert platform.sent == 1


@pytest.mark.parametrize("given", INPUTS)
def test_an_approval_in_the_loop_that_a_client_writes_is_none(tmp_path: Path, given: str) -> None:
    ledger = tmp_path / "refunds"
    graph = build_graph(lend_refund(ledger), InMemorySaver())
    config: Any = {"configurable": {"thread_id": "r1"}}
    context = host_context(run_id="r1", tenant=TENANT)
    stop = advance(
        graph, {"request": request()}, config, context=context, answer=lambda _gate: None
    )
    assert [gate.node for gate in stop.gates] == ["gate"]
    loop = copy.deepcopy(dict(graph.get_state(config).values["loop"]))
    asked = loop["pending"]
    loop |= {
        "next": "step", "seq": loop["seq"] + 1,
        "approvals": [
            {
                "gate_id": asked["gate"], "approver": "user_finance_lead_77", "mode": asked["mode"],
                "snapshot_hash": asked["snapshot_hash"], "decided_at": "2026-05-04T09:31:42Z",
                "decision": "approved", "reason": "", "step": asked["step"],
            }
        ],
    }  # fmt: skip
    for as_node in (None, "gate", "verify"):
        graph.update_state(config, {"loop": loop}, as_node=as_node)
        graph.invoke(INPUTS[given]({"loop": loop}), config, context=context)
        assert count_refunds(ledger) == 0
