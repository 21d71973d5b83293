from __future__ import annotations

from tests.checks.context.slot_samples import INTO, OUT, selecting, slotted, writing
from tests.checks.rule_case import found
from tests.flows import end, port

CODE = "OAS160"
FORBIDDEN = ("start", "contextSlotBindings", "write", "contextSlotBindings")


def test_a_consumer_is_not_fed_from_the_flows_own_input():
    assert found(slotted(edges=[*INTO, OUT, FORBIDDEN]), CODE) == ["/data_flow_connections/5"]
    assert found(slotted(edges=[*INTO, OUT]), CODE) == []


def test_the_flows_refs_do_not_come_from_its_own_input():
    edge = ("start", "contextRefs", "end", "contextRefs")
    assert found(slotted(edges=[*INTO, OUT, edge]), CODE) == ["/data_flow_connections/5"]


def test_an_end_that_takes_the_input_by_its_name_is_found_too():
    flow = slotted(selecting(), writing(), outputs=[port("contextRefs")])
    flow["$referenced_components"]["end"] = end(port("contextRefs"))
    assert found(flow, CODE) == ["/$referenced_components/end"]
    flow["$referenced_components"]["end"] = end(port("projectId"))
    assert found(flow, CODE) == []


def test_a_flow_without_slots_may_be_handed_a_selection():
    assert found(slotted(slots=[], edges=[*INTO, FORBIDDEN]), CODE) == []
