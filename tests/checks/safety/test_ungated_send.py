from __future__ import annotations

import copy

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, branching, end, flow_node, flow_of, gate, node, port, start

CODE = "OAS200"
SEND = api("send", risk="email_send")
SEND_AT = "/$referenced_components/send"


def choice(id_="check"):
    return branching(id_, port("answer", default="x"), {"yes": "yes"})


def messages(flow):
    return [finding.message for finding in findings(flow, CODE)]


def test_a_send_behind_the_start_alone_is_found_and_one_behind_a_gate_is_not():
    bad = flow_of(start(), api("draft"), SEND, end())
    good = flow_of(start(), api("draft"), gate("ask"), SEND, end())
    assert found(bad, CODE) == [SEND_AT]
    assert messages(bad) == [
        '"send" (email_send) can run before any person was asked: start → draft → send'
    ]
    assert found(good, CODE) == []


def test_a_gate_that_comes_after_the_send_does_not_guard_it():
    assert found(flow_of(start(), SEND, gate("ask"), end()), CODE) == [SEND_AT]


def test_a_branch_around_the_gate_is_named():
    nodes = (start(), choice(), gate("ask"), api("other"), SEND, end())
    bad = flow_of(
        *nodes,
        routes=[
            ("start", None, "check"), ("check", "yes", "ask"), ("check", "default", "other"),
            ("ask", None, "send"), ("other", None, "send"), ("send", None, "end"),
        ],
    )  # fmt: skip
    good = flow_of(
        *nodes,
        routes=[
            ("start", None, "check"), ("check", "yes", "ask"), ("check", "default", "other"),
            ("ask", None, "send"), ("other", None, "ask"), ("send", None, "end"),
        ],
    )  # fmt: skip
    assert messages(bad) == [
        '"send" (email_send) can run before any person was asked: start → check → other → send'
    ]
    assert found(good, CODE) == []


@pytest.mark.parametrize(
    ("risk", "count"),
    [("email_send", 1), ("send_external_message", 1), ("refund_post", 1), ("write", 0), ("", 0), ("resend", 0)],
)  # fmt: skip
def test_only_send_classes_need_a_gate(risk, count):
    assert len(found(flow_of(start(), api("call", risk=risk), end()), CODE)) == count


def test_a_gate_with_the_risk_of_a_send_is_its_own_gate():
    assert found(flow_of(start(), gate("ask", riskClass="test_send"), end()), CODE) == []


def test_a_gate_counts_whatever_its_own_requires_approval_says():
    assert found(flow_of(start(), gate("ask", requiresApproval=False), SEND, end()), CODE) == []


# ---------------------------------------------------------------------------- subflows


def inner(*nodes, id_="inner", **more):
    return flow_of(start(), *nodes, end(), id_=id_, **more)


def test_a_send_inside_a_subflow_is_guarded_by_a_gate_before_the_flow_node():
    bad = flow_of(start(), flow_node("mail", inner(SEND)), end())
    good = flow_of(start(), gate("ask"), flow_node("mail", inner(SEND)), end())
    assert found(bad, CODE) == ["/$referenced_components/inner/$referenced_components/send"]
    assert messages(bad) == [
        '"send" (email_send) can run before any person was asked: start → mail → mail/send'
    ]
    assert found(good, CODE) == []


def test_a_gate_inside_a_subflow_guards_what_comes_after_it_only_when_no_branch_leads_around_it():
    asks = inner(gate("ask"))
    around = inner(
        choice(),
        gate("ask"),
        routes=[
            ("start", None, "check"), ("check", "yes", "ask"), ("check", "default", "end"),
            ("ask", None, "end"),
        ],
    )  # fmt: skip
    assert found(flow_of(start(), flow_node("talk", asks), SEND, end()), CODE) == []
    assert found(flow_of(start(), flow_node("talk", around), SEND, end()), CODE) == [SEND_AT]


def test_the_branch_by_which_a_subflow_is_left_decides():
    def talk(sending_branch):
        subflow = flow_of(
            start(), choice(), gate("ask"), end(id_="asked", branch_name="asked"),
            end(id_="unasked", branch_name="unasked"), id_="inner",
            routes=[
                ("start", None, "check"), ("check", "yes", "ask"), ("ask", None, "asked"),
                ("check", "default", "unasked"),
            ],
        )  # fmt: skip
        other = {"asked": "unasked", "unasked": "asked"}[sending_branch]
        return flow_of(
            start(), flow_node("talk", subflow), SEND, end(),
            routes=[
                ("start", None, "talk"), ("talk", sending_branch, "send"), ("talk", other, "end"),
                ("send", None, "end"),
            ],
        )  # fmt: skip

    assert found(talk("unasked"), CODE) == [SEND_AT]
    assert found(talk("asked"), CODE) == []


def test_a_subflow_marked_as_a_send_must_have_a_gate_on_its_way_through():
    bad = flow_of(start(), flow_node("mail", inner(api("go")), riskClass="email_send"), end())
    good = flow_of(
        start(), flow_node("mail", inner(gate("ask"), api("go")), riskClass="email_send"), end()
    )
    assert found(bad, CODE) == ["/$referenced_components/mail"]
    assert found(good, CODE) == []


@pytest.mark.parametrize(("asks", "count"), [(False, 1), (True, 0)])
def test_a_gate_that_the_parent_waives_asks_nobody(asks, count):
    steps = [{"name": "a", "requiresApproval": asks}]
    flow = flow_of(start(), flow_node("talk", inner(gate("ask")), gateSteps=steps), SEND, end())
    every = findings(flow, CODE)
    assert len(every) == count
    assert all("gateSteps" in finding.hint for finding in every)


def test_a_waiver_counts_for_the_flow_node_that_gives_it_and_not_for_another_use_of_the_subflow():
    shared = inner(gate("ask"), SEND)
    waives = flow_node("first", shared, gateSteps=[{"requiresApproval": False}])
    flow = flow_of(start(), waives, flow_node("second", shared), end())
    (message,) = messages(flow)
    assert message.endswith(": start → first → first/ask → first/send")
    del waives["metadata"]["cinatra"]["gateSteps"]
    assert messages(flow_of(start(), waives, flow_node("second", shared), end())) == []


# ------------------------------------------------------------ containers nothing can run yet


def container(kind, subflow, **fields):
    return node(kind, "box", subflow=subflow, inputs=[], outputs=[], **fields)


@pytest.mark.parametrize(
    "kind", ["MapNode", "ParallelMapNode", "CatchExceptionNode", "PluginRepeatNode"]
)
def test_a_send_inside_a_container_is_found_and_a_gate_inside_it_guards_it(kind):
    at = "/$referenced_components/inner/$referenced_components/send"
    bad = flow_of(start(), container(kind, inner(SEND)), end())
    assert found(bad, CODE) == [at]
    assert found(flow_of(start(), container(kind, inner(gate("ask"), SEND)), end()), CODE) == []
    assert found(flow_of(start(), gate("ask"), container(kind, inner(SEND)), end()), CODE) == []


def test_a_gate_inside_a_map_guards_nothing_after_it_because_a_list_may_be_empty():
    after_map = flow_of(start(), container("MapNode", inner(gate("ask"))), SEND, end())
    after_flow = flow_of(start(), flow_node("box", inner(gate("ask"))), SEND, end())
    assert found(after_map, CODE) == [SEND_AT]
    assert found(after_flow, CODE) == []


def test_the_branch_of_a_caught_exception_may_be_taken_before_the_gate_was_met():
    def caught(branch):
        routes = [("start", None, "box"), ("box", branch, "send"), ("send", None, "end")]
        routes.append(("box", {"next": "caught_exception_branch"}.get(branch, "next"), "end"))
        box = container("CatchExceptionNode", inner(gate("ask")))
        return flow_of(start(), box, SEND, end(), routes=routes)

    assert found(caught("caught_exception_branch"), CODE) == [SEND_AT]
    assert found(caught("next"), CODE) == []


def test_an_end_node_named_like_that_branch_does_not_make_it_safe():
    subflow = flow_of(start(), gate("ask"), end(branch_name="caught_exception_branch"), id_="inner")
    for kind, at in (("CatchExceptionNode", [SEND_AT]), ("FlowNode", [])):
        flow = flow_of(
            start(), container(kind, subflow), SEND, end(),
            routes=[
                ("start", None, "box"), ("box", "caught_exception_branch", "send"),
                ("send", None, "end"),
            ],
        )  # fmt: skip
        assert found(flow, CODE) == at


def test_parallel_flows_all_run_so_that_one_gate_guards_what_follows_but_not_the_flow_beside_it():
    asks, sends = inner(gate("ask"), id_="asks"), inner(SEND, id_="sends")
    box = node("ParallelFlowNode", "box", subflows=[asks, sends], inputs=[], outputs=[])
    flow = flow_of(start(), box, api("publish", risk="blog_publish"), end())
    assert found(flow, CODE) == [
        "/$referenced_components/box/subflows/1/$referenced_components/send"
    ]


def test_a_tool_that_requires_confirmation_and_an_agent_that_requires_approval_ask_themselves():
    def tool(confirmed):
        made = {
            "component_type": "ServerTool", "id": "t", "name": "refund", "inputs": [],
            "outputs": [], "requires_confirmation": confirmed,
        }  # fmt: skip
        return node("ToolNode", "pay", tool=made, cinatra={"riskClass": "refund_post"})

    def agent(approval_):
        made = {"component_type": "Agent", "id": "a", "name": "a", "system_prompt": ""}
        about = {"riskClass": "email_send", "requiresApproval": approval_}
        return node("AgentNode", "work", agent=made, cinatra=about)

    assert found(flow_of(start(), tool(False), end()), CODE) == ["/$referenced_components/pay"]
    assert found(flow_of(start(), tool(True), end()), CODE) == []
    assert found(flow_of(start(), agent(False), end()), CODE) == ["/$referenced_components/work"]
    assert found(flow_of(start(), agent(True), end()), CODE) == []


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("CatchExceptionNode", "subflow"),
        ("ParallelFlowNode", "subflows"),
        ("ExtendedParallelFlowNode", "subflows"),
        ("AgentNode", "agent"),
    ],
)
@pytest.mark.parametrize("flaw", [{}, {"inputs": [7]}])
def test_a_gate_guards_what_follows_its_container_even_if_the_ports_of_its_flow_are_unread(
    kind, field, flaw
):
    def box(*nodes):
        flow = inner(*nodes, **flaw)
        return node(
            kind, "box", inputs=[], outputs=[], **{field: [flow] if field[-1] == "s" else flow}
        )

    after = api("publish", risk="blog_publish")
    at = "/$referenced_components/publish"
    assert found(flow_of(start(), box(api("draft")), after, end()), CODE) == [at]
    assert found(flow_of(start(), box(gate("ask")), after, end()), CODE) == []


def test_a_flow_that_can_be_read_is_examined_where_the_flow_beside_it_cannot():
    subflows = [{"$component_ref": "nobody"}, inner(SEND, id_="sends")]
    box = node("ParallelFlowNode", "box", subflows=subflows, inputs=[], outputs=[])
    after = api("publish", risk="blog_publish")
    assert found(flow_of(start(), box, after, end()), CODE) == [
        "/$referenced_components/box/subflows/1/$referenced_components/send"
    ]  # nothing is said of "publish": the flow that cannot be read may hold a gate


# ---------------------------------------------------------------------------- odd input


def test_every_unguarded_send_of_a_long_flow_is_found_once_and_its_path_is_kept_short():
    sends = [api(f"send{i}", risk="email_send") for i in range(400)]
    every = findings(flow_of(start(), *sends, end()), CODE)
    assert len(every) == 400
    assert every[-1].message.endswith(
        "start → send0 → send1 → send2 → … → send396 → send397 → send398 → send399"
    )


def test_flows_inside_each_other_in_a_circle_end_the_walk():
    # names are looked up outwards in a plain Agent Spec document only
    flow = flow_of(start(), SEND, end(), metadata={})
    box = container("MapNode", {"$component_ref": "again"})
    outer = flow_of(start(), box, SEND, end(), metadata={})
    again = copy.deepcopy(flow)
    again["id"] = "again"
    # with several circles, a walk that went round each again would never end
    for name in ("more1", "more2", "more3"):
        again["nodes"].insert(1, {"$component_ref": name})
        again["$referenced_components"][name] = {**copy.deepcopy(box), "id": name}
    outer["$referenced_components"]["again"] = again
    assert found(outer, CODE) == [
        "/$referenced_components/send",
        "/$referenced_components/again/$referenced_components/send",
    ]


@pytest.mark.parametrize("odd", [None, 7, "text", [], {}, [[]], {"$component_ref": 3}])
@pytest.mark.parametrize(
    "key", ["start_node", "nodes", "control_flow_connections", "$referenced_components"]
)
def test_odd_values_are_no_sends(key, odd):
    flow = {**flow_of(start(), gate("ask"), SEND, end()), key: odd}
    assert found(flow, CODE) == []


# ------------------------------------------------------------ classes in other spellings, gaps


@pytest.mark.parametrize(
    "risk",
    ["email-send", "Email_Send", "emailSend", "EMAIL_SEND", "send_email", "sendEmail", " email send ",
     "email_publish ", "external_message_send", "delete-user", "testSend"],
)  # fmt: skip
def test_a_send_in_another_spelling_is_a_send(risk):
    assert found(flow_of(start(), api("send", risk=risk), end()), CODE) == [SEND_AT]
    assert found(flow_of(start(), gate("ask"), api("send", risk=risk), end()), CODE) == []


@pytest.mark.parametrize(
    "risk",
    ["resend", "email_sned", "post_review", "sender_read", "undelete", "publisher", "re-send-r"],
)
def test_other_words_are_no_sends(risk):
    assert found(flow_of(start(), api("send", risk=risk), end()), CODE) == []


def test_behind_a_gate_whose_type_is_misspelt_nothing_is_said_of_gates():
    flow = flow_of(start(), gate("ask"), SEND, end())
    typed = flow["$referenced_components"]["ask"]
    typed["component_type"] = "InputMesageNode"
    assert found(flow, "OAS026") == ["/$referenced_components/ask/component_type"]
    assert found(flow, CODE) == []
    typed["component_type"] = "OutputMessageNode"
    assert found(flow, CODE) == [SEND_AT]


def test_a_send_that_control_comes_to_on_another_way_than_through_the_gap_is_found():
    flow = flow_of(
        start(), choice(), gate("ask"), SEND, end(),
        routes=[
            ("start", None, "check"), ("check", "yes", "ask"), ("check", "default", "send"),
            ("ask", None, "send"), ("send", None, "end"),
        ],
    )  # fmt: skip
    flow["$referenced_components"]["ask"]["component_type"] = "InputMesageNode"
    assert found(flow, CODE) == [SEND_AT]


@pytest.mark.parametrize("wrong", [{"$component_ref": "inner2"}, {"component_type": "Flwo"}, None])
def test_a_subflow_that_could_not_be_read_may_hold_the_gate(wrong):
    flow = flow_of(start(), flow_node("talk", inner(api("x"))), SEND, end())
    assert found(flow, CODE) == [SEND_AT]
    flow["$referenced_components"]["talk"]["subflow"] = wrong
    assert found(flow, CODE) == []


def test_a_send_node_whose_tool_could_not_be_read_may_ask_by_itself():
    made = {"component_type": "ServerTool", "id": "t", "name": "t", "inputs": [], "outputs": []}
    flow = flow_of(
        start(), node("ToolNode", "pay", tool=made, cinatra={"riskClass": "refund_post"}), end()
    )
    assert found(flow, CODE) == ["/$referenced_components/pay"]
    flow["$referenced_components"]["pay"]["tool"] = {"$component_ref": "nothing"}
    assert found(flow, CODE) == []
    assert len(findings(flow, "OAS010")) == 1


# ------------------------------------------------------------ nodes by id, marks of containers


def copied(flow, name):
    """The component itself, as it would be written in place of a reference to it."""
    return copy.deepcopy(flow["$referenced_components"][name])


def set_target(flow, name):
    for edge in flow["control_flow_connections"]:
        if edge["to_node"] == {"$component_ref": name}:
            edge["to_node"] = copied(flow, name)


def set_source(flow, name):
    for edge in flow["control_flow_connections"]:
        if edge["from_node"] == {"$component_ref": name}:
            edge["from_node"] = copied(flow, name)


def set_start(flow, _name):
    flow["start_node"] = copied(flow, "start")


@pytest.mark.parametrize("rewrite", [set_target, set_source, set_start])
def test_a_copy_of_a_node_in_place_of_a_reference_means_the_listed_node(rewrite):
    bad, good = flow_of(start(), SEND, end()), flow_of(start(), gate("ask"), SEND, end())
    rewrite(bad, "send")
    rewrite(good, "send")
    assert found(bad, CODE) == [SEND_AT]
    assert found(good, CODE) == []


def test_a_copy_of_the_gate_is_the_gate():
    flow = flow_of(start(), gate("ask"), SEND, end())
    set_target(flow, "ask")
    set_source(flow, "ask")
    assert found(flow, CODE) == []


def test_a_copy_that_calls_itself_a_gate_under_the_id_of_a_call_asks_nobody():
    flow = flow_of(start(), api("ask"), SEND, end())
    for edge in flow["control_flow_connections"]:
        for name in ("from_node", "to_node"):
            if edge[name] == {"$component_ref": "ask"}:
                edge[name] = gate("ask")
    assert found(flow, CODE) == [SEND_AT]


def test_nodes_and_ends_of_edges_are_found_through_chains_of_references():
    bad, good = flow_of(start(), SEND, end()), flow_of(start(), gate("ask"), SEND, end())
    for flow in (bad, good):
        flow["$referenced_components"]["alias"] = {"$component_ref": "other"}
        flow["$referenced_components"]["other"] = {"$component_ref": "send"}
        for edge in flow["control_flow_connections"]:
            if edge["to_node"] == {"$component_ref": "send"}:
                edge["to_node"] = {"$component_ref": "alias"}
    assert found(bad, CODE) == [SEND_AT]
    assert found(good, CODE) == []


@pytest.mark.parametrize("own", ["read_only", ["x"], "", None, {}, "email_send"])
@pytest.mark.parametrize(("behind", "count"), [("email_send", 1), ("read_only", 0)])
def test_a_node_is_what_its_tool_is_whatever_it_says_of_itself(own, behind, count):
    made = {
        "component_type": "ServerTool", "id": "t", "name": "t", "inputs": [], "outputs": [],
        "metadata": {"cinatra": {"riskClass": behind}},
    }  # fmt: skip
    flow = flow_of(start(), node("ToolNode", "mail", tool=made, cinatra={"riskClass": own}), end())
    expected = 1 if own == "email_send" else count
    assert found(flow, CODE) == ["/$referenced_components/mail"] * expected


@pytest.mark.parametrize("kind", ["FlowNode", "MapNode", "CatchExceptionNode"])
@pytest.mark.parametrize(
    ("nodes", "count"),
    [
        ((api("go"), gate("ask")), 1),  # its only call
        ((api("go"), api("more"), gate("ask")), 1),
        ((gate("ask"), api("go")), 0),
        ((api("look"), gate("ask"), api("go")), 0),  # the first one is read_only
        ((api("look", risk=""), gate("ask"), api("go")), 1),  # may be the send
        ((api("look", risk="write"), gate("ask"), api("go")), 1),
        ((api("look", risk=""), gate("ask"), SEND), 0),  # the send says that it is the send
    ],
)
def test_the_calls_of_a_container_that_is_marked_as_a_send_come_after_a_gate(kind, nodes, count):
    flow = flow_of(
        start(), container(kind, inner(*nodes), cinatra={"riskClass": "email_send"}), end()
    )
    assert found(flow, CODE) == ["/$referenced_components/box"] * count
    guarded = flow_of(
        start(), gate("first"),
        container(kind, inner(*nodes), cinatra={"riskClass": "email_send"}), end(),
    )  # fmt: skip
    assert found(guarded, CODE) == []


def test_the_only_call_may_be_deeper_inside_the_container():
    def mail(*nodes):
        deep = flow_node("deep", inner(api("go"), id_="deepest"))
        nodes = [deep if one == "deep" else one for one in nodes]
        return flow_of(start(), flow_node("mail", inner(*nodes), riskClass="email_send"), end())

    assert found(mail("deep", gate("ask")), CODE) == ["/$referenced_components/mail"]
    assert found(mail(gate("ask"), "deep"), CODE) == []


@pytest.mark.parametrize(
    "risk",
    [
        "\uff45\uff4d\uff41\uff49\uff4c\uff0d\uff53\uff45\uff4e\uff44",
        "email_se\u200bnd",
        "email_s\u0435nd",
        "\u0455end",
        "email_send\u200b",
    ],
)
def test_a_send_in_letters_that_look_alike_is_a_send(risk):
    assert found(flow_of(start(), api("send", risk=risk), end()), CODE) == [SEND_AT]
    assert found(flow_of(start(), gate("ask"), api("send", risk=risk), end()), CODE) == []
