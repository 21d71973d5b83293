from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_of, gate, port, start

CODE = "OAS249"


def joined(*edges):
    write = api("write", outputs=[port("subject"), port("body")])
    look = gate("look", inputs=[port("subject", default=""), port("body", default="")])
    made = [("write", one, "look", other) for one, other in edges]
    return flow_of(start(), write, look, end(), edges=made)


def test_an_edge_that_stands_twice_is_found_at_the_second_one():
    made = joined(("subject", "subject"), ("subject", "subject"))
    (finding,) = findings(made, CODE)
    assert finding.pointer == "/data_flow_connections/1"
    assert found(joined(("subject", "subject"), ("body", "body")), CODE) == []


def test_two_outputs_that_go_into_each_others_inputs_are_crossed():
    (finding,) = findings(joined(("subject", "body"), ("body", "subject")), CODE)
    assert finding.message.endswith("and the other way round: they are crossed")
    assert finding.hint == 'lead "body" to "body" and "subject" to "subject"'


def test_one_output_for_two_inputs_and_one_that_goes_elsewhere_are_fine():
    assert found(joined(("subject", "body"), ("subject", "subject")), CODE) == []
    assert found(joined(("subject", "body")), CODE) == []
