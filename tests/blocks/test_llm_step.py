"""`llm_step`: what is posted to the bridge, what is kept, and when nothing happens."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk.blocks.host_node import ending
from cinatra_sdk.blocks.platform_steps import llm_step
from cinatra_sdk.data.templates.flow_templates import TemplateError
from cinatra_sdk.errors import NodeFailed, ValueRefused
from cinatra_sdk.first_turn import FirstTurn, read_context
from cinatra_sdk.langgraph_threads.host_context import host_context
from cinatra_sdk.langgraph_threads.state_channels import seal
from cinatra_sdk.outside.http_calls.protocol import PlatformOutputError, PlatformResponseError
from tests.blocks.block_samples import CONFIG, Seen, graph_of
from tests.first_turn.trees import build_tree

VERDICT: Any = {"verdict": {"type": "string"}}


def asking(platform: Any, **more: Any) -> Any:
    given: Any = {
        "node": "ask",
        "agent_id": "@t/a",
        "user": "About {{ input_params.goal }}",
        "outputs": VERDICT,
    }
    return llm_step(platform, **{**given, **more})


def test_the_bridge_gets_the_rendered_request_and_the_answer_is_kept_under_the_node() -> None:
    platform = Seen({"ask": {"verdict": "fine"}})
    step = asking(
        platform,
        system="Be brief about {{ numbers }}.",
        options={"max_steps": 3, "cinatra_llm": {"preferredProvider": "{{ goal }}"}},
        risk_class="write",
        timeout=7.5,
    )
    result = graph_of(step).invoke(
        {"goal": "cats", "numbers": [1]},
        CONFIG,
        context=host_context(run_id="r1", context_id="c1", run_token="token-1234"),
    )
    (call,) = platform.seen
    assert (call.method, call.url) == ("POST", "{{CINATRA_BASE_URL}}/api/llm-bridge")
    assert call.body == {
        "user": "About cats",
        "system": "Be brief about [1].",
        "agent_id": "@t/a",
        "agent_run_id": "r1",
        "max_steps": 3,
        "cinatra_llm": {"preferredProvider": "cats"},
        "output_schema": {
            "type": "object",
            "properties": {"verdict": {"title": "verdict", "type": "string"}},
            "required": ["verdict"],
            "additionalProperties": False,
        },
    }
    assert (call.node, call.path, call.run_id, call.context_id) == ("ask", "ask", "r1", "c1")
    assert (call.risk_class, call.timeout) == ("write", 7.5)
    assert call.credentials.run_token == "token-1234"
    assert result["ask_output"] == {"verdict": "fine"}


def test_a_value_is_put_into_the_text_once_and_never_read_as_a_template() -> None:
    platform = Seen()
    graph_of(asking(platform)).invoke({"goal": "{{ numbers }}"}, CONFIG)
    assert platform.seen[0].body["user"] == "About {{ numbers }}"  # type: ignore[index, call-overload]


def test_outputs_can_go_to_state_keys_of_their_own() -> None:
    outputs: Any = {"verdict": {"type": "string"}, "remark": {"type": "string", "default": "none"}}
    step = asking(
        Seen({"ask": {"verdict": "fine", "remark": "short"}}),
        outputs=outputs,
        into={"verdict": "verdict", "remark": "note"},
    )
    result = graph_of(step).invoke({}, CONFIG)
    assert (result["verdict"], result["note"]) == ("fine", "short")
    assert "ask_output" not in result


def test_an_output_with_a_default_may_be_missing_and_one_without_may_not() -> None:
    class Silent(Seen):
        def call(self, call: Any) -> Any:
            return {}

    optional: Any = {"verdict": {"type": "string", "default": "none"}}
    result = graph_of(asking(Silent(), outputs=optional)).invoke({}, CONFIG)
    assert result["ask_output"] == {"verdict": "none"}
    with pytest.raises(PlatformOutputError, match=r'node "ask": the response lacks .*"verdict"'):
        graph_of(asking(Silent())).invoke({}, CONFIG)


def test_a_state_without_bearer_token_is_a_value_error_that_names_the_key() -> None:
    platform = Seen()
    graph = graph_of(asking(platform), host=False)
    with pytest.raises(ValueError, match="node 'ask': the state has no key 'bearer_token'"):
        graph.invoke({"goal": "x"}, CONFIG)
    assert platform.seen == []


@pytest.mark.parametrize(
    "ended", [ending("rejected", at="2020-01-01"), ending("rejected"), ending("completed")]
)
def test_the_step_does_nothing_once_the_run_was_rejected_or_has_ended(ended: Any) -> None:
    platform = Seen()
    graph = graph_of(asking(platform))
    graph.update_state(CONFIG, {**ended, "bearer_token": seal("")}, as_node="host_node")
    graph.invoke(None, CONFIG)
    assert platform.seen == []
    assert "ask_output" not in graph.get_state(CONFIG).values


def test_the_step_runs_after_the_same_update_without_an_ending() -> None:
    # The control of the test above.
    platform = Seen()
    graph = graph_of(asking(platform, user="x"))
    graph.update_state(CONFIG, {"bearer_token": seal("")}, as_node="host_node")
    graph.invoke(None, CONFIG)
    assert len(platform.seen) == 1


@pytest.mark.parametrize(
    ("decision", "runs"),
    [
        (None, False),
        (seal({"approved": False}), False),
        (seal({"approved": "yes"}), False),
        (seal("approved"), False),
        ({"approved": True}, False),
        (seal({"approved": True}), True),
    ],
    ids=["none", "rejected", "no boolean", "no object", "not sealed", "approved"],
)
def test_a_step_that_needs_an_approval_runs_with_a_sealed_one_only(
    decision: Any, runs: bool
) -> None:
    platform = Seen()
    graph = graph_of(asking(platform, user="x", needs=("review_decision",)))
    update = {"bearer_token": seal("")}
    if decision is not None:
        update["review_decision"] = decision
    graph.update_state(CONFIG, update, as_node="host_node")
    if runs:
        graph.invoke(None, CONFIG)
    else:
        with pytest.raises(NodeFailed, match="'ask' was reached without the approval"):
            graph.invoke(None, CONFIG)
    assert len(platform.seen) == int(runs)


def test_a_sealed_step_asks_once_per_run_and_an_open_one_every_time() -> None:
    for sealed, expected in ((True, 1), (False, 2)):
        platform = Seen({"ask": {"verdict": "fine"}})
        key = "sealed_output" if sealed else "ask_output"
        graph = graph_of(asking(platform, into=key, sealed=sealed))
        graph.invoke({"goal": "x"}, CONFIG)
        graph.invoke({"goal": "y"}, CONFIG)
        assert len(platform.seen) == expected
        assert graph.get_state(CONFIG).values[key] == {"verdict": "fine"}


def test_a_credential_that_the_platform_echoes_is_cut_out_and_kept_nowhere() -> None:
    class Echo(Seen):
        def call(self, call: Any) -> Any:
            super().call(call)
            return {"verdict": f"{call.credentials.run_token} {call.credentials.bearer_token} end"}

    saver = InMemorySaver()
    context = host_context(run_id="r1", run_token="canary-run", bearer_token="canary-bearer")
    graph = graph_of(asking(Echo()), saver=saver)
    result = graph.invoke({}, CONFIG, context=context)
    assert result["ask_output"] == {"verdict": "[redacted] [redacted] end"}
    kept = repr((dict(saver.storage), dict(saver.writes), dict(saver.blobs)))
    assert "[redacted] end" in kept
    assert "canary" not in kept


def test_a_repeated_attempt_carries_the_same_idempotency_key_and_another_run_another() -> None:
    failing: Any = {"ask": [{"$error": {"status": 503, "message": "later"}}, {"verdict": "fine"}]}
    platform = Seen(failing)
    graph = graph_of(asking(platform))
    context = host_context(run_id="r1")
    with pytest.raises(PlatformResponseError):
        graph.invoke({}, CONFIG, context=context)
    graph.invoke(None, CONFIG, context=context)
    other: Any = {"configurable": {"thread_id": "thread-2"}}
    graph.invoke({}, other, context=host_context(run_id="r2"))
    first, again, another = (call.idempotency_key for call in platform.seen)
    assert first == again != another
    assert len(first) == 64


def test_a_placeholder_without_a_value_names_the_node_and_the_placeholder() -> None:
    graph = graph_of(asking(Seen(), user="{{ missing.part }}"))
    with pytest.raises(NodeFailed, match=r"request: the placeholder \"missing\.part\""):
        graph.invoke({}, CONFIG)


def test_templates_see_no_authoritative_key() -> None:
    for key in ("approval_policy", "run", "bearer_token"):
        graph = graph_of(asking(Seen(), user=f"{{{{ {key} }}}}"))
        with pytest.raises(NodeFailed, match=f'the placeholder "{key}" has no value'):
            graph.invoke({}, CONFIG)


def test_an_answer_that_no_database_could_keep_is_refused() -> None:
    graph = graph_of(asking(Seen({"ask": {"verdict": "a"}})))
    graph.invoke({}, CONFIG)  # the control

    class Nul(Seen):
        def call(self, call: Any) -> Any:
            return {"verdict": "a\x00b"}

    with pytest.raises(ValueRefused, match="output of node 'ask' /verdict holds a NUL"):
        graph_of(asking(Nul())).invoke({}, CONFIG)


def test_an_async_run_awaits_the_platform() -> None:
    platform = Seen({"ask": {"verdict": "fine"}})
    result = asyncio.run(graph_of(asking(platform)).ainvoke({}, CONFIG))
    assert platform.awaited == 1
    assert result["ask_output"] == {"verdict": "fine"}


@pytest.mark.parametrize(
    ("wrong", "error", "named"),
    [
        ({"agent_id": ""}, ValueError, "agent_id"),
        ({"node": ""}, ValueError, "name of its node"),
        ({"options": {"temperature": 1}}, ValueError, "takes no 'temperature'"),
        ({"user": "{{ goal"}, TemplateError, "line 1"),
    ],
)
def test_a_malformed_step_is_refused_when_it_is_made(
    wrong: Any, error: type[Exception], named: str
) -> None:
    with pytest.raises(error, match=named):
        asking(Seen(), **wrong)


def test_an_authored_output_schema_goes_out_as_it_is() -> None:
    platform = Seen()
    graph_of(asking(platform, options={"output_schema": {"type": "object"}})).invoke({}, CONFIG)
    assert platform.seen[0].body["output_schema"] == {"type": "object"}  # type: ignore[index, call-overload]


def test_a_step_may_begin_with_the_context_of_a_first_turn(tmp_path: Path) -> None:
    build_tree(tmp_path, {"img/brief.md": "Show the blue."})
    effects: list[Any] = []

    def reader(image_id: str) -> FirstTurn:
        return read_context(tmp_path, image_id, tastes_dir=tmp_path / "tastes")

    def ask(**more: Any) -> Any:
        platform = Seen()
        step = asking(platform, first_turn=reader, image_id="{{ input_params.goal }}", **more)
        context = host_context(run_id="r1", spend=effects.append)
        graph_of(step).invoke({"goal": "img"}, CONFIG, context=context)
        return platform.seen[0].body["system"]  # type: ignore[index, call-overload]

    assert ask().startswith("# Context of the first turn, version 1\n")
    told = ask(system="Be brief.")
    assert "> Show the blue." in told
    assert told.endswith("\nBe brief.")
    (tmp_path / "img" / "notes.md").write_text("more")
    awaited = Seen()
    step = asking(awaited, first_turn=reader, image_id="img")
    asyncio.run(graph_of(step).ainvoke({"goal": "cats"}, CONFIG))
    assert "> more" in awaited.seen[0].body["system"]  # type: ignore[index, call-overload, operator]
    ask(system="Be brief.")
    assert effects[1].request_sha256 == effects[-1].request_sha256, "no other effect"
    assert "Show the blue" not in str(effects[1].arguments)


def test_an_image_that_is_not_there_fails_the_step_before_the_call(tmp_path: Path) -> None:
    platform = Seen()
    step = asking(platform, first_turn=lambda id_: read_context(tmp_path, id_), image_id="gone")
    with pytest.raises(NodeFailed, match="the first turn: no image"):
        graph_of(step).invoke({}, CONFIG)
    assert platform.seen == []


@pytest.mark.parametrize("more", [{"image_id": "img"}, {"first_turn": lambda _id: FirstTurn()}])
def test_the_reader_and_the_image_go_together(more: Any) -> None:
    with pytest.raises(ValueError, match="go together"):
        asking(Seen(), **more)
