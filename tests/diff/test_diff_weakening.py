"""What makes a gate weaker, each case beside its harmless twin."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from oas_compiler.diff import Difference, diff
from oas_compiler.diff.comparison import ComparedFlow
from oas_compiler.pipeline import compile_ir
from tests.agents.agent_flows import SEARCH, SEND, agent_flow
from tests.agents.agent_flows import agent as agent_of
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
from tests.samples import agent, needs_corpus

FORM = {
    "type": "object",
    "required": ["ok"],
    "properties": {"ok": {"type": "boolean"}, "note": {"type": "string", "maxLength": 100}},
    "additionalProperties": False,
}


def send(id_: str = "send", risk: str = "email_send") -> dict[str, Any]:
    return api(id_, risk=risk)


def guarded(**cinatra: Any) -> dict[str, Any]:
    """start → draft → review → send → end"""
    about = {"riskClass": "approval", "inputMessageSchema": FORM, "maxGateVisits": 5, **cinatra}
    about = {key: value for key, value in about.items() if value is not None}
    return flow_of(start(), api("draft"), gate("review", **about), send(), end())


def compare(first: Any, second: Any) -> Difference:
    return diff(compile_ir(first).ir, compile_ir(second).ir)


def weaker(first: Any, second: Any) -> list[tuple[str, str]]:
    """(code, node) of everything that got weaker."""
    return [(change.code, "/".join(change.node)) for change in compare(first, second).weakened]


# ---------------------------------------------------------------------------- gates


def test_a_gate_that_is_gone_is_weaker_and_a_new_gate_is_not() -> None:
    without = flow_of(start(), api("draft"), send(), end())
    found = compare(guarded(), without).weakened
    assert [change.code for change in found] == ["gate_removed", "send_unguarded"]
    assert found[0].message == 'the gate "review" (The review) is gone; it stood before "send"'
    assert weaker(without, guarded()) == []


def test_a_gate_before_no_send_is_missed_as_well() -> None:
    first = flow_of(start(), gate("look"), end())
    found = compare(first, flow_of(start(), end())).weakened
    assert [change.message for change in found] == ['the gate "look" (The look) is gone']


def test_a_gate_that_became_another_kind_of_node_is_gone() -> None:
    second = flow_of(start(), api("draft"), api("review"), send(), end())
    found = compare(guarded(), second).weakened
    assert [change.code for change in found] == ["gate_removed", "send_unguarded"]
    assert "is no gate any more" in found[0].message


def test_a_renamed_gate_is_the_same_gate_and_one_that_says_something_else_is_not() -> None:
    renamed = flow_of(
        start(), api("draft"), {**guarded()["$referenced_components"]["review"], "id": "check"},
        send(), end(),
    )  # fmt: skip
    found = compare(guarded(), renamed)
    assert found.weakened == ()
    assert [change.code for change in found] == ["node_renamed"]
    other = flow_of(start(), api("draft"), gate("check", riskClass="approval"), send(), end())
    assert weaker(guarded(), other) == [("gate_removed", "review")]


def test_a_renamed_gate_that_stands_elsewhere_now_is_weaker() -> None:
    check = {**guarded()["$referenced_components"]["review"], "id": "check"}
    after = flow_of(start(), api("draft"), send(), check, end())
    assert weaker(guarded(), after) == [("gate_bypassed", "check"), ("send_unguarded", "send")]


def test_a_way_around_a_gate_is_found_and_a_way_that_rejoins_before_it_is_not() -> None:
    def flow(bypass: str) -> dict[str, Any]:
        return flow_of(
            start(port("x", default="")),
            branching("choose", port("value"), {"a": "fast"}),
            api("draft"), gate("first"), gate("second"), send(), end(),
            edges=[("start", "x", "choose", "value")],
            routes=[
                ("start", None, "choose"), ("choose", "default", "draft"),
                ("choose", "fast", bypass), ("draft", None, "first"),
                ("first", None, "second"), ("second", None, "send"), ("send", None, "end"),
            ],
        )  # fmt: skip

    assert weaker(flow("draft"), flow("first")) == []
    assert weaker(flow("first"), flow("second")) == [("gate_bypassed", "first")]
    assert weaker(flow("first"), flow("send")) == [
        ("gate_bypassed", "first"), ("gate_bypassed", "second"), ("send_unguarded", "send"),
    ]  # fmt: skip
    assert weaker(flow("send"), flow("first")) == []


def test_a_gate_that_moved_behind_the_send_is_weaker_and_one_that_moved_earlier_is_not() -> None:
    review = gate("review", riskClass="approval")
    first = flow_of(start(), api("draft"), review, send(), end())
    behind = flow_of(start(), api("draft"), send(), review, end())
    earlier = flow_of(start(), review, api("draft"), send(), end())
    assert weaker(first, behind) == [("gate_bypassed", "review"), ("send_unguarded", "send")]
    assert weaker(first, earlier) == []


def test_a_step_that_asks_nobody_any_more_is_weaker() -> None:
    def flow(requires: bool | None) -> dict[str, Any]:
        inner = flow_of(node("StartNode", "start", inputs=[]), gate("ask"), end(), id_="inner")
        step = {"name": "Ask", **({} if requires is None else {"requiresApproval": requires})}
        return flow_of(start(), flow_node("sub", inner, gateSteps=[step]), send(), end())

    assert weaker(flow(None), flow(True)) == []
    assert weaker(flow(True), flow(False)) == [("gate_waived", "sub/ask"), ("send_unguarded", "send")]  # fmt: skip
    assert weaker(flow(False), flow(True)) == []
    assert weaker(flow(False), flow(False)) == []


def test_what_a_gate_says_itself_of_requiring_approval_is_a_remark_and_waives_nothing() -> None:
    """The runtime and the compile rule ask at every InputMessageNode; only gateSteps waive."""
    found = compare(guarded(), guarded(requiresApproval=False))
    assert [(change.sign, change.code, change.after) for change in found] == [
        ("~", "node_changed", "false")
    ]
    unguarded = flow_of(
        start(), api("draft"), send(),
        guarded(requiresApproval=False)["$referenced_components"]["review"], end(),
    )  # fmt: skip
    assert weaker(guarded(requiresApproval=False), unguarded) == [
        ("gate_bypassed", "review"), ("send_unguarded", "send"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after"),
    [("approval", "read_only"), ("email_send", "approval"), ("write", "read_only"), ("approval", "draft_create")],
)  # fmt: skip
def test_a_lower_risk_class_of_a_gate_is_weaker_and_a_higher_one_is_not(
    before: str, after: str
) -> None:
    assert weaker(guarded(riskClass=before), guarded(riskClass=after)) == [("gate_risk_lowered", "review")]  # fmt: skip
    assert weaker(guarded(riskClass=after), guarded(riskClass=before)) == []


def test_a_risk_class_lowered_by_the_parent_counts_and_one_of_equal_weight_does_not() -> None:
    def flow(risk: str) -> dict[str, Any]:
        inner = flow_of(
            node("StartNode", "start", inputs=[]), gate("ask", riskClass="approval"), end(),
            id_="inner",
        )  # fmt: skip
        step = {"name": "Ask", "riskClass": risk}
        return flow_of(start(), flow_node("sub", inner, gateSteps=[step]), end())

    assert weaker(flow("approval"), flow("read_only")) == [("gate_risk_lowered", "sub/ask")]
    assert weaker(flow("write"), flow("draft_create")) == []


@pytest.mark.parametrize(
    "change",
    [
        {"required": []},
        {"properties": {"ok": {}, "note": FORM["properties"]["note"]}},
        {"properties": {"ok": {"type": "boolean"}, "note": {"type": "string", "maxLength": 500}}},
        {"properties": {"ok": {"type": "boolean"}, "note": {"type": "string"}}},
        {"properties": {**FORM["properties"], "more": {}}},
        {"additionalProperties": True},
        {"type": ["object", "null"]},
    ],
    ids=str,
)
def test_an_answer_schema_that_accepts_more_is_weaker_and_the_way_back_is_not(
    change: dict[str, Any],
) -> None:
    wide = guarded(inputMessageSchema={**FORM, **change})
    assert weaker(guarded(), wide) == [("gate_answer_widened", "review")]
    assert weaker(wide, guarded()) == []
    assert not compare(wide, guarded()).equal


def test_an_answer_schema_that_is_gone_is_weaker_and_a_new_title_is_not() -> None:
    assert weaker(guarded(), guarded(inputMessageSchema=None)) == [("gate_answer_widened", "review")]  # fmt: skip
    assert weaker(guarded(inputMessageSchema=None), guarded()) == []
    titled = copy.deepcopy(FORM) | {"title": "Review", "description": "Look well"}
    assert weaker(guarded(), guarded(inputMessageSchema=titled)) == []


def test_the_form_inside_an_answer_counts_as_its_schema() -> None:
    def envelope(kind: str) -> dict[str, Any]:
        schema = {"x-envelope": "json-string", "x-envelope-shape": {"ok": {"type": kind}}}
        return guarded(inputMessageSchema=schema)

    assert weaker(envelope("integer"), envelope("number")) == [("gate_answer_widened", "review")]
    assert weaker(envelope("number"), envelope("integer")) == []
    form = guarded(formSchema=FORM)
    assert weaker(form, guarded()) == [("gate_answer_widened", "review")]
    assert weaker(guarded(), form) == []


def test_more_visits_are_weaker_and_fewer_are_not() -> None:
    assert weaker(guarded(), guarded(maxGateVisits=6)) == [("gate_visits_raised", "review")]
    assert weaker(guarded(), guarded(maxGateVisits=None)) == [("gate_visits_raised", "review")]
    assert weaker(guarded(maxGateVisits=6), guarded()) == []
    assert weaker(guarded(maxGateVisits=None), guarded(maxGateVisits=100)) == []


def test_another_renderer_is_a_change_and_nothing_more() -> None:
    found = compare(guarded(renderer="@a/b:c"), guarded(renderer="@a/b:d"))
    assert [(change.sign, change.message) for change in found] == [
        ("~", 'renderer of "review" (The review) changed')
    ]


# ---------------------------------------------------------------------------- sends


def test_a_new_send_without_a_gate_is_found_and_one_behind_a_gate_is_not() -> None:
    base = flow_of(start(), gate("ask"), end())
    before = flow_of(start(), send(), gate("ask"), end())
    behind = flow_of(start(), gate("ask"), send(), end())
    assert weaker(base, before) == [("send_unguarded", "send")]
    assert weaker(base, behind) == []


def test_a_send_that_was_open_already_is_no_news() -> None:
    opened = flow_of(start(), send(), end())
    assert weaker(opened, flow_of(start(), api("draft"), send(), end())) == []


def test_a_send_hidden_by_its_risk_class_is_found_also_when_its_gate_goes_with_it() -> None:
    hidden = flow_of(
        start(), api("draft"), guarded()["$referenced_components"]["review"],
        send(risk="read_only"), end(),
    )  # fmt: skip
    assert weaker(guarded(), hidden) == [("send_hidden", "send")]
    assert weaker(hidden, guarded()) == []
    alone = flow_of(start(), api("draft"), send(risk="write"), end())
    assert weaker(guarded(), alone) == [
        ("gate_removed", "review"), ("send_hidden", "send"), ("send_unguarded", "send"),
    ]  # fmt: skip
    lower = flow_of(start(), api("draft", risk="read_only"), end())
    assert weaker(flow_of(start(), api("draft", risk="write"), end()), lower) == []


def test_a_call_that_becomes_a_send_without_a_gate_is_found() -> None:
    quiet = flow_of(start(), send(risk="read_only"), end())
    assert weaker(quiet, flow_of(start(), send(), end())) == [("send_unguarded", "send")]
    assert weaker(guarded(), flow_of(start(), api("draft"), guarded()["$referenced_components"]["review"], send(risk="x_delete"), end())) == []  # fmt: skip


def test_a_send_moved_into_a_subflow_keeps_its_guards_or_is_found() -> None:
    inner = flow_of(node("StartNode", "start", inputs=[]), send(), end(), id_="inner")
    review = gate("review")
    first = flow_of(start(), review, send(), end())
    behind = flow_of(start(), review, flow_node("sub", inner), end())
    before = flow_of(start(), flow_node("sub", inner), review, end())
    assert weaker(first, behind) == []
    assert [change.code for change in compare(first, behind) if change.code == "node_moved"] == ["node_moved"]  # fmt: skip
    assert weaker(first, before) == [("gate_bypassed", "review"), ("send_unguarded", "sub/send")]
    assert weaker(behind, first) == []


def test_a_gate_moved_into_a_subflow_still_guards_unless_there_is_a_way_around() -> None:
    review = gate("review")
    first = flow_of(start(), review, send(), end())
    plain = flow_of(node("StartNode", "start", inputs=[]), review, end(), id_="inner")
    assert weaker(first, flow_of(start(), flow_node("sub", plain), send(), end())) == []
    around = flow_of(
        node("StartNode", "start", inputs=[port("x", default="")]),
        branching("choose", port("value"), {"a": "fast"}),
        review,
        end(),
        edges=[("start", "x", "choose", "value")],
        routes=[
            ("start", None, "choose"), ("choose", "default", "review"),
            ("choose", "fast", "end"), ("review", None, "end"),
        ],
        id_="inner",
    )  # fmt: skip
    assert weaker(first, flow_of(start(), flow_node("sub", around), send(), end())) == [
        ("gate_bypassed", "sub/review"), ("send_unguarded", "send"),
    ]  # fmt: skip


def test_a_loop_that_sends_again_without_asking_is_found_and_one_through_the_gate_is_not() -> None:
    def flow(back: str) -> dict[str, Any]:
        return flow_of(
            start(port("x", default="")), gate("review"), send(),
            branching("more", port("value"), {"a": "again"}), end(),
            edges=[("start", "x", "more", "value")],
            routes=[
                ("start", None, "review"), ("review", None, "send"), ("send", None, "more"),
                ("more", "again", back), ("more", "default", "end"),
            ],
        )  # fmt: skip

    assert weaker(flow("end"), flow("review")) == []
    assert weaker(flow("end"), flow("send")) == [("send_repeats", "send")]
    assert weaker(flow("send"), flow("send")) == []


# ---------------------------------------------------------------------------- any node that acts


def drafting(*order: str, **more: Any) -> dict[str, Any]:
    """start → draft → review → apply → end, or another order; nothing in it is a send."""
    made = {
        "draft": api("draft"), "review": gate("review"), "apply": api("apply", risk="draft_update"),
    }  # fmt: skip
    nodes = [made[name] for name in order or ("draft", "review", "apply")]
    return flow_of(start(), *nodes, end(), **more)


def test_a_gate_that_no_way_leads_to_any_more_is_bypassed_though_nothing_sends() -> None:
    around = drafting(
        routes=[("start", None, "draft"), ("draft", None, "apply"), ("apply", None, "end"),
                ("review", None, "apply")],
    )  # fmt: skip
    (change,) = compare(drafting(), around).weakened
    assert change.code == "gate_bypassed"
    assert change.message == (
        'the gate "review" (The review) is on no way any more; it stood before "apply"'
    )
    assert weaker(around, drafting()) == []
    assert weaker(around, around) == []


def test_a_gate_before_nothing_that_no_way_leads_to_any_more_is_bypassed_as_well() -> None:
    last = drafting("draft", "apply", "review")
    skipped = drafting(
        "draft", "apply", "review",
        routes=[("start", None, "draft"), ("draft", None, "apply"), ("apply", None, "end"),
                ("review", None, "end")],
    )  # fmt: skip
    assert weaker(last, skipped) == [("gate_bypassed", "review")]
    assert weaker(skipped, last) == []


def test_a_gate_that_moved_behind_a_call_is_bypassed_and_one_that_moved_ahead_is_not() -> None:
    behind = drafting("draft", "apply", "review")
    (change,) = compare(drafting(), behind).weakened
    assert change.message == ('the gate "review" (The review) is no longer on every way to "apply"')
    assert weaker(behind, drafting()) == []
    assert weaker(drafting(), drafting("review", "draft", "apply")) == []


def test_a_branch_around_a_gate_is_found_before_any_call_and_one_that_rejoins_is_not() -> None:
    def flow(bypass: str, acts: dict[str, Any]) -> dict[str, Any]:
        return flow_of(
            start(port("x", default="")), branching("choose", port("value"), {"a": "fast"}),
            gate("review"), acts, end(),
            edges=[("start", "x", "choose", "value")],
            routes=[
                ("start", None, "choose"), ("choose", "default", "review"),
                ("choose", "fast", bypass), ("review", None, acts["id"]), (acts["id"], None, "end"),
            ],
        )  # fmt: skip

    inner = flow_of(node("StartNode", "start", inputs=[]), end(), id_="inner")
    for acts in (api("apply"), tool("apply", "apply_it", [], []), flow_node("apply", inner)):
        assert weaker(flow("review", acts), flow("apply", acts)) == [("gate_bypassed", "review")]
        assert weaker(flow("apply", acts), flow("review", acts)) == []
        assert weaker(flow("review", acts), flow("end", acts)) == []
    quiet = message("apply", "done")
    assert weaker(flow("review", quiet), flow("apply", quiet)) == []


def test_a_gate_that_moved_into_the_subflow_before_its_call_still_guards_it() -> None:
    first_node = node("StartNode", "start", inputs=[])
    work, review = api("work"), gate("review")
    outside = flow_of(start(), review, flow_node("sub", flow_of(first_node, work, end(), id_="i")), end())  # fmt: skip
    ahead = flow_of(start(), flow_node("sub", flow_of(first_node, review, work, end(), id_="i")), end())  # fmt: skip
    behind = flow_of(start(), flow_node("sub", flow_of(first_node, work, review, end(), id_="i")), end())  # fmt: skip
    assert weaker(outside, ahead) == []
    (change,) = compare(outside, behind).weakened
    assert change.message.endswith('is no longer on every way to "sub/work"')


def test_a_call_that_two_gates_guarded_together_is_named_when_one_of_them_is_passed_by() -> None:
    def flow(other: str) -> dict[str, Any]:
        return flow_of(
            start(port("x", default="")), branching("choose", port("value"), {"a": "a"}),
            gate("one"), gate("two"), api("apply"), end(),
            edges=[("start", "x", "choose", "value")],
            routes=[
                ("start", None, "choose"), ("choose", "a", "one"), ("choose", "default", other),
                ("one", None, "apply"), ("two", None, "apply"), ("apply", None, "end"),
            ],
        )  # fmt: skip

    assert ("node_unguarded", "apply") in weaker(flow("two"), flow("apply"))
    assert weaker(flow("apply"), flow("two")) == []
    assert weaker(flow("two"), flow("one")) == [("gate_bypassed", "two")]


def test_a_call_that_is_replaced_by_another_one_before_the_gate_is_found() -> None:
    other = {**api("store", data={"other": 1}), "name": "Store it"}
    ahead = flow_of(start(), api("draft"), other, gate("review"), end())
    behind = flow_of(start(), api("draft"), gate("review"), other, end())
    gone = drafting("draft", "review")
    (change,) = compare(drafting(), ahead).weakened
    assert change.message == (
        'the gate "review" (The review) is before nothing that acts any more; '
        'it stood before "apply"'
    )
    assert weaker(drafting(), behind) == []
    assert weaker(drafting(), gone) == []


def test_a_message_names_sends_first_and_not_more_than_three_nodes() -> None:
    acts = [api(f"a{number}") for number in range(5)]
    first = flow_of(start(), gate("review"), *acts, send("zend"), end())
    (removed, _) = compare(first, flow_of(start(), *acts, send("zend"), end())).weakened
    assert removed.message.endswith('it stood before "zend", "a0", "a1" and more')


def test_a_subflow_that_is_a_send_itself_acts_when_it_has_run_whole() -> None:
    first_node = node("StartNode", "start", inputs=[])
    plain = flow_of(first_node, end(), id_="inner")
    asking = flow_of(first_node, gate("ask"), end(), id_="inner")
    deliver = flow_node("deliver", plain, riskClass="email_send")
    first = flow_of(start(), gate("review"), deliver, end())
    behind = flow_of(start(), deliver, gate("review"), end())
    assert weaker(first, behind) == [("gate_bypassed", "review"), ("send_unguarded", "deliver")]
    assert weaker(behind, first) == []
    within = flow_of(start(), flow_node("deliver", asking, riskClass="email_send"), end())
    assert weaker(within, within) == []
    assert weaker(flow_of(start(), end()), within) == []
    alone = flow_of(start(), deliver, end())
    assert weaker(within, alone) == [("gate_removed", "deliver/ask"), ("send_unguarded", "deliver")]


@pytest.mark.long
def test_five_thousand_nodes_are_compared_one_node_at_a_time(monkeypatch: Any) -> None:
    """Every gate before every call: pairs of them would be six million."""
    gates = [gate(f"g{number}") for number in range(2_400)]
    calls = [api(f"a{number}") for number in range(2_400)]
    asked = []
    real = ComparedFlow.gates_before

    def counting(self, numbers):
        before = real(self, numbers)
        return lambda path: asked.append(path) or before(path)

    monkeypatch.setattr(ComparedFlow, "gates_before", counting)
    found = compare(
        flow_of(start(), *gates, *calls, end()), flow_of(start(), *calls, *gates, end())
    )
    assert len(found.weakened) == 2_400
    assert len(asked) < 3 * 2_400


# ---------------------------------------------------------------------------- real flows


@needs_corpus
def test_the_one_edge_around_the_only_gate_of_a_real_flow_without_sends_is_found() -> None:
    import json

    document = json.loads(agent("email-drafting-agent").read_text("utf-8"))
    edge = next(
        e for e in document["control_flow_connections"]
        if e["to_node"]["$component_ref"] == "approval_gate"
    )  # fmt: skip
    edge["to_node"] = {"$component_ref": "apply"}
    assert weaker(agent("email-drafting-agent"), document) == [("gate_bypassed", "approval_gate")]


@needs_corpus
def test_the_gate_before_the_campaign_is_missed_in_the_largest_real_flow() -> None:
    import json

    document = json.loads(agent("email-outreach-agent").read_text("utf-8"))
    found = next(
        c
        for c in document["$referenced_components"].values()
        if "drafts-approval_gate" in c.get("$referenced_components", {})
    )
    edges = found["control_flow_connections"]
    into = next(e for e in edges if e["to_node"]["$component_ref"] == "drafts-approval_gate")
    out = next(e for e in edges if e["from_node"]["$component_ref"] == "drafts-approval_gate")
    into["to_node"] = out["to_node"]
    edges.remove(out)
    found["nodes"] = [n for n in found["nodes"] if n["$component_ref"] != "drafts-approval_gate"]
    found["data_flow_connections"] = [
        e for e in found["data_flow_connections"] if "drafts-approval_gate" not in json.dumps(e)
    ]
    findings = compare(agent("email-outreach-agent"), document).weakened
    assert [change.code for change in findings] == ["gate_removed"]
    assert 'stood before "sender_flow/sender-send"' in findings[0].message


def with_tool(**fields: Any) -> dict[str, Any]:
    pay = {
        "component_type": "ServerTool",
        "id": "pay-tool",
        "name": "pay",
        "inputs": [],
        "outputs": [],
    }
    return flow_of(start(), node("ToolNode", "pay", tool={**pay, **fields}), end())


def test_a_call_that_asks_no_person_any_more_is_weaker() -> None:
    asked, silent = with_tool(requires_confirmation=True), with_tool()
    assert weaker(asked, silent) == [("confirmation_removed", "pay")]
    assert weaker(silent, asked) == []


def test_a_call_of_an_agent_that_asks_no_person_any_more_is_weaker() -> None:
    silent = agent_flow(agent_of(SEARCH, {**SEND, "requires_confirmation": False}))
    found = weaker(agent_flow(agent_of(SEARCH, SEND)), silent)
    assert found == [("confirmation_removed", "work/send")]
