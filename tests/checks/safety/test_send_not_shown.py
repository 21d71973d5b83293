from __future__ import annotations

from typing import Any

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, branching, end, flow_node, flow_of, gate, message, node, port, start

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
    assert (
        finding.message
        == '"send" sends "body" from "write", which the gate "sign" before it does not show'
    )
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


def test_the_last_gate_counts_whatever_an_earlier_one_showed():
    twice = flow_of(
        start(), WRITE, gate("read"), CHECK, gate("sign"), send(BODY), end(),
        edges=[("write", "body", "send", "body")],
    )  # fmt: skip
    (finding,) = findings(twice, CODE)
    assert '"body" from "write", which the gate "sign" before it does not show' in finding.message
    assert '"sign"' in finding.hint


def test_an_earlier_gate_need_not_show_what_the_last_one_shows():
    flow = flow_of(
        start(), WRITE, CHECK, gate("read"), gate("sign", inputs=[BODY]), send(BODY), end(),
        edges=[("write", "body", "send", "body"), ("write", "body", "sign", "body")],
    )  # fmt: skip
    assert found(flow, CODE) == []


def test_a_send_without_a_gate_is_another_finding():
    bare = flow_of(start(), WRITE, send(BODY), end(), edges=[("write", "body", "send", "body")])
    assert found(bare, CODE) == []
    assert found(bare, "OAS200") != []


def revised(*, shown_again: bool) -> Any:
    """write → read; its person sends, or has the text revised and signs that."""
    again = gate("sign", inputs=[BODY] if shown_again else [])
    route = branching("choose", port("branching_mapping_key"), {"good": "send"})
    return flow_of(
        start(), WRITE, gate("read", output=port("verdict")), route, api("revise", outputs=[BODY]),
        CHECK, again, send(BODY), end(),
        routes=[("start", None, "write"), ("write", None, "read"), ("read", None, "choose"),
                ("choose", "send", "send"), ("choose", "default", "revise"),
                ("revise", None, "check"), ("check", None, "sign"), ("sign", None, "send"),
                ("send", None, "end")],
        edges=[("read", "verdict", "choose", "branching_mapping_key"),
               ("write", "body", "send", "body"), ("revise", "body", "send", "body"),
               *([("revise", "body", "sign", "body")] if shown_again else [])],
    )  # fmt: skip


def test_a_value_that_is_changed_after_the_gate_that_showed_it_needs_the_next_gate():
    (finding,) = findings(revised(shown_again=False), CODE)
    assert finding.message == (
        '"send" sends "body" from "revise", which the gate "sign" before it does not show'
    )


def test_a_gate_need_not_show_what_was_made_anew_before_it():
    assert found(revised(shown_again=True), CODE) == []


def test_a_value_that_a_way_past_the_gate_makes_anew_is_made_after_it():
    flow = flow_of(
        start(), WRITE, gate("sign", output=port("verdict")),
        branching("choose", port("branching_mapping_key"), {"shorter": "shorten"}),
        api("shorten", outputs=[BODY]), send(BODY), end(),
        routes=[("start", None, "write"), ("write", None, "sign"), ("sign", None, "choose"),
                ("choose", "shorten", "shorten"), ("choose", "default", "send"),
                ("shorten", None, "send"), ("send", None, "end")],
        edges=[("sign", "verdict", "choose", "branching_mapping_key"),
               ("write", "body", "send", "body"), ("shorten", "body", "send", "body")],
    )  # fmt: skip
    (finding,) = findings(flow, CODE)
    assert finding.message == '"send" sends "body" from "shorten", which makes it after the gate'


def template(id_: str, text: str) -> Any:
    return node("PluginTemplateNode", id_, template=text, inputs=[port("given")], outputs=[port("output")],
                component_plugin_name="NodesPlugin", component_plugin_version="26.1.0")  # fmt: skip


def renamed(text: str) -> Any:
    return flow_of(
        start(),
        WRITE,
        gate("sign"),
        template("name", text),
        send(BODY),
        end(),
        edges=[("write", "body", "name", "given"), ("name", "output", "send", "body")],
    )


def test_a_template_that_puts_out_what_it_gets_changes_nothing():
    assert found(renamed("{{ given }}"), CODE) == []
    assert found(renamed("{{given}}"), CODE) == []


def test_a_template_with_other_words_or_another_filter_changes_the_value():
    for text in ("Dear all, {{ given }}", "{{ given | upper }}", "{{ given }}{{ given }}"):
        assert found(renamed(text), CODE) == ["/data_flow_connections/1"]


def test_a_value_that_is_renamed_on_its_way_to_the_gate_is_shown():
    flow = flow_of(
        start(), WRITE, template("name", "{{ given }}"), CHECK, gate("sign", inputs=[port("text")]),
        send(BODY), end(),
        edges=[("write", "body", "name", "given"), ("name", "output", "sign", "text"),
               ("write", "body", "send", "body")],
    )  # fmt: skip
    assert found(flow, CODE) == []


def asking_flow(*, given: bool) -> Any:
    inner = flow_of(start(BODY), gate("sign"), end(), id_="inner")
    talk = flow_node("talk", inner)
    talk["inputs"] = [BODY]
    return flow_of(
        start(), WRITE, gate("read"), CHECK, talk, send(BODY), end(),
        edges=[("write", "body", "send", "body"), *([("write", "body", "talk", "body")] if given else [])],
    )  # fmt: skip


def test_a_flow_with_a_gate_stands_for_it_and_shows_what_goes_into_it():
    assert found(asking_flow(given=True), CODE) == []
    assert found(asking_flow(given=False), CODE) == ["/data_flow_connections/0"]


def test_an_answer_at_an_earlier_gate_is_a_value_as_any_other():
    told = gate("ask", output=port("to"))
    flow = flow_of(
        start(), told, WRITE, CHECK, gate("sign"), send(port("to")), end(),
        edges=[("ask", "to", "send", "to")],
    )  # fmt: skip
    assert found(flow, CODE) == ["/data_flow_connections/0"]


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


# ----------------------------------------------------------------------------
# A value is shown where it was made (node and output), not where its name stands.


MAKE = api("make", outputs=[BODY, port("body2")])
NICE = port("body", default="nice")


def signed(sign: Any, *edges: Any, before: Any = (MAKE,), source: Any = ("make", "body"), to: Any = BODY) -> Any:  # fmt: skip
    """start → before → sign → send, and `source` leads into the one input of the send."""
    flows_in = [(*source, "send", to["title"]), *edges]
    return flow_of(start(BODY, port("to")), *before, sign, send(to), end(), edges=flows_in)


def saying(text: str) -> Any:
    return gate("sign") | {"message": text}


@pytest.mark.parametrize(
    "bad",
    [
        # An input of the gate hides the output of the same name.
        signed(gate("sign", inputs=[BODY]), ("make", "body2", "sign", "body")),
        signed(gate("sign", inputs=[NICE])),
        signed(saying('{"body": "nice"}')),
        signed(saying("Sign?"), before=(api("make", outputs=[port("output")]),),
               source=("make", "output")),
        # ... and the input of the flow.
        signed(gate("sign", inputs=[port("to")]), ("make", "body", "sign", "to"),
               source=("start", "to"), to=port("to")),
        signed(gate("sign", inputs=[NICE]), source=("start", "body")),
        # An output right before the gate hides the input of the flow; so does an earlier answer.
        signed(gate("sign"), source=("start", "body")),
        signed(gate("sign"), before=(gate("ask", output=BODY),), source=("start", "body")),
        signed(gate("sign"), before=(message("say", '{"body": "nice"}'),), source=("start", "body")),
        # Another output of the node right before is another value.
        signed(gate("sign", inputs=[port("body2"), NICE])),
        # The screen of a gate in a flow has what goes into that flow.
        signed(flow_node("sign", flow_of(start(), gate("inside"), end(), id_="inner")), before=(),
               source=("start", "body")),
    ],
)  # fmt: skip
def test_a_value_behind_another_one_of_its_name_is_not_shown(bad: Any):
    assert found(bad, CODE) == ["/data_flow_connections/0"]


@pytest.mark.parametrize(
    "good",
    [
        signed(gate("sign", inputs=[BODY]), ("make", "body", "sign", "body")),
        signed(gate("sign", inputs=[port("a"), NICE]), ("make", "body", "sign", "a")),
        signed(saying("Sign?")),
        signed(saying('Is "body" fine?')),
        signed(gate("sign", inputs=[BODY]), ("start", "body", "sign", "body"), source=("start", "body")),
        signed(gate("sign"), source=("start", "to"), to=port("to")),
        signed(gate("sign"), before=(MAKE, CHECK), source=("start", "body")),
        signed(gate("sign", inputs=[port("a")]), ("start", "body", "sign", "a"), source=("start", "body")),
    ],
)  # fmt: skip
def test_a_value_that_is_shown_under_any_name_is_none(good: Any):
    assert found(good, CODE) == []


def test_a_hidden_input_of_the_flow_is_the_hosts():
    flow = flow_of(
        start(BODY, hidden=["body"]), MAKE, gate("sign"), send(BODY), end(),
        edges=[("start", "body", "send", "body")],
    )  # fmt: skip
    assert found(flow, CODE) == []


def defaulted(value: Any, *shown: Any) -> Any:
    return flow_of(
        start(), gate("sign", inputs=shown), send(port("body", None, default=value)), end()
    )


def test_a_default_that_the_send_gets_is_shown_by_an_input_with_the_same_one():
    (finding,) = findings(defaulted("buy this"), CODE)
    assert finding.message == (
        '"send" sends the default of "body", which the gate "sign" before it does not show'
    )
    assert finding.pointer.endswith("/inputs/0")
    assert found(defaulted("buy this", NICE), CODE) != []
    assert found(defaulted("buy this", port("text", default="buy this")), CODE) == []
    # A blank sends nothing.
    assert [found(defaulted(blank), CODE) for blank in ("", None, [])] == [[], [], []]


def said_before(text: str) -> Any:
    return flow_of(
        start(), WRITE, message("say", text, BODY), gate("sign"), send(BODY), end(),
        edges=[("write", "body", "send", "body"), ("write", "body", "say", "body")],
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "{{ body[:3] }}", "{{ body | length }}", "{{ body | upper }}", "{{ body.text }}",
        "{% if false %}{{ body }}{% endif %}x", "{% for body in ['x'] %}{{ body }}{% endfor %}",
        '{{ "x" or body }}', "{# {{ body }} #}x", "{% raw %}{{ body }}{% endraw %}", "body",
    ],
)  # fmt: skip
def test_a_message_that_does_not_print_the_whole_value_does_not_show_it(text: str):
    assert found(said_before(text), CODE) == ["/data_flow_connections/0"]


@pytest.mark.parametrize(
    "text",
    [
        "Mail: {{body}}", '{"body": {{ body | tojson }}}', "{% if body %}Mail:{% endif %} {{ body }}",
        "{% if body %}x{% endif %}{{ body | tojson }}",
    ],
)  # fmt: skip
def test_a_message_that_prints_the_whole_value_shows_it(text: str):
    assert found(said_before(text), CODE) == []
