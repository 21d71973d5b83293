from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import end, flow_node, flow_of, gate, start

CODE = "OAS230"
AT = "/$referenced_components/talk/metadata/cinatra/gateSteps"
SELECTOR = "@cinatra-ai/context-selection-agent:context-selector"


def talking(steps, *nodes):
    inner = flow_of(start(), *nodes, end(), id_="inner")
    return flow_of(start(), flow_node("talk", inner, gateSteps=steps), end())


def test_a_gate_without_an_entry_is_named():
    flow = talking([{"name": "Pick"}], gate("pick"), gate("check"), gate("sign"))
    (finding,) = findings(flow, CODE)
    assert (finding.pointer, finding.severity) == (AT, "warning")
    assert finding.message == (
        'gateSteps of the FlowNode "talk" has no entry for "check", "sign": '
        'shown as the last entry, "Pick"'
    )
    assert finding.hint.startswith("write 3 entries")


def test_an_entry_without_a_gate_is_named():
    (finding,) = findings(talking([{"name": "Pick"}, {"name": "Check"}], gate("pick")), CODE)
    assert finding.pointer == f"{AT}/1"
    assert 'entry 2 "Check" of gateSteps of the FlowNode "talk"' in finding.message


def test_a_selection_and_a_gate_deeper_down_need_no_entry_and_take_none():
    deeper = flow_of(start(id_="s"), gate("deep"), end(id_="e"), id_="deeper")
    nodes = [gate("own"), gate("pick", renderer=SELECTOR), flow_node("below", deeper)]
    assert found(talking([{"name": "One"}], *nodes), CODE) == []
    (finding,) = findings(talking([{"name": "One"}, {"name": "Two"}], *nodes), CODE)
    assert finding.pointer == f"{AT}/1"


@pytest.mark.parametrize("count", [3, 10**9])
def test_a_gate_count_that_is_too_high_is_named(count):
    (finding,) = findings(talking([{"gateCount": count}], gate("a"), gate("b")), CODE)
    assert finding.pointer == f"{AT}/0"


@pytest.mark.parametrize("steps", [[{"gateCount": 2}], [{}, {}], [], None])
def test_as_many_entries_as_gates_and_no_entries_are_no_finding(steps):
    assert found(talking(steps, gate("a"), gate("b")), CODE) == []
