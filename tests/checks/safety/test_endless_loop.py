from __future__ import annotations

import itertools

from tests.checks.rule_case import findings, found
from tests.flows import api, branching, end, flow_node, flow_of, gate, plain, port, start

CODE = "OAS201"
CHECK = branching("check", port("answer", default="x"), {"yes": "again"})


def looping(*nodes, back_to, **more):
    """start → nodes… → check, which goes back or on to the end."""
    ids = ["start", *(node["id"] for node in nodes), "check"]
    routes = [(a, None, b) for a, b in itertools.pairwise(ids)]
    routes += [("check", "again", back_to), ("check", "default", "end")]
    return flow_of(start(), *nodes, CHECK, end(), routes=routes, **more)


def test_a_loop_without_a_gate_is_found_at_the_edge_that_closes_it():
    bad = looping(gate("ask"), api("call"), back_to="call")
    good = looping(gate("ask"), api("call"), back_to="ask")
    assert found(bad, CODE) == ["/control_flow_connections/3"]
    assert found(good, CODE) == []


def test_the_message_names_the_way_round_and_a_send_that_is_in_it():
    bad = looping(gate("ask"), api("send", risk="email_send"), back_to="send")
    (finding,) = findings(bad, CODE)
    assert finding.message == (
        'the loop send → check → send goes round without a gate, and "send" (email_send) is in it'
    )


def test_a_gate_in_a_subflow_bounds_a_loop_only_if_the_subflow_cannot_be_run_around_it():
    asks = flow_of(start(), gate("ask"), end(), id_="inner")
    skips = flow_of(
        start(), branching("maybe", port("x", default=""), {"a": "a"}), gate("ask"), end(),
        id_="inner",
        routes=[
            ("start", None, "maybe"), ("maybe", "a", "ask"), ("maybe", "default", "end"),
            ("ask", None, "end"),
        ],
    )  # fmt: skip
    assert found(looping(flow_node("talk", asks), back_to="talk"), CODE) == []
    assert found(looping(flow_node("talk", skips), back_to="talk"), CODE) == [
        "/control_flow_connections/2"
    ]


def test_a_loop_inside_a_subflow_is_found_even_behind_a_gate():
    inner = looping(api("call"), back_to="call", id_="inner")
    flow = flow_of(start(), gate("ask"), flow_node("talk", inner), end())
    assert found(flow, CODE) == ["/$referenced_components/inner/control_flow_connections/2"]


def test_a_gate_that_the_parent_waives_does_not_bound_a_loop():
    inner = flow_of(start(), gate("ask"), end(), id_="inner")

    def flow(asks):
        steps = [{"requiresApproval": asks}]
        return looping(flow_node("talk", inner, gateSteps=steps), back_to="talk")

    assert found(flow(False), CODE) == ["/control_flow_connections/2"]
    assert found(flow(True), CODE) == []


def test_a_node_that_follows_itself_is_a_loop():
    flow = flow_of(
        start(), CHECK, end(),
        routes=[("start", None, "check"), ("check", "again", "check"), ("check", "default", "end")],
    )  # fmt: skip
    assert found(flow, CODE) == ["/control_flow_connections/1"]


def test_a_loop_that_cannot_be_left_is_left_to_the_rule_about_reaching_an_end():
    flow = flow_of(
        start(), api("a"), api("b"), end(),
        routes=[("start", None, "a"), ("a", None, "b"), ("b", None, "a")],
    )  # fmt: skip
    assert found(flow, CODE) == []
    assert found(flow, "OAS049")


def test_one_tangle_of_nodes_is_reported_once():
    nodes = [branching(f"n{i}", port("x", default=""), {"a": "a", "b": "b"}) for i in range(2_000)]
    routes = [("start", None, "n0")]
    for i in range(2_000):
        routes.append((f"n{i}", "a", f"n{(i + 1) % 2_000}"))
        routes.append((f"n{i}", "b", f"n{(i * 7) % 2_000}"))
        routes.append((f"n{i}", "default", "end"))
    (finding,) = findings(flow_of(start(), *nodes, end(), routes=routes), CODE)
    assert finding.message == "the loop n0 → n0 goes round without a gate"


def test_a_plain_flow_is_not_held_to_it():
    bad = looping(api("call"), back_to="call")
    assert found(bad, CODE)
    assert found(plain(bad), CODE) == []


def test_a_loop_through_a_gate_whose_type_is_misspelt_is_not_called_ungated():
    def looped(kind):
        flow = flow_of(
            start(), gate("ask"), branching("check", port("x", default=""), {"again": "again"}), end(),
            routes=[
                ("start", None, "ask"), ("ask", None, "check"), ("check", "again", "ask"),
                ("check", "default", "end"),
            ],
        )  # fmt: skip
        flow["$referenced_components"]["ask"]["component_type"] = kind
        return flow

    assert found(looped("InputMesageNode"), CODE) == []
    assert found(looped("OutputMessageNode"), CODE) == ["/control_flow_connections/2"]
