"""A host that lends packs for its flows: every flow stands under them, however it comes to run."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk import Decision, HostParts, RunStore, SimulatedPlatform
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.flow.graph.flow_graph import FlowGraph
from cinatra_sdk.flow.nodes.start_and_end import End, Start
from cinatra_sdk.flow.nodes.tool_node import ToolCall
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.packs.pack_registry import MemoryRegistry
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from cinatra_sdk.store.flows.python_flow import written_flow
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.governance.small_pack import make_small_pack
from tests.governance.test_flows import FLOW, GATED

FORBIDDEN = [{"rule_id": "R", "then": {"allow": False}}]
PLATFORM = SimulatedPlatform(stubs={"send": {"id": "m1"}})


def lend(rules: Any = GATED, **parts: Any) -> HostParts:
    return HostParts(governance=Governance.of(make_small_pack(rules)), platform=PLATFORM, **parts)


def write_graph() -> FlowGraph:
    graph = FlowGraph("mailing", name="Mailing", outputs=[])
    graph.add_node("start", Start())
    graph.add_node("send", ToolCall(tool="send"))
    graph.add_node("end", End())
    graph.set_entry_point("start")
    graph.add_edge("start", "send")
    graph.add_edge("send", "end")
    return graph


def test_a_flow_that_is_compiled_with_the_host_alone() -> None:
    flow = compile_flow(FLOW, host=lend())
    assert flow.governed
    assert drive(flow, {"to": "bob"}).gates[0].id == "send:G"
    refused = drive(compile_flow(FLOW, host=lend(FORBIDDEN)), {"to": "bob"})
    assert (refused.status, refused.calls) == ("failed", ())


def test_a_host_whose_packs_are_those_of_requests_governs_no_other_flow() -> None:
    loop = Governance(registry=MemoryRegistry([make_small_pack(FORBIDDEN)]))
    host = HostParts(governance=loop, platform=PLATFORM)
    assert drive(compile_flow(FLOW, host=host), {"to": "bob"}).status == "completed"


def test_a_host_that_lends_a_pack_in_place_of_governance_is_told_what_to_lend() -> None:
    for given in (make_small_pack(), make_small_pack().to_json()):
        with pytest.raises(TypeError, match=r"give Governance\(…\), or Governance\.of\(pack\)"):
            HostParts(governance=given)  # type: ignore[arg-type]  # the mistake


def test_a_flow_that_a_store_starts_with_its_host(fresh_database: str) -> None:
    plain = compile_flow(FLOW, platform=PLATFORM)
    with RunStore.open(fresh_database, host=lend()) as store:
        waiting = store.start(plain, {"to": "bob"})
        assert [gate.id for gate in waiting.waiting] == ["send:G"]
        done = store.answer(waiting.id, "send:G", Decision.approve(by="ann"), flow=plain)
        assert (done.status, done.outputs) == ("completed", {"id": "m1"})
        created = store.create(plain, {"to": "bob"})
        assert [gate.id for gate in store.work(created.id).waiting] == ["send:G"]
        records = DecisionRecords(store.database)
        last = records.page(run_id=done.id).items[0].record
        assert last.budget_usage.tool_calls == 1, "to ask a person is no call"
        (call,) = records.get(last.record_id).transcript["calls"]
        changed = f"mail.send:{call['call']['tool_call_id']}"
        assert call["result"]["mutations"] == [changed], (
            "what a writing call says of itself, or this"
        )
        assert len(records.page(run_id=done.id).items) == 3
        assert len(records.page(run_id=created.id).items) == 2


def test_packs_of_the_flow_come_before_those_of_the_store(fresh_database: str) -> None:
    own = Governance.of(make_small_pack())
    flow = compile_flow(FLOW, governance=own, platform=PLATFORM)
    with RunStore.open(fresh_database, host=lend(FORBIDDEN)) as store:
        assert store.start(flow, {"to": "bob"}).status == "completed"


@pytest.mark.parametrize(
    ("pack", "told"),
    [
        (
            make_small_pack(binds_to="POST https://elsewhere"),
            "several do (bind a capability of one",
        ),
        (make_small_pack(mode="destructive", safety="destructive"), "delegation (user.delegation,"),
    ],
)
def test_a_run_that_was_refused_says_how_to_mend_it(
    fresh_database: str, pack: Any, told: str
) -> None:
    host = HostParts(governance=Governance.of(pack), platform=PLATFORM)
    with RunStore.open(fresh_database, host=host) as store:
        run = store.start(compile_flow(FLOW, platform=PLATFORM), {"to": "bob"})
    assert told in str((run.error or {})["message"])


def test_packs_for_requests_of_the_flow_are_none_for_the_flow(fresh_database: str) -> None:
    loop = Governance(registry=MemoryRegistry([make_small_pack()]))
    flow = compile_flow(FLOW, host=HostParts(governance=loop, platform=PLATFORM))
    with RunStore.open(fresh_database, host=lend(FORBIDDEN)) as store:
        assert store.start(flow, {"to": "bob"}).status == "failed"


def test_a_run_that_began_without_packs_goes_on_without_them(fresh_database: str) -> None:
    flow = compile_flow(FLOW, platform=PLATFORM)
    with RunStore.open(fresh_database) as store:
        run = store.create(flow, {"to": "bob"})
    with RunStore.open(fresh_database, host=lend(FORBIDDEN)) as store:
        assert store.work(run.id, flow=flow).status == "completed"
        assert DecisionRecords(store.database).page(run_id=run.id).items == []


def test_a_governed_run_needs_packs_also_where_its_flow_is_given(fresh_database: str) -> None:
    plain = compile_flow(FLOW, platform=PLATFORM)
    with RunStore.open(fresh_database, host=lend()) as store:
        run = store.start(plain, {"to": "bob"})
    yes = Decision.approve(by="ann")
    with RunStore.open(fresh_database) as store, pytest.raises(NotConfigured, match="no packs"):
        store.answer(run.id, "send:G", yes, flow=plain)


def test_a_flow_that_is_written_in_python() -> None:
    sent: list[str] = []
    host = lend(FORBIDDEN, tools={"send": lambda: sent.append("mail")})
    flow = written_flow(write_graph(), module=__name__)
    assert drive(flow.lent(host.with_parts(governance=None)), {}).status == "completed"
    assert sent == ["mail"], "the control: nothing governs it"
    assert drive(flow.lent(host), {}).status == "failed"
    assert sent == ["mail"]
