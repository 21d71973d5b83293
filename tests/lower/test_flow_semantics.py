"""What a compiled flow does, node by node; expected values are worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.errors import InputInvalid, LimitExceeded, NodeFailed
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.langgraph_threads.host_context import host_context
from cinatra_sdk.outside.http_calls.protocol import PlatformOutputError
from cinatra_sdk.testing import drive
from oas_compiler import CompileError, compile_flow
from tests.flows import (
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


def run(flow: Any, params: Any = None, **options: Any) -> Any:
    tools = options.pop("tools", None)
    return drive(compile_flow(flow, tools=tools), params or {}, **options)


def test_start_inputs_reach_the_end_and_defaults_fill_in() -> None:
    flow = flow_of(
        start(port("a"), port("b", "integer", default=7)),
        end(port("a"), port("b", "integer")),
        edges=[("start", "a", "end", "a"), ("start", "b", "end", "b")],
    )
    result = run(flow, {"a": "x"})
    assert (result.status, result.outputs, result.branch) == (
        "completed",
        {"a": "x", "b": 7},
        "next",
    )


def test_an_end_output_without_an_edge_is_the_start_input_of_that_name() -> None:
    flow = flow_of(start(port("topic")), end(port("topic")))
    assert run(flow, {"topic": "x"}).outputs == {"topic": "x"}


def test_an_output_that_an_end_does_not_produce_takes_the_flow_level_default() -> None:
    flow = flow_of(
        start(port("mode")),
        branching("choose", port("mode"), {"a": "left"}),
        end(port("x"), id_="end_left", branch_name="left"),
        end(port("y"), id_="end_right"),
        routes=[("start", None, "choose"), ("choose", "left", "end_left"), ("choose", "default", "end_right")],
        edges=[
            ("start", "mode", "choose", "mode"),
            ("start", "mode", "end_left", "x"),
            ("start", "mode", "end_right", "y"),
        ],
        outputs=[port("x", default="no x"), port("y", default="no y")],
    )  # fmt: skip
    left, right = run(flow, {"mode": "a"}), run(flow, {"mode": "b"})
    assert (left.outputs, left.branch) == ({"x": "a", "y": "no y"}, "left")
    assert (right.outputs, right.branch) == ({"x": "no x", "y": "b"}, "next")


@pytest.mark.parametrize(
    ("type_", "value", "mapping", "reached"),
    [
        ("string", "go", {"go": "yes"}, "yes"),
        ("string", "Go", {"go": "yes"}, "next"),
        ("boolean", True, {"true": "yes"}, "yes"),
        ("boolean", False, {"true": "yes"}, "next"),
        ("boolean", False, {"false": "yes"}, "yes"),
        ("integer", 3, {"3": "yes"}, "yes"),
        ("number", 3.0, {"3": "yes"}, "yes"),
        ("number", 2.5, {"2.5": "yes"}, "yes"),
        ("string", "3", {"3": "yes"}, "yes"),
        ("string", "", {"": "yes"}, "yes"),
    ],
)
def test_branching_reads_its_keys_by_their_json_text(
    type_: str, value: Any, mapping: Any, reached: str
) -> None:
    flow = flow_of(
        start(port("v", type_)),
        branching("choose", port("v", type_), mapping),
        end(id_="end_yes", branch_name="yes"),
        end(id_="end_no"),
        routes=[("start", None, "choose"), ("choose", "yes", "end_yes"), ("choose", "default", "end_no")],
        edges=[("start", "v", "choose", "v")],
    )  # fmt: skip
    assert run(flow, {"v": value}).branch == reached


def test_of_two_sources_the_one_that_ran_last_wins() -> None:
    flow = flow_of(
        start(port("mode"), port("base", default="from start")),
        branching("choose", port("mode"), {"call": "call"}),
        api("patch", outputs=[port("base")]),
        end(port("base")),
        routes=[
            ("start", None, "choose"), ("choose", "call", "patch"),
            ("choose", "default", "end"), ("patch", None, "end"),
        ],
        edges=[
            ("start", "mode", "choose", "mode"),
            ("patch", "base", "end", "base"),
            ("start", "base", "end", "base"),
        ],
    )  # fmt: skip
    stubs = {"patch": {"base": "patched"}}
    assert run(flow, {"mode": "call"}, stubs=stubs).outputs == {"base": "patched"}
    assert run(flow, {"mode": "skip"}, stubs=stubs).outputs == {"base": "from start"}


def test_an_input_without_source_and_default_names_itself_when_it_is_needed() -> None:
    flow = flow_of(
        start(port("topic")),
        api("draft", inputs=[port("topic")], data={"t": "{{ topic }}"}),
        end(),
        edges=[("start", "topic", "draft", "topic")],
    )
    result = run(flow, {}, platform=_Silent())
    assert result.status == "failed"
    assert isinstance(result.error, NodeFailed)
    assert "node 'draft': input 'topic' has no value: it is fed by start.topic" in str(result.error)


class _Silent:
    """A platform that nobody may call."""

    def call(self, call: Any) -> Any:
        raise AssertionError(f"{call.node} was called")

    async def acall(self, call: Any) -> Any:
        raise AssertionError(f"{call.node} was called")

    def describe(self) -> Any:
        return {}


def test_a_null_default_is_a_value() -> None:
    flow = flow_of(
        start(),
        gate("ask", inputs=[port("last", "object", default=None), port("n", "integer", default=0)]),
        end(),
    )
    (asked,) = run(flow, answers=[True]).gates
    assert asked.values == {"last": None, "n": 0}


@pytest.mark.parametrize(
    ("source", "value", "target", "expected"),
    [
        ("integer", 3, "string", "3"),
        ("boolean", True, "string", "true"),
        ("array", ["a", 1], "string", '["a", 1]'),
        ("object", {"k": None}, "string", '{"k": null}'),
        ("number", 3.9, "integer", 3),
        ("number", -3.9, "integer", -3),
        ("integer", 2, "number", 2),
        ("boolean", True, "integer", 1),
        ("number", 0, "boolean", False),
        ("integer", 5, "boolean", True),
    ],
)
def test_an_edge_casts_to_the_type_it_leads_to(
    source: str, value: Any, target: str, expected: Any
) -> None:
    flow = flow_of(
        start(port("v", source)), end(port("v", target)), edges=[("start", "v", "end", "v")]
    )
    assert run(flow, {"v": value}).outputs == {"v": expected}


def test_casts_go_into_lists_and_objects() -> None:
    rows = {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "number"}}}}
    ints = {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    flow = flow_of(
        start({"title": "v", **rows}),
        end({"title": "v", **ints}),
        edges=[("start", "v", "end", "v")],
    )
    assert run(flow, {"v": [{"n": 1.5}, {"n": 2}]}).outputs == {"v": [{"n": 1}, {"n": 2}]}


def test_a_request_body_carries_typed_values_and_json_inside_text() -> None:
    flow = flow_of(
        start(port("ids", "array"), port("on", "boolean"), port("name")),
        api(
            "call",
            inputs=[port("ids", "array"), port("on", "boolean"), port("name")],
            data={"ids": "{{ ids }}", "on": "{{ on }}", "text": "{{ name }}: {{ ids }} {{ on }}"},
        ),
        end(),
        edges=[("start", t, "call", t) for t in ("ids", "on", "name")],
    )
    (call,) = run(flow, {"ids": ["a"], "on": True, "name": "N"}).calls
    assert call.body == {"ids": ["a"], "on": True, "text": 'N: ["a"] true'}
    assert call.url == "{{CINATRA_BASE_URL}}/api/call"


def test_a_missing_declared_output_names_node_and_field() -> None:
    class Empty(_Silent):
        def call(self, call: Any) -> Any:
            return {}

    flow = flow_of(start(), api("draft", outputs=[port("text")]), end())
    result = drive(compile_flow(flow), platform=Empty())
    assert isinstance(result.error, PlatformOutputError)
    assert "draft" in str(result.error)
    assert "text" in str(result.error)


def test_messages_come_back_in_order_also_from_a_subflow() -> None:
    inner = flow_of(start(port("n")), message("say2", "two {{ n }}", port("n")), end(), id_="inner",
                    edges=[("start", "n", "say2", "n")])  # fmt: skip
    flow = flow_of(
        start(port("n")), message("say1", "one"), flow_node("sub", inner), message("say3", "three"), end(),
        edges=[("start", "n", "sub", "n")],
    )  # fmt: skip
    assert run(flow, {"n": "x"}).messages == ("one", "two x", "three")


def test_what_a_gate_says_stands_in_the_conversation_once_it_is_answered() -> None:
    asks = node(
        "InputMessageNode", "ask", message="Send {{ n }}?", inputs=[port("n")],
        outputs=[port("userResponse")], cinatra={"riskClass": "read_only"},
    )  # fmt: skip
    inner = flow_of(start(port("n")), asks, gate("quiet"), end(), id_="inner",
                    edges=[("start", "n", "ask", "n")])  # fmt: skip
    flow = flow_of(
        start(port("n")), message("before", "one"), flow_node("sub", inner), message("after", "three"),
        end(), edges=[("start", "n", "sub", "n")],
    )  # fmt: skip
    answered = run(flow, {"n": "x"}, answers=[True, True])
    assert answered.messages == ("one", "Send x?", "three")
    assert answered.gates[0].values["output"] == "Send x?"
    assert run(flow, {"n": "x"}, answers=[False]).messages == ("one", "Send x?")
    nobody = {"steps": [{"stepNumber": step, "requiresApproval": False} for step in (1, 2)]}
    skipped = run(flow, {"n": "x"}, context=host_context(run_id="r", approval_policy=nobody))
    assert (skipped.status, skipped.messages) == ("completed", ("one", "three"))


def test_regex_and_template_nodes_compute_in_place() -> None:
    flow = flow_of(
        start(port("text")),
        node("PluginRegexNode", "digits", regex_pattern=r"\d+", return_first_match_only=False,
             inputs=[port("text")], outputs=[port("output", "array")],
             component_plugin_name="NodesPlugin", component_plugin_version="26.1.0"),
        node("PluginTemplateNode", "say", template="{% if found|length > 1 %}many{% else %}few{% endif %}",
             inputs=[port("found", None)], outputs=[port("output")],
             component_plugin_name="NodesPlugin", component_plugin_version="26.1.0"),
        end(port("found", "array"), port("word")),
        edges=[("start", "text", "digits", "text"), ("digits", "output", "say", "found"),
               ("digits", "output", "end", "found"), ("say", "output", "end", "word")],
    )  # fmt: skip
    assert run(flow, {"text": "a1b22"}).outputs == {"found": ["1", "22"], "word": "many"}
    assert run(flow, {"text": "a1b"}).outputs == {"found": ["1"], "word": "few"}


# ------------------------------------------------------------------------ tools


def tool_flow(outputs: Any) -> Any:
    return flow_of(
        start(port("a", "integer")),
        tool("compute", "compute", [port("a", "integer")], outputs),
        end(*outputs),
        edges=[("start", "a", "compute", "a")] + [("compute", o["title"], "end", o["title"]) for o in outputs],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("outputs", "returned", "expected"),
    [
        ([port("out", "object")], {"a": 1, "b": 2}, {"out": {"a": 1, "b": 2}}),
        ([port("out", "integer")], {"out": 1}, {"out": 1}),
        ([port("out")], "value", {"out": "value"}),
        ([port("out", "array")], [1, 2, 3], {"out": [1, 2, 3]}),
        ([port("out", "number")], 42, {"out": 42}),
        ([port("out")], (1, 2), {"out": "[1, 2]"}),
        ([port("a", "integer"), port("b")], (7, "ok"), {"a": 7, "b": "ok"}),
        ([port("a", "integer"), port("b", "integer", default=0)], {"a": 5}, {"a": 5, "b": 0}),
    ],
)
def test_a_tools_result_becomes_the_declared_outputs(
    outputs: Any, returned: Any, expected: Any
) -> None:
    result = run(tool_flow(outputs), {"a": 1}, tools={"compute": lambda a: returned})
    assert result.outputs == expected
    assert [(call.node, call.method, call.body) for call in result.calls] == [
        ("compute", "TOOL", {"a": 1})
    ]


def test_an_async_tool_runs_too() -> None:
    async def compute(a: int) -> int:
        return a + 1

    assert run(
        tool_flow([port("out", "integer")]), {"a": 1}, tools={"compute": compute}
    ).outputs == {"out": 2}


def test_a_tool_that_raises_fails_the_run_with_its_name_and_without_a_secret() -> None:
    def compute(a: int) -> int:
        raise RuntimeError("cannot reach sk-abcdefghijklmnopqrstuvwxyz")

    result = run(tool_flow([port("out", "integer")]), {"a": 1}, tools={"compute": compute})
    assert result.status == "failed"
    assert "tool 'compute' raised RuntimeError: cannot reach [redacted]" in str(result.error)


def test_a_tool_cannot_change_the_state_of_the_run() -> None:
    seen = []

    def compute(a: list[int]) -> int:
        a.append(99)
        return len(a)

    flow = flow_of(
        start(port("a", "array")),
        tool("compute", "compute", [port("a", "array")], [port("n", "integer")]),
        end(port("a", "array"), port("n", "integer")),
        edges=[("start", "a", "compute", "a"), ("start", "a", "end", "a"), ("compute", "n", "end", "n")],
    )  # fmt: skip
    params = {"a": [1]}
    result = run(flow, params, tools={"compute": compute})
    assert result.outputs == {"a": [1], "n": 2}
    assert params == {"a": [1]}
    assert seen == []


def test_a_flow_whose_tool_is_not_registered_does_not_compile() -> None:
    with pytest.raises(CompileError, match="compute"):
        compile_flow(tool_flow([port("out")]))


# ------------------------------------------------------------------------ subflows


def deep(levels: int) -> Any:
    """A gate `levels` flows down, with the way back up."""
    flow = flow_of(
        start(port("x")), gate("ask", output=port("said")), end(port("said")), id_="level0",
        edges=[("ask", "said", "end", "said")],
    )  # fmt: skip
    for level in range(1, levels + 1):
        flow = flow_of(
            start(port("x")), flow_node(f"sub{level}", flow), end(port("said")), id_=f"level{level}",
            edges=[("start", "x", f"sub{level}", "x"), (f"sub{level}", "said", "end", "said")],
        )  # fmt: skip
    return flow


def test_a_gate_four_flows_down_pauses_the_whole_run_and_its_answer_comes_back_up() -> None:
    result = run(deep(4), {"x": "1"}, answers=["hello"])
    assert result.outputs == {"said": "hello"}
    assert [g.id for g in result.gates] == ["sub4/sub3/sub2/sub1/ask"]
    assert [g.node for g in result.gates] == ["ask"]


def test_a_reject_four_flows_down_rejects_the_whole_run() -> None:
    result = run(deep(4), {"x": "1"}, answers=[False])
    assert (result.status, result.outputs, result.branch) == ("rejected", None, None)
    assert result.decisions[-1]["gate"] == "sub4/sub3/sub2/sub1/ask"


def test_a_flow_node_leaves_by_the_branch_of_the_end_that_was_reached() -> None:
    inner = flow_of(
        start(port("v")),
        branching("choose", port("v"), {"a": "left"}),
        end(id_="e1", branch_name="left"),
        end(id_="e2", branch_name="right"),
        routes=[("start", None, "choose"), ("choose", "left", "e1"), ("choose", "default", "e2")],
        edges=[("start", "v", "choose", "v")],
        id_="inner",
    )
    flow = flow_of(
        start(port("v")), flow_node("sub", inner), message("was_left", "L"), message("was_right", "R"), end(),
        routes=[("start", None, "sub"), ("sub", "left", "was_left"), ("sub", "right", "was_right"),
                ("was_left", None, "end"), ("was_right", None, "end")],
        edges=[("start", "v", "sub", "v")],
    )  # fmt: skip
    assert run(flow, {"v": "a"}).messages == ("L",)
    assert run(flow, {"v": "z"}).messages == ("R",)


# ------------------------------------------------------------------------ loops


def loop_flow(**about: Any) -> Any:
    return flow_of(
        start(),
        gate("ask", output=port("said"), **about),
        branching("again", port("said"), {"more": "more"}),
        api("work", inputs=[port("said")], data={"said": "{{ said }}"}),
        end(port("said")),
        routes=[("start", None, "ask"), ("ask", None, "again"), ("again", "more", "work"),
                ("again", "default", "end"), ("work", None, "ask")],
        edges=[("ask", "said", "again", "said"), ("ask", "said", "work", "said"), ("ask", "said", "end", "said")],
    )  # fmt: skip


def test_a_loop_asks_anew_at_every_visit_with_a_fresh_id() -> None:
    result = run(loop_flow(), answers=["more", "more", "enough"])
    assert [(g.id, g.visit) for g in result.gates] == [("ask", 1), ("ask#2", 2), ("ask#3", 3)]
    assert [call.node for call in result.calls] == ["work", "work"]
    assert len({call.idempotency_key for call in result.calls}) == 2
    assert result.outputs == {"said": "enough"}


def test_a_reject_in_the_second_turn_of_a_loop_stops_there() -> None:
    result = run(loop_flow(), answers=["more", Decision.reject(reason="stop")])
    assert result.status == "rejected"
    assert len(result.calls) == 1
    assert result.decisions[-1] | {"at": ""} == {
        "gate": "ask#2", "node": "ask", "visit": 2, "step": 1, "approved": False,
        "skipped": False, "reason": "stop", "by": "", "at": "",
    }  # fmt: skip


def test_a_loop_ends_at_its_gates_limit_with_an_error_that_names_it() -> None:
    result = run(loop_flow(maxGateVisits=3), answers=lambda _gate: "more")
    assert result.status == "failed"
    assert isinstance(result.error, LimitExceeded)
    assert "gate 'ask' was visited 3 times" in str(result.error)
    assert len(result.gates) == 3


def test_a_loop_without_a_gate_ends_at_the_bound_on_steps() -> None:
    flow = flow_of(
        start(),
        api("work", outputs=[port("state")]),
        branching("done", port("state"), {"done": "out"}),
        end(),
        routes=[("start", None, "work"), ("work", None, "done"), ("done", "out", "end"), ("done", "default", "work")],
        edges=[("work", "state", "done", "state")],
    )  # fmt: skip
    compiled = compile_flow(flow, max_steps=50)
    result = drive(compiled, stubs={"work": {"state": "going on"}})
    assert isinstance(result.error, LimitExceeded)
    assert "50 steps" in str(result.error)


@pytest.mark.parametrize("bound", [0, -1, True, 2.5, "50", None])
def test_a_bound_that_is_no_number_of_steps_is_refused(bound: Any) -> None:
    with pytest.raises(ValueError, match="max_steps is a whole number from 1 on"):
        compile_flow(flow_of(start(), end()), max_steps=bound)


def test_a_run_may_take_exactly_as_many_steps_as_the_host_allows() -> None:
    flow = flow_of(start(), message("one", "1"), message("two", "2"), end())
    assert drive(compile_flow(flow, max_steps=4)).status == "completed"
    assert isinstance(drive(compile_flow(flow, max_steps=3)).error, LimitExceeded)


# ------------------------------------------------------------------------ setup


def setup_flow(**about: Any) -> Any:
    return flow_of(
        start(
            port("site", format="uri"), port("count", "integer"), port("note", default=""), port("secret_id", default=""),
            required=["site", "count"], hidden=["secret_id"], **about,
        ),
        end(port("site"), port("count", "integer"), port("note")),
    )  # fmt: skip


def test_missing_required_inputs_are_asked_one_by_one_in_order() -> None:
    result = run(setup_flow(), answers=["https://a.example", 3])
    assert result.outputs == {"site": "https://a.example", "count": 3, "note": ""}
    assert [(g.id, g.step, dict(g.schema)) for g in result.gates] == [
        ("start", 0, {"type": "string", "format": "uri"}),
        ("start#2", 0, {"type": "integer"}),
    ]
    assert result.gates[1].values == {"site": "https://a.example"}


def test_an_input_that_is_there_but_empty_is_not_asked_for() -> None:
    result = run(setup_flow(), {"site": "", "count": 0})
    assert (result.status, result.gates) == ("completed", ())


def test_the_grouped_form_asks_for_everything_at_once() -> None:
    grouped = {"site": "@cinatra-ai/agent-builder:grouped-setup-form"}
    result = run(
        setup_flow(inputRenderers=grouped), answers=[{"site": "s", "count": 2, "note": "n"}]
    )
    assert result.outputs == {"site": "s", "count": 2, "note": "n"}
    (asked,) = result.gates
    assert asked.renderer == "@cinatra-ai/agent-builder:grouped-setup-form"
    assert list(asked.schema["properties"]) == ["site", "count", "note"]  # type: ignore[arg-type]
    assert asked.schema["required"] == ["site", "count"]


def test_a_setup_answer_of_the_wrong_type_is_refused_before_anything_is_written() -> None:
    with pytest.raises(ValueError, match="count: not of type 'integer', got string"):
        run(setup_flow(), answers=["s", "many"])


def test_a_reject_at_setup_ends_the_run_as_rejected() -> None:
    assert run(setup_flow(), answers=["s", False]).status == "rejected"


def test_a_hidden_required_input_that_the_caller_forgot_is_an_error_and_not_a_question() -> None:
    flow = flow_of(start(port("id"), required=["id"], hidden=["id"]), end(port("id")))
    with pytest.raises(InputInvalid, match="missing the required input 'id'"):
        run(flow, {}, platform=_Silent())
    assert run(flow, {"id": "x"}, platform=_Silent()).outputs == {"id": "x"}


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"count": "3"}, "'count'.*not of type 'integer'"),
        ({"site": None}, "'site'"),
        ({"site": "a\x00"}, "NUL"),
        ({"site": "\ud800"}, "surrogate"),
        ({"site": "x" * 1_000_001}, "characters"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_by_name(params: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        run(setup_flow(), params)


def test_undeclared_and_authoritative_parameters_are_dropped_and_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    flow = compile_flow(setup_flow())
    with caplog.at_level("WARNING", logger="oasflow.flow"):
        given = flow.input({"site": "s", "siet": 1, "bearer_token": "x", "rejected_at": "now"})
    assert given == {"inputs": {"site": "s"}}
    said = " | ".join(record.getMessage() for record in caplog.records)
    assert 'siet: not an input of this flow, did you mean "site"?' in said
    assert "R01_IGNORED bearer_token" in said
    assert "R01_IGNORED rejected_at" in said


def test_the_run_id_input_is_the_hosts_whatever_the_caller_sends() -> None:
    flow = flow_of(start(port("cinatra_run_id", default="")), end(port("cinatra_run_id")))
    result = run(flow, {"cinatra_run_id": "forged"})
    assert result.outputs is not None
    assert str(result.outputs["cinatra_run_id"]).startswith("drive-")


@pytest.mark.parametrize("words", ["Say: {{ feedback }}", "Say: {{ feedback.subject }}"])
def test_a_gate_whose_message_needs_what_a_later_node_of_its_loop_makes_asks_all_the_same(
    words: str,
) -> None:
    ask = gate("ask", inputs=[port("feedback", None)], output=port("words")) | {"message": words}
    flow = flow_of(
        start(), ask, branching("b", port("words"), {"again": "again"}),
        gate("more", output=port("feedback")), end(port("words")),
        routes=[
            ("start", None, "ask"), ("ask", None, "b"), ("b", "again", "more"),
            ("more", None, "ask"), ("b", "default", "end"),
        ],
        edges=[
            ("ask", "words", "b", "words"), ("ask", "words", "end", "words"),
            ("more", "feedback", "ask", "feedback"),
        ],
    )  # fmt: skip
    result = run(flow, answers=[])
    assert (result.status, result.gates[0].values["feedback"]) == ("waiting", None)


@pytest.mark.parametrize(
    ("message", "draft", "shown"),
    [
        ("{{ draft }}", '{"bcc": "nobody"}', {"output": '{"bcc": "nobody"}'}),
        ("{{ draft }}", '{"approval_policy": 1}', {"output": '{"approval_policy": 1}'}),
        (
            '{"subject": "{{ draft }}"}',
            'Hi", "bcc": "nobody',
            {"output": '{"subject": "Hi", "bcc": "nobody"}'},
        ),
        (
            '{"subject": "{{ draft }}"}',
            'Hi", "subject": "x',
            {"output": '{"subject": "Hi", "subject": "x"}'},
        ),
        ('{"subject": {{ draft | tojson }}}', 'Hi", "bcc": "nobody', {"subject": None}),
        ('{# "bcc" #}{{ draft }}', '{"bcc": "nobody"}', {"output": '{"bcc": "nobody"}'}),
    ],
)
@pytest.mark.parametrize("own", [True, False], ids=["of the gate", "of the node before"])
def test_what_is_put_into_a_message_replaces_nothing_that_the_gate_shows(
    own: bool, message: str, draft: str, shown: Any
) -> None:
    ask = gate("ask", output=port("words"))
    says = {
        "component_type": "OutputMessageNode", "id": "says", "name": "says",
        "message": message, "inputs": [port("draft")],
    }  # fmt: skip
    nodes = [ask | {"message": message, "inputs": [port("draft")]}] if own else [says, ask]
    flow = flow_of(
        start(port("draft"), port("bcc"), required=["draft", "bcc"]), *nodes, end(port("words")),
        edges=[
            ("start", "draft", "ask" if own else "says", "draft"), ("ask", "words", "end", "words"),
        ],
    )  # fmt: skip
    result = run(flow, {"draft": draft, "bcc": "spy@evil.example"}, answers=[])
    values = result.gates[0].values
    assert values["bcc"] == "spy@evil.example"
    for name, value in shown.items():
        assert values[name] == (draft if value is None else value)


def test_a_secret_that_a_gates_message_spells_is_neither_shown_nor_kept() -> None:
    asks = node(
        "InputMessageNode", "ask", message="Use Authorization: Bearer {{ output }}",
        inputs=[port("output")], outputs=[port("userResponse")],
        cinatra={"riskClass": "read_only"},
    )  # fmt: skip
    flow = flow_of(start(port("output")), asks, end(), edges=[("start", "output", "ask", "output")])
    stopped = run(flow, {"output": "abcdefghijklmnopqrstuvwxyz0123456789"}, answers=["yes"])
    assert "would show a secret" in str(stopped.error)
    assert stopped.messages == ()
