from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.flows import api, branching, end, flow_node, flow_of, gate, port, start

CODE = "OAS235"
AT = "/data_flow_connections/0"


def ask(**fields):
    return gate("ask", inputs=[port("note", **fields)])


def test_an_input_from_a_node_that_runs_later_is_never_fed():
    send = api("send", outputs=[port("note")])
    made = flow_of(start(), ask(), send, end(), edges=[("send", "note", "ask", "note")])
    (finding,) = findings(made, CODE)
    assert (finding.pointer, finding.severity) == (AT, "error")
    assert finding.message == '"ask" takes "note" from "send", which never runs before it'
    assert finding.hint == (
        'take it from a node that runs before "ask", or lead the control edges so that "send" does'
    )


def test_the_hint_names_a_node_before_it_that_has_the_output():
    write, send = api("write", outputs=[port("note")]), api("send", outputs=[port("note")])
    made = flow_of(start(), write, ask(), send, end(), edges=[("send", "note", "ask", "note")])
    (finding,) = findings(made, CODE)
    assert finding.hint == '"write" runs before it and has an output "note"'
    made = flow_of(start(), write, ask(), send, end(), edges=[("write", "note", "ask", "note")])
    assert found(made, CODE) == []


def test_a_loop_brings_a_node_before_the_one_it_follows():
    send = api("send", outputs=[port("note")])
    check = branching("check", port("verdict", default="x"), {"again": "again"})
    routes = [
        ("start", None, "ask"), ("ask", None, "send"), ("send", None, "check"),
        ("check", "again", "ask"), ("check", "default", "end"),
    ]  # fmt: skip
    edges = [("send", "note", "ask", "note")]
    made = flow_of(start(), ask(), send, check, end(), routes=routes, edges=edges)
    assert found(made, CODE) == []


def branches(into):
    check = branching("check", port("verdict", default="x"), {"yes": "yes"})
    write = api("write", outputs=[port("note")])
    routes = [
        ("start", None, "check"), ("check", "yes", "write"), ("check", "default", "ask"),
        ("write", None, into), ("ask", None, "end"),
    ]  # fmt: skip
    edges = [("write", "note", "ask", "note")]
    return flow_of(start(), check, write, ask(), end(), routes=routes, edges=edges)


def test_the_other_branch_never_runs_before_it():
    assert found(branches("end"), CODE) == [AT]
    assert found(branches("ask"), CODE) == []


def test_a_default_or_another_edge_is_no_error():
    send = api("send", outputs=[port("note")])
    edges = [("send", "note", "ask", "note")]
    assert found(flow_of(start(), ask(default=""), send, end(), edges=edges), CODE) == []
    both = [*edges, ("start", "topic", "ask", "note")]
    assert found(flow_of(start(port("topic")), ask(), send, end(), edges=both), CODE) == []


def test_a_node_feeds_itself_only_in_a_loop():
    write = gate("write", inputs=[port("note")], output=port("text"))
    made = flow_of(start(), write, end(), edges=[("write", "text", "write", "note")])
    assert found(made, CODE) == [AT]


def test_inside_a_subflow_and_into_one():
    inner = flow_of(start(port("note")), end(), id_="inner")
    send = api("send", outputs=[port("note")])
    edges = [("send", "note", "run", "note")]
    assert found(flow_of(start(), flow_node("run", inner), send, end(), edges=edges), CODE) == [AT]
    assert found(flow_of(start(), send, flow_node("run", inner), end(), edges=edges), CODE) == []


def test_what_has_a_finding_of_its_own_has_no_second_one():
    send = api("send", outputs=[port("note")])
    edges = [("send", "note", "ask", "note")]
    # nothing leads to "ask": OAS048
    routes = [("start", None, "send"), ("send", None, "end"), ("ask", None, "send")]
    made = flow_of(start(), ask(), send, end(), edges=edges, routes=routes)
    assert found(made, CODE) == []
    # "send" is not listed: OAS042
    made = flow_of(start(), ask(), send, end(), edges=edges)
    made["nodes"] = [entry for entry in made["nodes"] if entry["$component_ref"] != "send"]
    assert found(made, CODE) == []


def test_a_long_flow_takes_one_walk():
    nodes = [
        gate(f"n{i}", inputs=[port("note", default="")], output=port("text")) for i in range(400)
    ]
    edges = [(f"n{i + 1}", "text", f"n{i}", "note") for i in range(399)]
    made = flow_of(start(), *nodes, end(), edges=edges)
    assert found(made, CODE) == []
    assert len(found(made, "OAS236")) == 399
