from __future__ import annotations

from typing import Any

from tests.checks.rule_case import findings, found
from tests.flows import api, branching, end, flow_node, flow_of, gate, message, port, start

CODE = "OAS221"
BODY = port("body")
WRITE = api("write", outputs=[BODY])
CHECK = api("check", outputs=[port("ok")])


def send(*inputs: Any, id_: str = "send") -> Any:
    named = {one["title"]: f"{{{{ {one['title']} }}}}" for one in inputs}
    return api(id_, inputs=inputs, data=named, risk="email_send")


def test_a_value_that_the_gate_does_not_show_is_named_at_its_edge():
    flow = flow_of(
        start(), WRITE, CHECK, gate("sign"), send(BODY), end(),
        edges=[("write", "body", "send", "body")],
    )  # fmt: skip
    (finding,) = findings(flow, CODE)
    assert (finding.pointer, finding.severity) == ("/data_flow_connections/0", "warning")
    assert finding.message == '"send" sends "body" from "write", which no gate before it shows'
    assert '"sign"' in finding.hint


def test_a_value_that_an_input_of_the_gate_shows_is_none():
    flow = flow_of(
        start(), WRITE, CHECK, gate("sign", inputs=[port("draft")]), send(BODY), end(),
        edges=[("write", "body", "send", "body"), ("write", "body", "sign", "draft")],
    )  # fmt: skip
    assert found(flow, CODE) == []


def test_what_the_node_right_before_the_gate_puts_out_or_says_is_shown():
    right_before = flow_of(
        start(), WRITE, gate("sign"), send(BODY), end(), edges=[("write", "body", "send", "body")]
    )
    said = flow_of(
        start(), WRITE, message("say", "{{ body }}", BODY), gate("sign"), send(BODY), end(),
        edges=[("write", "body", "send", "body"), ("write", "body", "say", "body")],
    )  # fmt: skip
    assert found(right_before, CODE) == found(said, CODE) == []


def test_a_value_that_is_made_after_the_gate_is_named():
    flow = flow_of(
        start(), WRITE, gate("sign"), api("shorten", inputs=[BODY], outputs=[port("short")]),
        send(port("short")), end(),
        edges=[("write", "body", "shorten", "body"), ("shorten", "short", "send", "short")],
    )  # fmt: skip
    (finding,) = findings(flow, CODE)
    assert finding.message == '"send" sends "short" from "shorten", which makes it after the gate'


def test_inputs_of_the_flow_and_answers_at_gates_are_known_to_the_person():
    flow = flow_of(
        start(port("to")), CHECK, gate("sign", output=port("note")), send(port("to"), port("note")), end(),
        edges=[("start", "to", "send", "to"), ("sign", "note", "send", "note")],
    )  # fmt: skip
    assert found(flow, CODE) == []


def test_one_of_two_gates_is_enough_and_a_send_without_a_gate_is_another_finding():
    twice = flow_of(
        start(), WRITE, gate("read"), CHECK, gate("sign"), send(BODY), end(),
        edges=[("write", "body", "send", "body")],
    )  # fmt: skip
    bare = flow_of(start(), WRITE, send(BODY), end(), edges=[("write", "body", "send", "body")])
    assert found(twice, CODE) == found(bare, CODE) == []
    assert found(bare, "OAS200") != []


def test_a_flow_that_sends_without_a_gate_of_its_own_is_a_send():
    inner = flow_of(
        start(BODY), send(BODY), end(), id_="inner", edges=[("start", "body", "send", "body")]
    )
    mail = flow_node("mail", inner)
    mail["inputs"] = [BODY]
    flow = flow_of(
        start(), WRITE, CHECK, gate("sign"), mail, end(), edges=[("write", "body", "mail", "body")]
    )
    assert found(flow, CODE) == ["/data_flow_connections/0"]


def test_a_call_that_sends_nothing_is_none():
    reading = api("send", inputs=[BODY], data={"body": "{{ body }}"})
    flow = flow_of(
        start(),
        WRITE,
        CHECK,
        gate("sign"),
        reading,
        end(),
        edges=[("write", "body", "send", "body")],
    )
    assert found(flow, CODE) == []


def test_a_gate_on_one_way_of_two_counts():
    flow = flow_of(
        start(), WRITE, branching("choose", port("branching_mapping_key"), {"yes": "ask"}),
        CHECK, gate("sign"), send(BODY), end(),
        routes=[("start", None, "write"), ("write", None, "choose"), ("choose", "ask", "check"),
                ("choose", "default", "send"), ("check", None, "sign"), ("sign", None, "send"), ("send", None, "end")],
        edges=[("write", "body", "send", "body"), ("write", "body", "choose", "branching_mapping_key")],
    )  # fmt: skip
    assert found(flow, CODE) == ["/data_flow_connections/0"]
