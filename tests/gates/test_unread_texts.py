"""A text at a gate that asks for a yes approves, so that it is taken where the flow reads it alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from cinatra_sdk import Decision, GovernedState, HostContext, build_hitl_gate, host_context
from cinatra_sdk.activations import stop_of
from cinatra_sdk.blocks.host_node import seal_host_fields
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.answers import has_words, is_placeholder
from cinatra_sdk.gates.forms.form_choice import form_of
from cinatra_sdk.gates.gate import Gate, gates_of
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.flows import api, end, flow_node, flow_of, gate, node, port, start

COUNT = port("count", "integer")
SEND = api("send", risk="send_external_message")
UNREAD = flow_of(start(port("topic")), gate("review", inputs=[port("topic")]), SEND, end(),
                 edges=[("start", "topic", "review", "topic")])  # fmt: skip
READ = flow_of(start(), gate("review"), SEND, end(port("said")),
               edges=[("review", "userResponse", "end", "said")])  # fmt: skip
NUMBER_READ = flow_of(start(), gate("review", output=COUNT), SEND, end(COUNT),
                      edges=[("review", "count", "end", "count")])  # fmt: skip
SHOWN_LATER = flow_of(start(), gate("review"), gate("confirm"), SEND, end())
LLM = node("LlmNode", "write", prompt_template="Write.", outputs=[port("text")],
           llm_config={"component_type": "OpenAiConfig", "id": "m", "name": "m", "model_id": "gpt-5"})  # fmt: skip
DEAF = flow_of(start(), gate("review"), LLM, end())
HISTORY = node("PluginGetChatHistoryNode", "heard", outputs=[port("chat_history")])
HEARD = flow_of(start(), gate("review"), SEND, HISTORY, end())
SAID_BEFORE = flow_of(start(), HISTORY, gate("review"), SEND, end())
INNER = flow_of(start(), gate("review"), end(), id_="inner")
HEARD_OUTSIDE = flow_of(start(), flow_node("box", INNER), HISTORY, end())
UNHEARD_OUTSIDE = flow_of(start(), flow_node("box", INNER), SEND, end())

LIST = {**SEND, "data": {"toolName": "agent_run_hitl_prompts_list", "input": {}}}
LISTED = flow_of(start(), flow_node("box", INNER), LIST, end())
LISTED_BEFORE = flow_of(start(), LIST, gate("review"), end())

NO = "No. Do not send."
TEXTS: list[Any] = [
    {"approved": True, "value": NO}, {"approved": True, "userResponse": NO},
    {"approved": True, "value": '{"approved": false}'}, {"approved": True, "value": ["no"]},
    {"approved": True, "value": {"to": "bob"}}, {"approved": True, "value": 0},
    {"approved": True, "value": False}, {"approved": True, "value": {"action": "reject"}},
    {"approved": True, "value": NO, "takesText": True},
    [{"type": "accept", "args": NO}], [{"type": "accept", "args": {"to": "bob"}}],
]  # fmt: skip


def waiting(file: Any) -> Gate:
    (asked,) = drive(compile_flow(file), answers=[]).gates
    return asked


@pytest.mark.parametrize("raw", TEXTS, ids=json.dumps)
def test_no_text_and_no_value_approves_where_nothing_reads_it(raw: Any) -> None:
    with pytest.raises(AnswerInvalid):
        waiting(UNREAD).read(raw)
    for unread in (True, False):
        form = form_of(
            output="n", text_output=False, output_schema={"type": "integer"}, unread=unread
        )
        number = {"approved": True, "value": 3}
        if not unread:
            assert form.read(number).value == 3
            continue
        for one in (number, *(raw for raw in TEXTS if "takesText" not in raw)):
            with pytest.raises(AnswerInvalid):
                form.read(one)


def test_the_refusal_says_what_is_asked_and_what_to_type() -> None:
    asked = waiting(UNREAD)
    with pytest.raises(
        AnswerInvalid,
        match=r"gate 'review'.* asks for approve or reject, and nothing reads a text here.*"
        r"approve RUN/GATE --shown HASH.*reject RUN/GATE --reason",
    ):
        asked.check(Decision.approve(value=NO))
    with pytest.raises(AnswerInvalid, match="the values that it shows cannot be changed here"):
        asked.check(Decision.approve(value={"topic": "Wasps"}))


@pytest.mark.parametrize(
    ("file", "takes"),
    [(UNREAD, False), (READ, True), (SHOWN_LATER, False), (DEAF, False), (HEARD, True),
     (SAID_BEFORE, False), (HEARD_OUTSIDE, True), (UNHEARD_OUTSIDE, False),
     (LISTED, True), (LISTED_BEFORE, False)],
    ids=["unread", "read by the end", "shown later", "a model that is not told", "a history",
         "a history before", "a history around", "nothing around", "a list of answers",
         "a list before"],
)  # fmt: skip
def test_what_reads_a_text_decides_whether_one_is_taken(file: Any, takes: bool) -> None:
    asked = waiting(file)
    again = Gate.from_json(json.loads(json.dumps(asked.to_json())))
    for one in (asked, again):
        if takes:
            assert one.check(Decision.approve(value=NO)).value == NO
        else:
            with pytest.raises(AnswerInvalid, match="nothing reads a text here"):
                one.check(Decision.approve(value=NO))
        for yes in ({"approved": True}, {"approved": True, "value": True},
                    {"approved": True, "userResponse": "[Approved by operator]"},
                    {"approved": True, "approvalNote": "fine"}, [{"type": "accept", "args": None}],
                    [{"type": "accept", "args": dict(one.values)}]):  # fmt: skip
            assert one.read(yes).approved
        assert not one.read({"approved": False, "reason": NO}).approved


SAYS_NO: list[Any] = [
    {"approved": False}, {"approved": False, "reason": "no"}, {"approved": "false"}, {"approved": 0},
    {"approved": None}, {"approved": False, "value": "x"}, {"action": "reject"}, {"type": "reject"},
    [{"type": "reject"}], ["reject"], {"decisions": [{"type": "reject"}]}, "reject", False,
]  # fmt: skip


@pytest.mark.parametrize("said", SAYS_NO, ids=json.dumps)
@pytest.mark.parametrize("file", [UNREAD, READ, NUMBER_READ], ids=["unread", "read", "number"])
def test_what_says_no_approves_at_no_driven_gate(file: Any, said: Any) -> None:
    try:
        result = drive(compile_flow(file), answers={"review": [said]})
    except AnswerInvalid:
        return
    assert result.status == "rejected"
    assert result.calls == ()


def test_a_driven_object_that_rejects_keeps_its_reason() -> None:
    said = {"approved": False, "reason": "wrong list"}
    result = drive(compile_flow(READ), answers={"review": said})
    assert (result.status, result.decisions[0]["reason"]) == ("rejected", "wrong list")


def resume(file: Any, raw: Any) -> Any:
    """What a plain graph, as Studio resumes it, makes of an answer."""
    flow = compile_flow(file)
    graph, config = flow.graph(InMemorySaver()), flow.config(run_id="r")
    own: Any = {"config": config, "context": flow.context(run_id="r")}
    graph.invoke(flow.input({}), **own)
    try:
        graph.invoke(Command(resume=raw), **own)
    finally:
        found = stop_of(graph.get_state(config))
    return found


@pytest.mark.parametrize(
    "raw", [*TEXTS[:8], *(one for one in SAYS_NO[2:-1] if one != SAYS_NO[10])], ids=json.dumps
)
def test_a_resumed_graph_takes_no_text_that_nothing_reads(raw: Any) -> None:
    with pytest.raises(
        AnswerInvalid, match=r"gate 'review', 'userResponse': .*an answer that fits"
    ):
        resume(UNREAD, raw)


@pytest.mark.parametrize("shown", ["", None, "seen", " ", 0, []], ids=repr)
@pytest.mark.parametrize("approved", [True, False])
def test_a_resumed_graph_takes_no_answer_that_names_nothing_as_seen(
    approved: bool, shown: Any
) -> None:
    for raw in ({"approved": approved}, {"decisions": [{"type": "approve"}]}):
        with pytest.raises(AnswerInvalid, match="'shown' is"):
            resume(UNREAD, {**raw, "shown": shown})
    assert resume(UNREAD, {"approved": False}).status == "rejected"


def test_a_run_that_paused_before_texts_were_asked_about_goes_on_as_it_was_asked() -> None:
    flow = compile_flow(UNREAD)
    graph, config = flow.graph(InMemorySaver()), flow.config(run_id="r")
    own: Any = {"config": config, "context": flow.context(run_id="r")}
    graph.invoke(flow.input({}), **own)
    (asked,) = gates_of(graph.get_state(config).interrupts)
    kept: Any = asked.to_json()
    del kept["response_schema"]["x-gate"]["unread"]
    before = Gate.from_json(kept)
    answer = Decision.approve(by="ann", value="Shorter").wire()
    assert before.read(answer).value == "Shorter"
    graph.invoke(Command(resume={asked.interrupt: before.make_resume(answer)}), **own)
    assert stop_of(graph.get_state(config)).status == "completed"


class _State(GovernedState):
    note: str


@pytest.mark.parametrize("output", ["", "note"])
def test_a_hand_written_gate_takes_a_text_where_it_has_a_key_for_it(output: str) -> None:
    builder = StateGraph(_State, context_schema=HostContext)
    builder.add_node("host_node", seal_host_fields())
    builder.add_node("ask", build_hitl_gate(step_number=1, output=output, always=True))
    builder.add_edge(START, "host_node")
    builder.add_edge("host_node", "ask")
    builder.add_edge("ask", END)
    graph: Any = builder.compile(checkpointer=InMemorySaver())
    own: Any = {"config": {"configurable": {"thread_id": "t"}}, "context": host_context(run_id="t")}
    graph.invoke({}, **own)
    if output:
        assert graph.invoke(Command(resume={"approved": True, "value": NO}), **own)["note"] == NO
        return
    with pytest.raises(AnswerInvalid, match="nothing reads a text here"):
        graph.invoke(Command(resume={"approved": True, "value": NO}), **own)
    assert "__interrupt__" not in graph.invoke(Command(resume={"approved": True}), **own)


@pytest.mark.parametrize("reason", [None, 7, b"x", ["no"]])
def test_a_reason_is_a_text_or_left_out(reason: Any) -> None:
    with pytest.raises(AnswerInvalid, match="the reason is"):
        Decision.approve(by="ann", reason=reason)


@pytest.mark.parametrize(
    "words",
    ["…", " ... ", "null", '"null"', "'None'", "NULL", "nil", "null.", "Undefined.", "NaN", "(null)",
     "[object Object]", "null, null", "\u201cnull\u201d", "_null_"],
)  # fmt: skip
def test_the_place_of_the_words_in_a_printed_command_is_no_answer(words: str) -> None:
    assert not has_words(words)
    assert has_words(f"{words} and more")


@pytest.mark.parametrize("make", [Decision.approve, Decision.reject, Decision.deny])
@pytest.mark.parametrize("empty", ["", None])
def test_a_decision_that_says_an_empty_hash_is_refused(make: Any, empty: Any) -> None:
    with pytest.raises(AnswerInvalid, match="'shown' is"):
        make(by="ann", shown=empty)
    assert make(by="ann").shown == ""


@pytest.mark.parametrize(
    "words", ["none", "None of these", "Nan", "Null and void", "null \U0001f44d"]
)
def test_a_word_of_a_person_is_one_however_near_it_is(words: str) -> None:
    assert has_words(words)


@pytest.mark.parametrize(
    ("text", "stands_for_a_yes"),
    [
        ("[approved_by_operator]", True), ("\u3010Approved by operator\u3011", True),
        ("[ApprovedByOperator]", True), ("<approved-by-operator>", True),
        ("[Approved by operator] [approved by operator]", True),
        ("[\u0410pproved by \u043eperator]", True), ("(\uff21pproved by operator)", True),
        ("approved by operator", False), ("[Approved by operator] with one change", False),
        ("[Approved by Ann]", False), ("[]", False),
    ],
)  # fmt: skip
def test_a_programs_yes_is_known_in_every_spelling(text: str, stands_for_a_yes: bool) -> None:
    assert is_placeholder(text) is stands_for_a_yes
