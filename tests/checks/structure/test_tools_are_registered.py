from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.flows import end, flow_of, start, tool

FLOW = flow_of(start(), tool("look", "get_weather", [], []), end())


def test_a_tool_that_the_host_has_not_registered_is_refused():
    assert found(FLOW, "OAS092", tools=["get_wether"]) == ["/$referenced_components/look"]
    (finding,) = findings(FLOW, "OAS092", tools=["get_wether"])
    assert finding.hint == 'did you mean "get_wether"?'
    assert found(FLOW, "OAS092", tools={"get_weather"}) == []


def test_without_a_near_name_the_hint_says_how_to_pass_it():
    (finding,) = findings(FLOW, "OAS092", tools=[])
    assert finding.hint == (
        'pass it: tools={"get_weather": …}; at the command line, '
        "--host MODULE:FACTORY, also beside --simulate"
    )


def test_nothing_is_said_where_the_hosts_tools_are_not_known():
    assert found(FLOW, "OAS092") == []
