from __future__ import annotations

from typing import Any

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_node, flow_of, gate, node, port, start

CODE = "OAS220"
AT = "/$referenced_components/review"
TEXT = {"type": "string", "minLength": 1}


def leading(asking: Any, *, to: Any = None, also: Any = ()) -> Any:
    reader = to or api("write", inputs=[port("note")], data={"note": "{{ note }}"})
    return flow_of(
        start(), asking, reader, end(),
        edges=[(asking["id"], "note", reader["id"], "note"), *also],
    )  # fmt: skip


def test_a_gate_whose_text_a_call_reads_is_named_with_the_reader():
    (finding,) = findings(leading(gate("review", output=port("note"))), CODE)
    assert (finding.pointer, finding.severity) == (AT, "warning")
    assert '"review" without words: "write.note" then reads [Approved by operator]' in (
        finding.message
    )
    assert "inputMessageSchema" in finding.hint


def test_a_text_that_the_run_puts_out_is_named_too():
    flow = flow_of(
        start(), gate("review", output=port("note")), end(port("note")),
        edges=[("review", "note", "end", "note")],
    )  # fmt: skip
    assert found(flow, CODE) == [AT]


def test_a_gate_inside_a_subflow_is_named_where_it_stands():
    inner = leading(gate("review", output=port("note")))
    inner["id"] = "inner"
    (finding,) = findings(flow_of(start(), flow_node("talk", inner), end()), CODE)
    assert finding.pointer.endswith(AT)


@pytest.mark.parametrize(
    "asking",
    [
        gate("review", output=port("note"), inputMessageSchema=TEXT),
        gate("review", output=port("note"), renderer="@a/b:context-selector"),
        node("InputMessageNode", "review", message="Well?", outputs=[port("note")]),
    ],
    ids=["a schema asks for the text", "a selection", "a question"],
)
def test_a_gate_to_which_a_yes_is_no_answer_is_none(asking: Any):
    assert found(leading(asking), CODE) == []


def test_a_text_that_nothing_reads_is_none():
    assert found(flow_of(start(), gate("review", output=port("note")), end()), CODE) == []


def test_an_input_with_a_default_gets_the_words_in_its_place():
    reader = api("write", inputs=[port("note", default="")], data={"note": "{{ note }}"})
    (finding,) = findings(leading(gate("review", output=port("note")), to=reader), CODE)
    assert '"write.note" then reads [Approved by operator]' in finding.message


def test_readers_with_and_without_a_default_are_named_together():
    second = api("send", inputs=[port("remark", default="none")], data={"r": "{{ remark }}"})
    reader = api("write", inputs=[port("note")], data={"note": "{{ note }}"})
    flow = flow_of(
        start(), gate("review", output=port("note")), reader, second, end(port("note", default="")),
        edges=[
            ("review", "note", "write", "note"), ("review", "note", "send", "remark"),
            ("review", "note", "end", "note"),
        ],
    )  # fmt: skip
    (finding,) = findings(flow, CODE)
    assert '"write.note", "send.remark", "end.note" then reads' in finding.message
