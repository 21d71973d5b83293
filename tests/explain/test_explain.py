"""What an explanation says of each node, gate and send, and what a host derives."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from oas_compiler.control.approval import derive_approval
from oas_compiler.explain import Explanation, explain
from oas_compiler.explain.explanation import NodeFacts
from oas_compiler.pipeline import check, compile_ir
from oas_compiler.report.diagnostics import CompileError
from oas_compiler.schema.flow_schemas import input_schema
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
from tests.samples import CINATRA, agent, needs_corpus

Json = dict[str, Any]


def facts(explained: Explanation, path: str) -> NodeFacts:
    (found,) = [one for one in explained.nodes if one.path == path]
    return found


def reads(explained: Explanation, path: str) -> dict[str, Any]:
    """Input → (origin, `node.output` of its feeds, whether the default can count)."""
    return {
        read.input: (
            read.origin, [f"{feed.node}.{feed.output}" for feed in read.feeds], read.default_counts,
        )
        for read in facts(explained, path).reads
    }  # fmt: skip


def writes(explained: Explanation, path: str) -> dict[str, Any]:
    return {
        write.output: (list(write.readers), write.leaves_as)
        for write in facts(explained, path).writes
    }


def line_flow(*, before: Json | None = None, **of_send: Any) -> Json:
    """start → (before) → send → end."""
    nodes = [start(), *([before] if before else []), api("send", risk="email_send", **of_send)]
    return flow_of(*nodes, end())


# ------------------------------------------------------------------------ wiring


def test_nodes_come_in_the_order_of_the_compiler_with_subflows_inside() -> None:
    inner = flow_of(start(), api("in_a"), end(), id_="sub")
    flow = flow_of(
        start(), api("late"), flow_node("call", inner), end(),
        routes=[("start", None, "call"), ("call", None, "late"), ("late", None, "end")],
    )  # fmt: skip
    explained = explain(flow)
    assert [(one.path, one.depth) for one in explained.nodes] == [
        ("start", 0), ("call", 0), ("call/start", 1), ("call/in_a", 1), ("call/end", 1),
        ("late", 0), ("end", 0),
    ]  # fmt: skip
    assert [one.type for one in explained.nodes][:3] == ["StartNode", "FlowNode", "StartNode"]


def test_a_read_names_its_source_and_a_write_its_readers() -> None:
    flow = flow_of(
        start(port("topic"), required=["topic"]),
        api("write", inputs=[port("topic")], data={"user": "On {{ topic }}"}, outputs=[port("text")]),
        end(port("text")),
        edges=[("start", "topic", "write", "topic"), ("write", "text", "end", "text")],
    )  # fmt: skip
    explained = explain(flow)
    assert reads(explained, "write") == {"topic": ("edge", ["start.topic"], False)}
    assert facts(explained, "write").reads[0].templates == ("data/user",)
    assert writes(explained, "start") == {"topic": (["write.topic"], "")}
    assert writes(explained, "write") == {"text": (["end.text"], "")}
    assert writes(explained, "end") == {"text": ([], "result")}
    assert reads(explained, "start") == {"topic": ("run", [], False)}


def test_an_input_without_an_edge_takes_its_default() -> None:
    work = api("work", inputs=[port("tone", default="kind")], data={"t": "{{ tone }}"})
    explained = explain(flow_of(start(), work, end()))
    assert reads(explained, "work") == {"tone": ("default", [], True)}


def test_of_two_sources_on_exclusive_branches_neither_is_certain() -> None:
    flow = flow_of(
        start(port("mode"), required=["mode"]),
        branching("choose", port("mode"), {"fast": "fast"}),
        api("quick", outputs=[port("text")]),
        api("slow", outputs=[port("text")]),
        end(port("text", default="none")),
        routes=[("start", None, "choose"), ("choose", "fast", "quick"), ("choose", "default", "slow"),
                ("quick", None, "end"), ("slow", None, "end")],
        edges=[("start", "mode", "choose", "mode"), ("quick", "text", "end", "text"),
               ("slow", "text", "end", "text")],
    )  # fmt: skip
    explained = explain(flow)
    (read,) = facts(explained, "end").reads
    assert [(feed.node, feed.always) for feed in read.feeds] == [("quick", False), ("slow", False)]
    assert read.default_counts
    assert read.base is None
    ways = facts(explained, "choose").ways
    assert [(way.branch, way.to, way.values) for way in ways] == [
        ("fast", "quick", ("fast",)), ("default", "slow", ()),
    ]  # fmt: skip


def test_the_start_is_the_base_that_a_source_on_one_branch_replaces() -> None:
    flow = flow_of(
        start(port("text"), required=["text"]),
        branching("choose", port("text"), {"": "ask"}),
        gate("ask", output=port("text")),
        end(port("text")),
        routes=[("start", None, "choose"), ("choose", "ask", "ask"), ("choose", "default", "end"),
                ("ask", None, "end")],
        edges=[("start", "text", "choose", "text"), ("start", "text", "end", "text"),
               ("ask", "text", "end", "text")],
    )  # fmt: skip
    (read,) = facts(explain(flow), "end").reads
    assert {(feed.node, feed.always) for feed in read.feeds} == {("start", True), ("ask", False)}
    assert read.base is not None
    assert read.base.node == "start"
    assert not read.default_counts


def test_an_optional_input_of_the_run_is_not_certain() -> None:
    def of(*, required: list[str]) -> Explanation:
        first = start(port("topic"), required=required)
        work = api("work", inputs=[port("topic", default="x")], data="{{ topic }}")
        return explain(flow_of(first, work, end(), edges=[("start", "topic", "work", "topic")]))

    assert reads(of(required=[]), "work") == {"topic": ("edge", ["start.topic"], True)}
    assert reads(of(required=["topic"]), "work") == {"topic": ("edge", ["start.topic"], False)}


def test_inside_a_subflow_inputs_come_from_its_flow_node_and_results_leave_through_it() -> None:
    inner = flow_of(start(port("a")), end(port("a")), id_="sub", edges=[("start", "a", "end", "a")])
    flow = flow_of(
        start(port("topic"), required=["topic"]), flow_node("call", inner), end(port("a")),
        edges=[("start", "topic", "call", "a"), ("call", "a", "end", "a")],
    )  # fmt: skip
    explained = explain(flow)
    assert reads(explained, "call/start") == {"a": ("parent", ["call.a"], False)}
    assert writes(explained, "call/end") == {"a": ([], "call.a")}
    assert writes(explained, "call") == {"a": (["end.a"], "")}


def test_calls_say_method_url_and_function() -> None:
    flow = flow_of(
        start(), api("post", data={"tool": "objects_save"}),
        tool("look", "find_order", [], []), end(),
    )  # fmt: skip
    explained = explain(flow)
    post, look = facts(explained, "post").call, facts(explained, "look").call
    assert post is not None
    assert look is not None
    assert (post.kind, post.method, post.tool) == ("http", "POST", "objects_save")
    assert post.url == "{{CINATRA_BASE_URL}}/api/post"
    assert (look.kind, look.tool) == ("tool", "find_order")
    assert facts(explained, "end").call is None


def test_a_node_that_nothing_leads_to_is_marked() -> None:
    lonely = api("lonely")
    flow = flow_of(start(), lonely, end(), routes=[("start", None, "end"), ("lonely", None, "end")])
    explained = explain(flow)
    assert [one.path for one in explained.nodes if not one.reached] == ["lonely"]
    assert explained.findings


# ------------------------------------------------------------------------ gates and sends


def test_a_gate_before_a_send_guards_it() -> None:
    explained = explain(line_flow(before=gate("review", renderer="@x/y:z")))
    (one,) = explained.gates
    assert (one.path, one.step, one.renderer, one.asks) == ("review", 1, "@x/y:z", True)
    assert one.guards == ("send",)
    (send,) = explained.sends
    assert (send.path, send.risk_class, send.guarded) == ("send", "email_send", True)
    assert (send.always, send.sometimes) == (("review",), ())


def test_a_gate_after_a_send_guards_nothing() -> None:
    flow = flow_of(start(), gate("first"), api("send", risk="email_send"), gate("late"), end())
    explained = explain(flow)
    assert [(one.path, one.guards) for one in explained.gates] == [
        ("first", ("send",)), ("late", ()),
    ]  # fmt: skip


def split_flow(*, second: bool) -> Json:
    """start → choose ─a→ one → send, and the other branch through a gate `two` or straight."""
    nodes = [
        start(port("mode"), required=["mode"]), branching("choose", port("mode"), {"a": "a"}),
        gate("one"), *([gate("two")] if second else []), api("send", risk="email_send"), end(),
    ]  # fmt: skip
    other = "two" if second else "send"
    routes = [("start", None, "choose"), ("choose", "a", "one"), ("choose", "default", other),
              ("one", None, "send"), ("send", None, "end")]  # fmt: skip
    if second:
        routes.append(("two", None, "send"))
    return flow_of(*nodes, routes=routes, edges=[("start", "mode", "choose", "mode")])


def test_two_gates_on_two_branches_guard_together_and_one_alone_does_not() -> None:
    (both,) = explain(split_flow(second=True)).sends
    assert (both.guarded, both.always, both.sometimes) == (True, (), ("one", "two"))
    explained = explain(split_flow(second=False))
    (alone,) = explained.sends
    assert (alone.guarded, alone.always, alone.sometimes) == (False, (), ("one",))
    assert explained.gates[0].also_before == ("send",)


def test_a_gate_inside_a_subflow_guards_what_comes_after_it() -> None:
    inner = flow_of(start(), gate("ask"), end(), id_="sub")
    flow = flow_of(start(), flow_node("call", inner), api("send", risk="x_delete"), end())
    (send,) = explain(flow).sends
    assert (send.guarded, send.always) == (True, ("call/ask",))


def test_a_gate_outside_guards_a_send_inside_a_subflow() -> None:
    inner = flow_of(start(), api("send", risk="email_send"), end(), id_="sub")
    flow = flow_of(start(), gate("ask"), flow_node("call", inner), end())
    (send,) = explain(flow).sends
    assert (send.path, send.always) == ("call/send", ("ask",))


def test_only_the_branch_of_a_subflow_that_passes_its_gate_is_guarded() -> None:
    inner = flow_of(
        start(port("mode"), required=["mode"]), branching("choose", port("mode"), {"ask": "ask"}),
        gate("ask"), end(id_="yes", branch_name="asked"), end(id_="no", branch_name="skipped"),
        id_="sub",
        routes=[("start", None, "choose"), ("choose", "ask", "ask"), ("choose", "default", "no"),
                ("ask", None, "yes")],
        edges=[("start", "mode", "choose", "mode")],
    )  # fmt: skip

    def of(branch: str) -> Explanation:
        other = {"asked": "skipped", "skipped": "asked"}[branch]
        return explain(
            flow_of(
                start(port("mode"), required=["mode"]), flow_node("call", inner),
                api("send", risk="email_send"), end(),
                routes=[("start", None, "call"), ("call", branch, "send"), ("call", other, "end"),
                        ("send", None, "end")],
                edges=[("start", "mode", "call", "mode")],
            )
        )  # fmt: skip

    assert of("asked").sends[0].always == ("call/ask",)
    assert (of("skipped").sends[0].guarded, of("skipped").sends[0].always) == (False, ())


def test_a_gate_that_its_step_waives_guards_nothing() -> None:
    inner = flow_of(start(), gate("ask"), end(), id_="sub")

    def of(required: bool) -> Explanation:
        call = flow_node("call", inner, gateSteps=[{"name": "A", "requiresApproval": required}])
        return explain(flow_of(start(), call, api("send", risk="email_send"), end()))

    assert (of(True).gates[0].asks, of(True).sends[0].guarded) == (True, True)
    assert (of(False).gates[0].asks, of(False).sends[0].guarded) == (False, False)
    assert of(False).gates[0].guards == ()


def test_a_gate_of_a_send_class_is_no_send_and_guards_only_what_comes_after_it() -> None:
    explained = explain(flow_of(start(), gate("try", riskClass="test_send"), end()))
    assert explained.sends == ()
    assert (explained.gates[0].risk_class, explained.gates[0].guards) == ("test_send", ())
    both = explain(line_flow(before=gate("review", riskClass="send_external_message")))
    (send,) = both.sends
    assert (send.path, send.always) == ("send", ("review",))
    assert both.gates[0].guards == ("send",)


def test_a_subflow_with_a_send_class_of_its_own_is_a_send_when_it_has_run_whole() -> None:
    """As `check` has it: OAS200 says nothing of one whose own gate is on every way through it."""

    def of(inside: Json, *before: Json) -> Explanation:
        deliver = flow_node("deliver", inside, riskClass="email_send")
        return explain(flow_of(start(), *before, deliver, end()))

    plain = flow_of(start(), api("work"), end(), id_="sub")
    asking = flow_of(start(), gate("ask"), end(), id_="sub")
    (send,) = of(plain).sends
    assert (send.path, send.risk_class, send.guarded) == ("deliver", "email_send", False)
    (send,) = of(plain, gate("review")).sends
    assert (send.guarded, send.always) == (True, ("review",))
    (send,) = of(asking).sends
    assert (send.guarded, send.always) == (True, ("deliver/ask",))
    for inside in (plain, asking):
        document = flow_of(start(), flow_node("deliver", inside, riskClass="email_send"), end())
        open_ = any(finding.code == "OAS200" for finding in check(document))
        assert open_ is not of(inside).sends[0].guarded


def test_a_credential_and_the_query_of_an_address_are_not_told() -> None:
    flow = flow_of(
        start(port("key", default="sk-live0123456789abcdef")),
        api("work", url="https://user:conceal@host.example/a/b?key=conceal#conceal",
            data={"k": "{{ key }}"}, inputs=[port("key")]),
        end(),
        edges=[("start", "key", "work", "key")],
    )  # fmt: skip
    explained = explain({**flow, "description": "with ghp_0123456789abcdef0123456789abcdef0123"})
    call = facts(explained, "work").call
    assert call is not None
    assert call.url == "https://host.example/a/b"
    text = json.dumps(explained.to_json())
    assert "conceal" not in text
    assert "0123456789" not in text
    assert "sk-***" in text


def test_a_loop_does_not_make_a_gate_guard_the_first_round() -> None:
    flow = flow_of(
        start(), api("send", risk="email_send", outputs=[port("more")]), gate("again"),
        branching("choose", port("more"), {"yes": "yes"}), end(),
        routes=[("start", None, "send"), ("send", None, "again"), ("again", None, "choose"),
                ("choose", "yes", "send"), ("choose", "default", "end")],
        edges=[("send", "more", "choose", "more")],
    )  # fmt: skip
    (send,) = explain(flow).sends
    assert (send.guarded, send.always, send.sometimes) == (False, (), ("again",))


def test_a_gate_says_what_it_shows_and_what_it_takes() -> None:
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    ask = gate(
        "ask", inputs=[port("draft")], inputMessageSchema=schema, maxGateVisits=3,
        output=port("verdict"),
    )  # fmt: skip
    flow = flow_of(
        start(port("draft"), required=["draft"]), message("say", "Hello"), ask, end(),
        edges=[("start", "draft", "ask", "draft")],
    )  # fmt: skip
    (one,) = explain(flow).gates
    assert (one.answer, one.shows, one.shows_after) == ("verdict", ("draft",), ("say",))
    assert (one.shows_inputs, one.shows_message) == (("draft",), False)
    assert one.max_visits == 3
    assert one.answer_schema is not None
    assert one.answer_schema.value() == schema


def test_a_gate_without_a_screen_gets_the_hosts_own() -> None:
    (one,) = explain(flow_of(start(), gate("ask"), end())).gates
    assert one.renderer == "@cinatra-ai/agent-builder:schema-field-fallback"
    assert one.answer_schema is None


# ------------------------------------------------------------------------ inputs


def test_who_gives_an_input() -> None:
    first = start(
        port("topic"), port("key"), port("tone", default="kind"), port("cinatra_run_id", default=""),
        port("note"),
        required=["topic", "key", "cinatra_run_id"], hidden=["key", "cinatra_run_id"],
    )  # fmt: skip
    explained = explain(flow_of(first, end()))
    assert {one.title: (one.role, one.hidden) for one in explained.inputs} == {
        "topic": ("asked", False),
        "key": ("caller", True),
        "tone": ("optional", False),
        "cinatra_run_id": ("host", True),
        "note": ("optional", False),
    }


# ------------------------------------------------------------------------ what a host derives


def mapping_flow() -> Json:
    return flow_of(
        start(port("topic"), required=["topic"]),
        api("far", outputs=[port("x")]),
        api("near", outputs=[port("y")]),
        gate("ask", inputs=[port("a"), port("b"), port("c")]),
        end(),
        edges=[("start", "topic", "ask", "a"), ("far", "x", "ask", "b"), ("near", "y", "ask", "c")],
    )  # fmt: skip


def test_a_step_maps_inputs_by_where_they_come_from() -> None:
    derived = explain(mapping_flow()).derived.to_json()
    assert derived["inputMapping"] == [
        {
            "stepNumber": 1,
            "nodeId": "ask",
            "inputMapping": {
                "a": "{{input_params.topic}}",
                "b": "{{far_output.x}}",
                "c": "{{child_output.y}}",
            },
        }
    ]


def test_the_policy_and_the_input_schema_are_those_of_the_runtime() -> None:
    flow = compile_ir(mapping_flow()).ir
    derived = explain(mapping_flow()).derived.to_json()
    assert derived["approvalPolicy"] == derive_approval(flow).policy()
    assert derived["inputSchema"] == input_schema(flow)
    assert derived["compiledPlan"] == []


def test_the_output_schema_is_that_of_the_first_end_and_null_without_outputs() -> None:
    flow = flow_of(
        start(port("mode"), required=["mode"]), branching("choose", port("mode"), {"a": "a"}),
        end(port("mode"), port("more", default=1), id_="near"), end(port("mode"), id_="far"),
        outputs=[port("mode")],
        routes=[("start", None, "choose"), ("choose", "a", "near"), ("choose", "default", "far")],
        edges=[("start", "mode", "choose", "mode"), ("start", "mode", "near", "mode"),
               ("start", "mode", "far", "mode")],
    )  # fmt: skip
    schema = explain(flow).derived.to_json()["outputSchema"]
    assert schema == {
        "type": "object",
        "properties": {
            "mode": {"type": "string", "title": "mode"},
            "more": {"type": "string", "title": "more", "default": 1},
        },
    }
    assert explain(flow_of(start(), end())).derived.to_json()["outputSchema"] is None


def test_steps_with_side_effects_are_gated() -> None:
    inner = flow_of(start(), gate("in", riskClass="x_publish"), end(), id_="sub")
    flow = flow_of(
        start(), gate("read"), gate("post", riskClass="x_post"), gate("said", sideEffects=True),
        flow_node("silent", inner), flow_node("said_flow", {**inner, "id": "two"}, sideEffects=True),
        end(),
    )  # fmt: skip
    derived = explain(flow).derived
    assert derived.gated_steps == (2, 3, 5)
    assert derived.trigger_mode == "full"


@pytest.mark.parametrize(
    ("runtime", "mode"),
    [(None, "full"), ("wayflow", "full"), ("langgraph", "full"), ("other", "start-only")],
)
def test_the_trigger_mode_follows_the_runtime(runtime: str | None, mode: str) -> None:
    flow = flow_of(start(), end())
    flow["metadata"]["cinatra"]["runtime"] = runtime
    assert explain(flow).derived.trigger_mode == mode


def test_object_types_are_named_only_where_an_output_says_so() -> None:
    flow = flow_of(start(), end())
    assert explain(flow).derived.produces_object_types is None
    assert "producesObjectTypes" not in explain(flow).derived.to_json()
    made = port("text", default="", cinatra={"object_type": "@x/y:post"})
    flow = flow_of(start(), end(port("text", default="")), outputs=[made])
    assert explain(flow).derived.to_json()["producesObjectTypes"] == ["@x/y:post"]


def test_an_input_says_where_its_choices_come_from() -> None:
    source = {"tool": "lists"}
    first = start(port("topic"), required=["topic"], inputDataSources={"topic": source})
    schema = explain(flow_of(first, end())).derived.to_json()["inputSchema"]
    assert schema == {
        "type": "object",
        "properties": {"topic": {"type": "string", "title": "topic", "x-data-source": source}},
        "required": ["topic"],
    }


# ------------------------------------------------------------------------ files around the flow


def write_agent(root: Path, manifest: Any, settings: Any = None) -> Path:
    (root / "cinatra").mkdir(parents=True)
    (root / "cinatra" / "oas.json").write_text(json.dumps(flow_of(start(), end())), "utf-8")
    (root / "package.json").write_text(
        manifest if isinstance(manifest, str) else json.dumps(manifest), "utf-8"
    )
    if settings is not None:
        text = settings if isinstance(settings, str) else json.dumps(settings)
        (root / "cinatra.json").write_text(text, "utf-8")
    return root


def test_dependencies_and_limits_come_from_the_package(tmp_path: Path) -> None:
    listed = {
        "packageName": "@x/c", "kind": "agent",
        "versionConstraint": {"kind": "semver-range", "range": "^2.0.0"},
    }  # fmt: skip
    manifest = {
        "name": "@x/a", "version": "1.2.3",
        "cinatra": {"agentDependencies": {"@x/b": "^1.0.0"}, "dependencies": [listed]},
    }  # fmt: skip
    settings = {"limits": {"maxRecipients": 50}, "requiredConnections": ["gmail"], "own": 1}
    explained = explain(write_agent(tmp_path / "agent", manifest, settings))
    assert (explained.package, explained.version) == ("@test/agent", "1.2.3")
    derived = explained.derived.to_json()
    assert derived["agentDependencies"] == {"@x/b": "^1.0.0", "@x/c": "^2.0.0"}
    assert (derived["limits"], derived["requiredConnections"]) == ({"maxRecipients": 50}, ["gmail"])
    assert "own" not in derived
    assert explained.findings == ()


@pytest.mark.parametrize(("manifest", "settings"), [("{", None), ({"name": 7}, "{"), ("[]", "[]")])
def test_a_flow_is_explained_whatever_lies_around_it(
    tmp_path: Path, manifest: Any, settings: Any
) -> None:
    explained = explain(write_agent(tmp_path / "agent", manifest, settings))
    assert explained.derived.to_json()["agentDependencies"] == {}
    broken = [part for part in (manifest, settings) if part == "{"]
    found = [(finding.code, finding.severity) for finding in explained.findings]
    assert found == [("OAS004", "warning")] * len(broken)


def test_placeholders_of_the_environment_are_counted_as_written() -> None:
    flow = flow_of(start(), api("a", data={"x": "{{ TEAM }} and {{TEAM}}"}), api("b"), end())
    explained = explain(flow, env={"TEAM": "ops"})
    assert [(one.name, one.count, one.given) for one in explained.environment] == [
        ("CINATRA_BASE_URL", 2, False), ("TEAM", 2, True),
    ]  # fmt: skip


def test_a_flow_with_errors_is_not_explained() -> None:
    flow = flow_of(start(), end())
    flow["control_flow_connections"] = []
    with pytest.raises(CompileError):
        explain(flow)


def test_plugins_have_the_names_of_the_file() -> None:
    flow = flow_of(
        start(port("text"), required=["text"]),
        node("PluginRegexNode", "find", regex_pattern="a", inputs=[port("text")],
             outputs=[port("output", "array", items={"type": "string"})],
             return_first_match_only=False),
        node("PluginTemplateNode", "fill", template="{{ matches }}", inputs=[port("matches", None)]),
        end(),
        edges=[("start", "text", "find", "text"), ("find", "output", "fill", "matches")],
    )  # fmt: skip
    explained = explain(flow)
    assert [facts(explained, name).type for name in ("find", "fill")] == [
        "PluginRegexNode", "PluginTemplateNode",
    ]  # fmt: skip
    assert facts(explained, "fill").reads[0].templates == ("template",)


def test_the_document_is_plain_json_with_every_node() -> None:
    explained = explain(line_flow(before=gate("review")))
    document = explained.to_json()
    assert json.loads(json.dumps(document)) == document
    assert set(document) == {
        "id", "name", "description", "package", "version", "type", "file", "digest", "inputs",
        "outputs", "nodes", "gates", "sends", "environment", "context_slots", "derived", "warnings",
    }  # fmt: skip
    nodes = document["nodes"]
    assert isinstance(nodes, list)
    assert [one["path"] for one in nodes if isinstance(one, dict)] == [
        "start", "review", "send", "end",
    ]  # fmt: skip


def test_a_node_is_found_by_path_or_by_id() -> None:
    inner = flow_of(start(), end(), id_="sub")
    explained = explain(flow_of(start(), flow_node("call", inner), end()))
    assert [one.path for one in explained.named("call/end")] == ["call/end"]
    assert [one.path for one in explained.named("end")] == ["end"]
    assert explained.named("none") == ()


def test_the_library_form_needs_no_engine_and_no_terminal() -> None:
    code = (
        "import sys, json; from oas_compiler.explain import explain; "
        "explain(json.loads(sys.argv[1])); "
        "heavy = {'langgraph', 'langchain_core', 'typer', 'rich', 'psycopg', 'jsonschema', "
        "'nodesemver'}; print(sorted(heavy & {name.split('.')[0] for name in sys.modules}))"
    )
    flow = json.dumps(flow_of(start(), end()))
    done = subprocess.run(
        [sys.executable, "-c", code, flow], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


# ------------------------------------------------------------------------ real input


@needs_corpus
@pytest.mark.parametrize("file", CINATRA, ids=lambda file: file.parts[-3])
def test_every_public_flow_is_explained_and_every_read_has_a_source(file: Path) -> None:
    explained = explain(file)
    assert {read.origin for one in explained.nodes for read in one.reads} <= {
        "run", "parent", "edge", "default",
    }  # fmt: skip
    assert all(send.guarded for send in explained.sends)
    assert json.dumps(explained.to_json())


@needs_corpus
def test_email_outreach_is_told_as_it_is() -> None:
    explained = explain(agent("email-outreach-agent"))
    assert len(explained.nodes) == 37
    assert [(one.step, one.path) for one in explained.gates] == [
        (1, "setup_gate"),
        (2, "recipients_flow/recipients-scope_gate"),
        (3, "recipients_flow/recipients-review_gate"),
        (4, "skills_flow/skills-recommend_gate"),
        (5, "context_offeringContext/ctx-offeringContext-context_select_gate"),
        (6, "drafts_flow/drafts-data_gate"),
        (6, "drafts_flow/drafts-approval_gate"),
        (7, "sender_flow/sender-approval_gate"),
    ]
    (send,) = explained.sends
    assert send.path == "sender_flow/sender-send"
    assert send.always[0] == "drafts_flow/drafts-approval_gate"
    assert send.sometimes == (
        "context_offeringContext/ctx-offeringContext-context_select_gate",
        "drafts_flow/drafts-data_gate",
    )
    assert explained.gates[-1].guards == ()
    assert reads(explained, "drafts_flow/drafts-draft")["confirmedRecipientsRef"] == (
        "edge",
        ["drafts-start.confirmedRecipientsRef", "drafts-data_gate.confirmedRecipientsRef"],
        False,
    )
    assert [(one.name, one.count) for one in explained.environment] == [("CINATRA_BASE_URL", 7)]
    assert explained.derived.to_json()["outputSchema"] is None
    assert explained.context_slots == ("offeringContext",)


@needs_corpus
def test_the_output_schema_of_the_reviewer_has_what_its_end_has_and_the_flow_has_not() -> None:
    explained = explain(agent("reviewer-agent"))
    schema = explained.derived.to_json()["outputSchema"]
    assert isinstance(schema, dict)
    properties = schema["properties"]
    assert isinstance(properties, dict)
    results = [one.output for one in explained.outputs]
    assert set(properties) - set(results) == {"userResponse"}
