from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_of, gate, port, start

CODE = "OAS236"
SEND = api("send", outputs=[port("note")])
LATE = ("send", "note", "ask", "note")


def test_an_edge_from_a_later_node_into_an_input_with_a_default_is_useless():
    ask = gate("ask", inputs=[port("note", default="")])
    (finding,) = findings(flow_of(start(), ask, SEND, end(), edges=[LATE]), CODE)
    assert (finding.pointer, finding.severity) == ("/data_flow_connections/0", "warning")
    assert finding.message == (
        '"ask" takes "note" from "send", which never runs before it: it always has its default'
    )
    assert found(flow_of(start(), SEND, ask, end(), edges=[LATE]), CODE) == []


def test_so_is_one_beside_an_edge_that_carries():
    ask = gate("ask", inputs=[port("note")])
    edges = [("start", "topic", "ask", "note"), LATE]
    (finding,) = findings(flow_of(start(port("topic")), ask, SEND, end(), edges=edges), CODE)
    assert finding.pointer == "/data_flow_connections/1"
    assert finding.message.endswith("another edge feeds it")


def test_an_end_node_with_a_default_of_the_flow():
    closing = end(port("note"))
    outputs = [port("note", default="none")]
    check_edges = [("send", "note", "end", "note")]
    made = flow_of(start(), SEND, closing, edges=check_edges, outputs=outputs)
    assert found(made, CODE) == []


def test_equal_names_of_a_flow_without_a_list_of_edges_are_no_edges_that_someone_wrote():
    ask = gate("ask", inputs=[port("note", default="")])
    assert found(flow_of(start(), ask, SEND, end(), data_flow_connections=None), CODE) == []
    bare = gate("ask", inputs=[port("note")])
    (finding,) = findings(flow_of(start(), bare, SEND, end(), data_flow_connections=None), "OAS235")
    assert finding.pointer == "/$referenced_components/ask"
