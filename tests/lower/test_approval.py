"""The derived policy, its steps and the gates they govern; numbers are worked out by hand."""

from __future__ import annotations

from typing import Any

from oas_compiler import compile_flow
from tests.flows import api, end, flow_node, flow_of, gate, port, start


def steps(flow: Any) -> list[tuple[int, str, str, bool]]:
    policy: Any = compile_flow(flow).approval_policy
    return [
        (s["stepNumber"], s["nodeId"], s["riskClass"], s["requiresApproval"])
        for s in policy["steps"]
    ]


def inner(id_: str, *gates: Any) -> Any:
    return flow_of(start(), *gates, end(), id_=id_)


def test_gates_and_flow_nodes_are_numbered_breadth_first_from_one() -> None:
    flow = flow_of(
        start(),
        gate("a", riskClass="approval"),
        flow_node("sub", inner("i", gate("b"), gate("c"))),
        gate("d"),
        end(),
    )
    assert steps(flow) == [
        (1, "a", "approval", True),
        (2, "sub", "read_only", True),
        (3, "d", "read_only", True),
    ]
    assert [(g.id, g.step) for g in compile_flow(flow).gates] == [
        ("a", 1), ("sub/b", 2), ("sub/c", 2), ("d", 3),
    ]  # fmt: skip


def test_a_visible_required_input_is_step_zero() -> None:
    flow = flow_of(start(port("x"), port("y"), required=["x", "y"], hidden=["y"]), gate("a"), end())
    assert steps(flow)[0] == (0, "start", "read_only", True)
    hidden = flow_of(start(port("y"), required=["y"], hidden=["y"]), gate("a"), end())
    assert steps(hidden)[0][0] == 1


def test_gate_steps_take_a_number_each_and_override_the_subflows_gates() -> None:
    entries = [
        {"name": "Pick", "renderer": "@x/y:pick", "hitlOwnedBy": "self", "gateCount": 1},
        {"name": "Check", "riskClass": "draft_create", "requiresApproval": False},
    ]
    flow = flow_of(
        start(),
        flow_node("sub", inner("i", gate("b", renderer="@x/y:own"), gate("c"), gate("d")), gateSteps=entries),
        gate("e"),
        end(),
    )  # fmt: skip
    assert steps(flow) == [
        (1, "sub", "read_only", True),
        (2, "sub", "draft_create", False),
        (3, "e", "read_only", True),
    ]
    assert [(g.node, g.step, g.name, g.renderer, g.risk) for g in compile_flow(flow).gates] == [
        ("b", 1, "Pick", "@x/y:pick", "read_only"),
        ("c", 2, "Check", "", "draft_create"),
        ("d", 2, "Check", "", "draft_create"),
        ("e", 3, "The e", "", "read_only"),
    ]


def test_a_flow_node_without_a_gate_inside_takes_a_step_that_asks_nobody() -> None:
    flow = flow_of(start(), flow_node("sub", inner("i", api("call"))), gate("a"), end())
    assert steps(flow) == [(1, "sub", "read_only", False), (2, "a", "read_only", True)]


def test_only_gates_before_a_send_guard_it_also_through_subflows() -> None:
    send = api("send", risk="email_send")
    flow = flow_of(
        start(), gate("before"), flow_node("sub", inner("i", gate("inside"), send, gate("after"))),
        gate("last"), end(),
    )  # fmt: skip
    assert compile_flow(flow).approval.guards == (
        (1, "before", "sub/send"),
        (2, "sub/inside", "sub/send"),
    )


def test_a_gate_in_a_loop_guards_a_send_that_comes_before_it_in_the_file() -> None:
    from tests.flows import branching

    flow = flow_of(
        start(),
        api("send", risk="email_send", outputs=[port("x")]),
        gate("again", output=port("said")),
        branching("b", port("said"), {"more": "more"}),
        end(),
        routes=[("start", None, "send"), ("send", None, "again"), ("again", None, "b"),
                ("b", "more", "send"), ("b", "default", "end")],
        edges=[("again", "said", "b", "said")],
    )  # fmt: skip
    assert compile_flow(flow).approval.guards == ((1, "again", "send"),)
