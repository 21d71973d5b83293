from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.flows import end, flow_of, port, start

CODE = "OAS254"


def of(flow_port, start_port):
    made = flow_of(start(start_port, hidden=["tone"]), end())
    made["inputs"] = [flow_port]
    return made


def test_a_default_that_no_run_takes_is_found_where_the_other_stands():
    made = of(port("tone", default="plain"), port("tone", default="warm"))
    (finding,) = findings(made, CODE)
    assert finding.pointer == "/$referenced_components/start/inputs/0/default"
    assert finding.severity == "warning"
    assert 'the input "tone" of the Flow' in finding.message


def test_one_default_or_two_that_are_equal_are_fine():
    assert found(of(port("tone", default="a"), port("tone", default="a")), CODE) == []
    assert found(of(port("tone", default="a"), port("tone")), CODE) == []
    assert found(of(port("tone"), port("tone", default="a")), CODE) == []
