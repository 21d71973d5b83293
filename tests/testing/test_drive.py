"""What `drive` hands a test: the record of calls, what a failed run had done, and its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.errors import AnswerInvalid, NodeFailed, ValueRefused
from cinatra_sdk.events import RunEvent
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.outside.http_calls.description import platform_from
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.testing import Result, adrive, drive, simulation
from oas_compiler import compile_flow
from oas_compiler.lower.flow import Flow
from tests.flows import (
    Json,
    api,
    branching,
    end,
    flow_node,
    flow_of,
    gate,
    message,
    node,
    port,
    start,
    tool,
)


async def _adriven(flow: Flow, *args: Any, **options: Any) -> Result:
    return await adrive(flow, *args, **options)


def driven_async(flow: Flow, *args: Any, **options: Any) -> Result:
    return asyncio.run(_adriven(flow, *args, **options))


both = pytest.mark.parametrize("driven", [drive, driven_async], ids=["drive", "adrive"])
Driven = Callable[..., Result]


def tool_flow(compute: Callable[..., Any], id_: str = "compute") -> Flow:
    return compile_flow(_calling(id_), tools={"compute": compute})


def _calling(id_: str) -> Json:
    called = tool(id_, "compute", [port("a", "array")], [port("n", None)])
    edges = [("start", "a", id_, "a"), (id_, "n", "end", "n")]
    return flow_of(
        start(port("a", "array", default=[1])), called, end(port("n", None)), edges=edges
    )


# ------------------------------------------------------------------ the record of tools


@both
def test_a_tool_that_changes_its_arguments_does_not_change_the_record(driven: Driven) -> None:
    def compute(a: list[int]) -> int:
        a.append(99)
        return len(a)

    (call,) = driven(tool_flow(compute)).calls
    assert (call.method, call.body, call.answer, call.error) == ("TOOL", {"a": [1]}, 2, None)


def test_the_record_keeps_what_a_tool_returned_and_not_what_became_of_it() -> None:
    kept = [1]

    def compute(a: list[int]) -> list[int]:
        return kept

    result = drive(tool_flow(compute))
    kept.append(2)
    assert result.calls[0].answer == [1]


@both
def test_a_tool_that_raises_is_recorded_with_its_error_and_without_a_secret(driven: Driven) -> None:
    async def compute(a: list[int]) -> int:
        raise LookupError("no row for sk-abcdefghijklmnopqrstuvwxyz")

    result = driven(tool_flow(compute))
    assert result.status == "failed"
    (call,) = result.calls
    told = {"status": None, "code": "LookupError", "message": "no row for [redacted]"}
    assert (call.answer, call.error) == (None, told)


@both
def test_an_object_with_an_async_call_is_recorded_with_its_answer(driven: Driven) -> None:
    class Compute:
        async def __call__(self, a: list[int]) -> tuple[int, int]:
            return (len(a), 0)

    assert driven(tool_flow(Compute())).calls[0].answer == [1, 0]


@pytest.mark.parametrize("id_", ["inner", "a:b|c", "100%", "status", "é"])
@both
def test_a_tool_in_a_subflow_is_found_by_its_path_and_by_its_id(driven: Driven, id_: str) -> None:
    inner = {**_calling(id_), "id": "sub"}
    flow = flow_of(start(), flow_node("outer:1", inner), flow_node("twice", inner), end())
    result = driven(compile_flow(flow, tools={"compute": len_of}))
    assert result.status == "completed"
    assert [call.path for call in result.calls] == [f"outer:1/{id_}", f"twice/{id_}"]
    assert len(result.calls_of(f"outer:1/{id_}")) == 1
    assert len(result.calls_of(id_)) == 2


def len_of(a: list[int]) -> int:
    return len(a)


@both
def test_a_tool_in_a_map_is_found_by_its_path_and_by_its_id(driven: Driven) -> None:
    twice = tool("twice", "twice", [port("x", "integer")], [port("y", "integer")])
    inside = flow_of(
        start(port("x", "integer")), twice, end(port("y", "integer")),
        id_="inside", edges=[("start", "x", "twice", "x"), ("twice", "y", "end", "y")],
    )  # fmt: skip
    numbers = port("xs", "array", items={"type": "integer"})
    made = flow_of(
        start(numbers), node("ParallelMapNode", "each", subflow=inside), end(),
        edges=[("start", "xs", "each", "iterated_x")],
    )  # fmt: skip
    result = driven(compile_flow(made, tools={"twice": lambda x: 2 * x}), {"xs": [1, 2]})
    assert [call.path for call in result.calls] == ["each/twice"] * 2
    assert sorted(call.answer for call in result.calls_of("twice")) == [2, 4]


# ------------------------------------------------------------------ failed runs


def _breaking() -> Json:
    """A gate, a message and a tool that raises."""
    broken = tool("broken", "broken", [], [port("n")])
    return flow_of(start(), gate("ask"), message("say", "on it"), broken, end(), id_="sub")


def broken() -> str:
    raise RuntimeError("out of order")


@both
def test_a_failed_run_tells_what_it_had_done(driven: Driven) -> None:
    result = driven(compile_flow(_breaking(), tools={"broken": broken}), answers=[True])
    assert (result.status, result.outputs, result.branch) == ("failed", None, None)
    assert isinstance(result.error, NodeFailed)
    assert result.messages == ("on it",)
    assert [(told["gate"], told["approved"]) for told in result.decisions] == [("ask", True)]


@both
def test_a_run_that_failed_in_a_subflow_tells_what_that_had_done(driven: Driven) -> None:
    flow = flow_of(start(), message("first", "one"), flow_node("outer", _breaking()), end())
    result = driven(compile_flow(flow, tools={"broken": broken}), answers=[True])
    assert result.status == "failed"
    assert result.messages == ("one", "on it")
    assert [told["gate"] for told in result.decisions] == ["outer/ask"]


# ------------------------------------------------------------------ answers


@both
@pytest.mark.parametrize("value", ["a\x00b", float("nan"), 2**70], ids=["nul", "nan", "integer"])
def test_an_answer_that_no_database_keeps_is_the_tests_mistake(driven: Driven, value: Any) -> None:
    with pytest.raises(AnswerInvalid, match="the answer"):
        driven(compile_flow(flow_of(start(), gate("ask"), end())), answers=[value])


@both
def test_an_answer_that_does_not_fit_is_the_tests_mistake(driven: Driven) -> None:
    asked = gate("ask", output=port("n", "integer"), answerSchema={"type": "integer"})
    with pytest.raises(AnswerInvalid):
        driven(compile_flow(flow_of(start(), asked, end())), answers=["many"])


@both
def test_a_value_that_a_node_may_not_put_out_fails_the_run(driven: Driven) -> None:
    def compute(a: list[int]) -> str:
        return "a\x00b"

    result = driven(tool_flow(compute))
    assert result.status == "failed"
    assert isinstance(result.error, ValueRefused)


# ------------------------------------------------------------------ the asynchronous twin


def test_more_runs_at_once_than_the_loop_has_threads_call_their_tools() -> None:
    async def host() -> list[Result]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
        return await asyncio.gather(*(adrive(tool_flow(count_one)) for _ in range(5)))

    results = asyncio.run(asyncio.wait_for(host(), 60))
    assert [one.status for one in results] == ["completed"] * 5


def count_one(a: list[int]) -> tuple[int, int]:
    return (len(a), 0)


def test_adrive_runs_the_flow_on_the_callers_loop() -> None:
    loops = []

    async def compute(a: list[int]) -> int:
        loops.append(asyncio.get_running_loop())
        return len(a)

    async def host() -> tuple[Result, Any]:
        return await adrive(tool_flow(compute)), asyncio.get_running_loop()

    result, loop = asyncio.run(host())
    assert result.outputs == {"n": 1}
    assert loops == [loop]


@both
def test_events_tell_of_every_node_in_order(driven: Driven) -> None:
    events: list[RunEvent] = []
    flow = compile_flow(flow_of(start(), gate("ask"), end()))
    assert driven(flow, answers=[True], on_event=events.append).status == "completed"
    started = [event.node for event in events if event.name == "started"]
    assert started == ["start", "ask", "ask", "end"]


# ------------------------------------------------------------------ a simulation that is led


def _led() -> Flow:
    """`parse` decides between the gate `ask` and the end; `fetch` is another call."""
    parse = api("parse", outputs=[port("action")])
    fetch = api("fetch", outputs=[port("note")])
    choose = branching("choose", port("action"), {"send": "send"})
    routes = [("start", None, "fetch"), ("fetch", None, "parse"), ("parse", None, "choose"),
              ("choose", "send", "ask"), ("choose", "default", "end"), ("ask", None, "end")]  # fmt: skip
    edges = [("parse", "action", "choose", "action")]
    return compile_flow(
        flow_of(start(), fetch, parse, choose, gate("ask"), end(), routes=routes, edges=edges)
    )


@pytest.mark.parametrize(
    "stubs",
    [{}, {"/api/fetch": {"note": "x"}}, {"/api/other": {"x": 1}}, {"fetch": {"note": "x"}}],
    ids=["no stub", "url of another node", "url of no node", "another node"],
)
def test_a_stub_for_another_call_leaves_the_steering_on(stubs: Any) -> None:
    assert [asked.node for asked in drive(_led(), stubs=stubs).gates] == ["ask"]


@pytest.mark.parametrize("key", ["parse", "/api/parse", "/parse"])
def test_a_stub_for_the_call_that_decides_replaces_the_steering(key: str) -> None:
    result = drive(_led(), stubs={key: {"action": "stop"}})
    assert (result.status, result.gates) == ("completed", ())


def test_unused_stubs_are_the_users_own() -> None:
    platform = simulation(_led(), {"fetch": {"note": "x"}, "typo": {"x": 1}})
    assert platform.unused_stubs == ["fetch", "typo"]
    drive(_led(), platform=platform)
    assert platform.unused_stubs == ["typo"]


def test_a_simulation_that_is_led_comes_back_from_its_description() -> None:
    platform = simulation(_led(), {"fetch": {"note": "x"}})
    again = platform_from(platform.describe(), env={})
    assert again.describe() == platform.describe()
    assert [asked.node for asked in drive(_led(), platform=again).gates] == ["ask"]
    assert "fallback" not in SimulatedPlatform({"a": {"x": 1}}).describe()


def test_a_malformed_fallback_is_refused_like_a_stub() -> None:
    with pytest.raises(ValueError, match="a response must be an object"):
        SimulatedPlatform(fallback={"a": 1})


# ------------------------------------------------------------------ problems without values


@pytest.mark.parametrize(
    ("schema", "value", "problem"),
    [
        ('{"type": "integer"}', "secret", "the value: not of type 'integer', got string"),
        ('{"type": ["integer", "null"]}', [], "the value: not of type 'integer' or 'null', got array"),
        ('{"properties": {"a": {"items": {"type": "object"}}}}', {"a": [{}, 7]},
         "a/1: not of type 'object', got integer"),
        ('{"required": ["a", "b", "c"]}', {"b": "secret"}, "the value: lacks the required 'a', 'c'"),
        ('{"enum": ["send", "stop"]}', "secret", 'the value: not one of ["send", "stop"], got string'),
        ('{"const": 1}', True, "the value: not 1, got boolean"),
        ('{"minLength": 9}', "secret", "the value: breaks the rule minLength: 9"),
        ('{"pattern": "^x"}', "secret", 'the value: breaks the rule pattern: "^x"'),
        ('{"properties": {"a": {}}, "additionalProperties": false}', {"secret": 1},
         "the value: has a key that is not allowed; known are 'a'"),
        ("false", "secret", "the value: no value is allowed here"),
        ('{"not": {}}', "secret", "the value: breaks the rule not: {}"),
        ('{"type": "integer"}', 7, ""),
        ('{"type": "nonsense"}', 7,
         'its schema is no JSON Schema that can be checked: at type, there is no type "nonsense"'),
    ],
)  # fmt: skip
def test_a_problem_names_the_rule_and_never_the_value(
    schema: str, value: Any, problem: str
) -> None:
    assert first_problem(schema, value) == problem


# ------------------------------------------------------------------ keys of answers


def _twice_around(asked: Json) -> Flow:
    """`sub` holds the gate `review`; the flow goes through it twice, by two FlowNodes."""
    inner = flow_of(start(), asked, end(), id_="sub-flow")
    return compile_flow(flow_of(start(), flow_node("sub", inner), flow_node("again", inner), end()))


@both
def test_a_key_that_names_no_gate_is_refused_before_anything_runs(driven: Driven) -> None:
    flow = compile_flow(flow_of(start(), api("read"), gate("review"), end()))
    platform = SimulatedPlatform({})
    with pytest.raises(AnswerInvalid, match=r"'reveiw'.*did you mean \"review\"\?"):
        driven(flow, answers={"reveiw": True}, platform=platform)
    assert platform.calls == []


@pytest.mark.parametrize(
    "key", ["end", "sub", "sub/reviews", "review/sub", "", "review!", "again/sub/review", "revi#2"]
)
def test_a_key_of_no_gate_at_all_is_refused(key: str) -> None:
    with pytest.raises(AnswerInvalid, match="no gate of the flow is called so"):
        drive(_twice_around(gate("review")), answers={key: True})


@both
def test_every_id_that_the_result_prints_is_a_key(driven: Driven) -> None:
    flow = _twice_around(gate("review"))
    answers: dict[str, Any] = {}
    for number in range(2):
        result = driven(flow, answers=answers)
        assert result.status == "waiting"
        answers[result.gates[-1].id] = Decision.approve(reason=f"answer {number}")
    assert list(answers) == ["sub/review", "again/review"]
    result = driven(flow, answers=answers)
    assert result.status == "completed"
    assert [one["gate"] for one in result.decisions] == list(answers)


def test_a_text_that_may_be_a_decision_approves_no_gate() -> None:
    listed = {"type": "string", "enum": ["approve", "reject"]}
    approval = flow_of(start(), gate("review"), end())
    choosing = flow_of(start(), gate("review", inputMessageSchema=listed), end())
    for document, word in ((approval, "no"), (choosing, "reject"), (choosing, " Approve ")):
        with pytest.raises(AnswerInvalid, match="may be a decision as well as a text"):
            drive(compile_flow(document), answers={"review": word})
    chosen = drive(compile_flow(choosing), answers={"review": Decision.approve(value="reject")})
    assert chosen.status == "completed"


def test_a_visit_is_named_by_its_number_and_the_most_exact_key_counts() -> None:
    again = branching("again", port("said"), {"yes": "more"})
    flow = compile_flow(
        flow_of(
            start(), gate("review", output=port("said")), again, end(),
            edges=[("review", "said", "again", "said")],
            routes=[("start", None, "review"), ("review", None, "again"),
                    ("again", "more", "review"), ("again", "default", "end")],
        )
    )  # fmt: skip
    result = drive(flow, answers={"review": "yes", "review#3": "enough"})
    assert [gate.id for gate in result.gates] == ["review", "review#2", "review#3"]
    assert result.status == "completed"
    assert drive(flow, answers={"review": ["yes", "enough"]}).status == "completed"
    assert drive(flow, answers={"review#2": "enough"}).status == "waiting"


def test_branches_and_elements_are_named_with_and_without_their_place() -> None:
    inner = flow_of(start(port("x")), gate("ask"), end(), id_="item")
    each = node(
        "MapNode", "each", subflow=inner, inputs=[port("iterated_x", "array")], outputs=[],
        reducers={},
    )  # fmt: skip
    whole = start(port("xs", "array", default=["a", "b"]))
    flow = compile_flow(flow_of(whole, each, end(), edges=[("start", "xs", "each", "iterated_x")]))
    (first,) = drive(flow).gates[:1]
    assert first.id.startswith("each[")
    for answers in ({"ask": True}, {"each/ask": True}, {"each[0]/ask": True, "each[1]/ask": True}):
        assert drive(flow, answers=answers).status == "completed"
    assert drive(flow, answers={"each[0]/ask": True}).status == "waiting"


def test_a_flow_without_gates_takes_no_answers() -> None:
    with pytest.raises(AnswerInvalid, match="no gate of the flow is called so"):
        drive(compile_flow(flow_of(start(), message("say", "hi"), end())), answers={"say": True})


def test_a_gate_inside_of_a_tools_own_code_is_answered_by_its_name() -> None:
    from langgraph.types import interrupt

    result = drive(tool_flow(lambda a: interrupt("how many?")), answers={"compute": 3})
    assert (result.status, result.outputs) == ("completed", {"n": 3})


def _with_tool() -> Flow:
    sent = tool("send", "send_mail", [], [port("n")])
    return compile_flow(
        flow_of(start(), api("read"), gate("review"), sent, end()),
        tools={"send_mail": lambda: "sent"},
    )


@pytest.mark.parametrize(
    "answers",
    [{"read": True}, {"start": True}, {"review": True, "send": True}, {"send": True},
     {"review": True, "send_mail": True}, {"review": True, "reviews": True}, {"review": True, "end": 1}],
    ids=str,
)  # fmt: skip
def test_a_key_of_what_asks_nobody_is_refused_with_the_gates(answers: Any) -> None:
    with pytest.raises(AnswerInvalid, match=r"answers names '\w+'.*(its gates: review|mean \"review\")"):  # fmt: skip
        drive(_with_tool(), answers=answers)
    assert drive(_with_tool(), answers={"review": True}).status == "completed"


NO_SHAPES: list[tuple[Any, str]] = [
    ("yes", "a text"), (b"yes", "of the type bytes"), (True, "True"), (False, "False"), (1, "a number"),
    (Decision.approve(), "one Decision"), ({True}, "of the type set"), (iter([True]), "list_iterator"),
    ({1: True}, "a key of answers is a number"), ({"approved": True}, "one answer alone stands in a list"),
    ({"decisions": [{"type": "approve"}]}, "one answer in the words of another client"),
    ([{"type": "response", "args": "x"}], "a list around it"),
    ({"review": [{"type": "accept", "args": None}]}, "the list of 'review' .* a list around it"),
    ([True, {"type": "respond", "message": "x"}], "a list around it"),
]  # fmt: skip


@both
@pytest.mark.parametrize(
    ("answers", "told"), NO_SHAPES, ids=lambda one: str(one).partition(" at 0x")[0][:30]
)
def test_answers_of_another_shape_are_refused_with_the_shapes_there_are(
    driven: Driven, answers: Any, told: str
) -> None:
    with pytest.raises(AnswerInvalid, match=told):
        driven(compile_flow(flow_of(start(), gate("review"), end())), answers=answers)


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        ([{"type": "accept", "args": None}], "completed", ""),
        ([{"type": "ignore"}], "rejected", ""),
        ({"decisions": [{"type": "reject", "message": "no"}]}, "rejected", "no"),
        ({"approved": True, "reason": "fine"}, "completed", "fine"),
        ({"approved": False, "reason": "no", "by": "ann"}, "rejected", "no"),
    ],
    ids=str,
)
def test_a_whole_answer_is_read_as_a_resumed_graph_reads_it(
    answer: Any, status: str, reason: str
) -> None:
    flow = compile_flow(flow_of(start(), gate("review"), end()))
    for answers in ({"review": [answer]}, [answer], (answer,), lambda _gate: answer):
        result = drive(flow, answers=answers)
        assert (result.status, result.decisions[0]["reason"]) == (status, reason)


@pytest.mark.parametrize("shown", ["", None, "seen", 7, [], "0" * 15])
def test_an_answer_that_was_seen_nowhere_is_refused_by_name(shown: Any) -> None:
    flow = compile_flow(flow_of(start(), gate("review"), end()))
    for approved in (True, False):
        with pytest.raises(AnswerInvalid, match="'shown' is"):
            drive(flow, answers={"review": {"approved": approved, "shown": shown}})
