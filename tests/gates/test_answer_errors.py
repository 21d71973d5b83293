"""What somebody is told whose answer does not fit: gate, field, what was given, and what would fit."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, port, start

SITE = {"type": "object", "properties": {"site": {"type": "string"}}, "required": ["site"]}
FLOWS: dict[str, Any] = {
    "words": flow_of(start(), gate("review", output=port("note")), end()),
    "data": flow_of(
        start(), gate("review", output=port("setupJson"), inputMessageSchema=SITE), end()
    ),
    "either": flow_of(
        start(),
        gate(
            "review",
            output=port("either"),
            inputMessageSchema={
                "type": "object",
                "required": ["choice"],
                "properties": {
                    "choice": {"anyOf": [{"type": "null"}, SITE, {"enum": ["all", "none"]}]}
                },
            },
        ),
        end(),
    ),
    "setup": flow_of(start(port("count", "integer"), required=["count"]), end()),
}


def told(flow: str, answer: Any) -> str:
    waiting = drive(compile_flow(FLOWS[flow]), {}, answers=[])
    (asked,) = waiting.gates
    with pytest.raises(AnswerInvalid) as caught:
        asked.check(answer) if isinstance(answer, Decision) else asked.read(answer)
    return str(caught.value)


@pytest.mark.parametrize(
    ("flow", "answer", "words"),
    [
        ("data", Decision.approve(value={"siet": "x", "b": 1}),
         ("gate 'review', 'setupJson': the answer does not fit: the value: lacks the required 'site'; given: an object "
         """with 'siet', 'b' (the gate asks for 'site'; a value that fits: {"site": "simulated site"})""")),
        ("data", Decision.approve(),
         ("gate 'review', 'setupJson': the answer does not fit: the value: lacks the required 'site'; given: no value "
         """(the gate asks for 'site'; a value that fits: {"site": "simulated site"})""")),
        ("setup", Decision.approve(value="my password"),
         ("gate 'start', 'count': the answer does not fit: count: not of type 'integer', got string; given: a text of 11 "
         """characters (the gate asks for 'count'; a value that fits: {"count": 1})""")),
        ("setup", {"count": 3},
         ("gate 'start', 'count': the answer has unknown keys: count; given: no value "
         """(an answer that fits: {"approved": true, "value": {"count": 1}})""")),
        ("words", "go on",
         ("gate 'review', 'note': the answer is not an object, got string; given: a text of 5 characters "
         """(send {"approved": true} or {"approved": false}; an answer that fits: {"approved": true})""")),
        ("words", None,
         ("gate 'review', 'note': the answer is not an object, got null; given: null "
         """(send {"approved": true} or {"approved": false}; an answer that fits: {"approved": true})""")),
        ("words", {"sk-ant-api03-" + "a" * 24: 1, "b\x1b[2J": 2},
         ("gate 'review', 'note': the answer has unknown keys: [redacted], b\\x1b[2J; given: no value "
         """(an answer that fits: {"approved": true})""")),
        ("either", Decision.approve(value={"choice": 5}),
         ("gate 'review', 'either': the answer does not fit: choice: fits none of what is allowed: null; an object "
         """with 'site'; one of "all", "none", got integer; given: an object with 'choice' """
         """(the gate asks for 'choice'; a value that fits: {"choice": null})""")),
        ("words", {"approved": True, "userResponse": [1, 2]},
         ("gate 'review', 'note': userResponse is not a non-empty string; given: a list of 2 "
         """(an answer that fits: {"approved": true})""")),
    ],
)  # fmt: skip
def test_an_answer_that_does_not_fit_is_told_with_gate_field_given_and_example(
    flow: str, answer: Any, words: str
) -> None:
    assert told(flow, answer) == words


@pytest.mark.parametrize("flow", ["data", "setup"])
@pytest.mark.parametrize("value", [None, 0.5, True, [], {}, "x", {"a": {"b": 1}}], ids=repr)
def test_the_example_of_an_error_is_taken(flow: str, value: Any) -> None:
    (asked,) = drive(compile_flow(FLOWS[flow]), {}, answers=[]).gates
    with pytest.raises(
        AnswerInvalid, match=f"^gate '{asked.id}', '{asked.field}': .* a value that fits: "
    ):
        asked.check(Decision.approve(value=value))
    assert asked.check(Decision.of(asked.example())).approved


def test_a_graph_tells_it_in_the_same_words_and_quotes_no_value() -> None:
    flow = compile_flow(FLOWS["setup"])
    graph, thread = flow.graph(InMemorySaver()), flow.config(run_id="r1")
    graph.invoke(flow.input({}), thread, context=flow.context(run_id="r1"))
    (asked,) = graph.get_state(thread).interrupts
    wrong = {"approved": True, "value": "my password"}
    with pytest.raises(AnswerInvalid) as caught:
        graph.invoke(Command(resume={asked.id: wrong}), thread, context=flow.context(run_id="r1"))
    assert str(caught.value) == told("setup", wrong)
    assert "my password" not in str(caught.value)
    assert graph.get_state(thread).interrupts == (asked,)


@pytest.mark.parametrize("answer", [{"approved": True, "value": {"\ud800": 1}}, {"\ud800": 1}])
def test_half_a_character_in_a_name_is_told_in_text_that_can_be_written(answer: Any) -> None:
    assert "\\ud800" in told("data", answer).encode("utf-8").decode("utf-8")


@pytest.mark.parametrize("answer", [{"\ud800": 1}, {"approved": True, "value": {"\ud800": 1}}])
def test_a_name_that_no_text_can_hold_is_told_all_the_same(answer: Any) -> None:
    flow = compile_flow(FLOWS["data"])
    graph = flow.graph(checkpointer=InMemorySaver())
    own = {"config": flow.config(run_id="r"), "context": flow.context(run_id="r")}
    graph.invoke(flow.input({}), **own)
    with pytest.raises(AnswerInvalid, match=r"gate 'review', 'setupJson': the answer"):
        graph.invoke(Command(resume=answer), **own)
