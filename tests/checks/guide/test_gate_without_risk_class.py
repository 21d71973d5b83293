from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import flow, gated
from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_node, gate, node, port, start

CODE = "OAS176"


def test_a_gate_names_the_risk_it_guards():
    assert found(gated(riskClass="draft_create"), CODE) == []
    bare = node("InputMessageNode", "review", outputs=[port("a")], cinatra={})
    assert found(flow(start(), bare, end()), CODE) == ["/$referenced_components/review"]


@pytest.mark.parametrize("risk", ["", " ", None, 3, ["read_only"]])
def test_a_risk_class_that_says_nothing_is_shown_where_it_stands(risk):
    at = "/$referenced_components/review/metadata/cinatra/riskClass"
    assert found(gated(riskClass=risk), CODE) == [at]


def test_other_nodes_need_none():
    assert found(flow(start(), api("fetch", risk=""), end()), CODE) == []


def test_the_hint_keeps_a_question_a_question():
    asks = node("InputMessageNode", "ask", outputs=[port("city")], message="Where?")
    reads = api("work", inputs=[port("city")], risk="read_only")
    (finding,) = findings(
        flow(start(), asks, reads, end(), edges=[("ask", "city", "work", "city")]), CODE
    )
    assert finding.hint.endswith(
        "with it a yes becomes an answer to this question, so write an inputMessageSchema with what is "
        "asked, too"
    )
    (unread,) = findings(flow(start(), asks, end()), CODE)
    assert "question" not in unread.hint


def guarding(*after):
    return flow(start(), node("InputMessageNode", "review", outputs=[port("a")]), *after, end())


@pytest.mark.parametrize(
    ("after", "hint"),
    [
        ((api("fetch", risk="read_only"), api("send", risk="email_send")),
         'write "riskClass": "email_send", the class of "send" that it guards'),
        ((api("send", risk="email_send"), api("store", risk="write")),
         'write "riskClass": "email_send", the class of "send" that it guards'),
        ((api("fetch", risk="read_only"),),
         'write "riskClass": "read_only": nothing that it guards does more'),
        ((gate("again", riskClass="approval"), api("send", risk="email_send")),
         "write the class of what the gate guards"),
        ((flow_node("sub", flow(start(), api("post", risk="web_post"), end(), id_="inner")),),
         'write "riskClass": "web_post", the class of "post" that it guards'),
    ],
    ids=["send", "strongest", "read", "the next gate guards it", "in a subflow"],
)  # fmt: skip
def test_the_hint_names_the_class_of_the_strongest_node_that_the_gate_guards(after, hint):
    (finding,) = findings(guarding(*after), CODE)
    assert finding.hint == hint
