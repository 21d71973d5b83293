"""Gates inside nodes that run flows: their paths, their steps, and what they guard.

The flows are goldens, so that pictures and explanations of the same flows can be looked at.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oas_compiler.checks.compile_rules import READING
from oas_compiler.control.approval import derive_approval
from oas_compiler.control.context_slots import read_slots
from oas_compiler.control.flow_control import FlowControl
from oas_compiler.control.openings import asks_a_person, find_open_sends
from oas_compiler.control.risk_classes import sends
from oas_compiler.ir import FlowIR, open_flows, walk
from oas_compiler.pipeline import compile_ir
from tests.flows import api, branching, end, flow_node, flow_of, gate, node, port, start

GOLDEN = Path(__file__).parents[1] / "golden"


def read(made: Any) -> FlowIR:
    """The IR, also of nodes that do not run yet."""
    return compile_ir(made, rules=READING).ir


def golden(name: str) -> FlowIR:
    return read(GOLDEN / f"{name}.json")


def steps(flow: FlowIR) -> list[tuple[int, str, str, str, int]]:
    return [
        (step.number, step.node_id, step.name, step.risk_class, step.gate_count)
        for step in derive_approval(flow).steps
    ]


def gates(flow: FlowIR) -> list[tuple[str, int]]:
    return [(gate.id, gate.step) for gate in derive_approval(flow).gates]


def guards(flow: FlowIR) -> tuple[tuple[int, str, str], ...]:
    return derive_approval(flow, send_class=sends(flow)).guards


def always(flow: FlowIR) -> dict[str, set[str]]:
    """Send → the gates that come before it on every way."""
    guarding = FlowControl(flow=flow)
    return {
        "/".join(send): {
            "/".join(path) for path in guarding.graph.always_before(send) if path in guarding.asking
        }
        for send in guarding.sends
    }


def inner(id_: str, *nodes: Any) -> Any:
    return flow_of(start(), *nodes, end(), id_=id_)


def parallel(id_: str, *flows: Any) -> Any:
    return node("ParallelFlowNode", id_, subflows=list(flows))


def each(id_: str, *nodes: Any) -> Any:
    return node("MapNode", id_, subflow=inner(f"{id_}-flow", *nodes))


def test_flows_of_one_node_have_their_places_in_the_paths_and_a_flow_alone_has_none() -> None:
    flow = golden("gates_in_a_map_in_parallel_in_a_flow")
    paths = ["/".join(path) for path, _ in walk(flow)]
    assert len(paths) == len(set(paths))
    assert [path for path in paths if path.endswith("review")] == [
        "work/both/[0]/each/review",
        "work/both/[1]/review",
    ]
    both = next(node for _, node in walk(flow) if node.id == "both")
    assert [around for around, _ in open_flows(both, ("x",))] == [("x", "[0]"), ("x", "[1]")]


def test_a_gate_in_a_map_takes_the_step_of_the_map_and_guards_its_own_item_only() -> None:
    flow = golden("gates_in_a_map")
    assert steps(flow) == [(1, "each", "The each", "approval", 1)]
    assert gates(flow) == [("each/review", 1)]
    assert guards(flow) == ((1, "each/review", "each/send"),)
    assert always(flow) == {"each/send": {"each/review"}, "tell": set()}


def test_gates_of_one_id_in_flows_beside_each_other_share_a_step_and_guard_their_own_flow() -> None:
    flow = golden("gates_in_parallel_flows")
    assert steps(flow) == [
        (1, "first", "The first", "read_only", 1),
        (2, "both", "The both", "approval", 2),
    ]
    assert gates(flow) == [("first", 1), ("both/[0]/review", 2), ("both/[1]/review", 2)]
    assert [gate.risk_class for gate in derive_approval(flow).gates] == [
        "read_only", "approval", "read_only",
    ]  # fmt: skip
    assert guards(flow) == (
        (1, "first", "both/[0]/send"),
        (2, "both/[0]/review", "both/[0]/send"),
    )
    assert always(flow) == {
        "both/[0]/send": {"first", "both/[0]/review"},
        "both/[1]/publish": {"first", "both/[1]/review"},
        "report": {"first", "both/[0]/review", "both/[1]/review"},
    }


def test_every_depth_follows_the_step_of_the_outermost_node() -> None:
    flow = golden("gates_in_a_map_in_parallel_in_a_flow")
    assert steps(flow) == [(1, "work", "The work", "approval", 2)]
    assert gates(flow) == [("work/both/[0]/each/review", 1), ("work/both/[1]/review", 1)]
    assert always(flow) == {
        "work/both/[0]/each/send": {"work/both/[0]/each/review"},
        "report": {"work/both/[1]/review"},
    }


def test_a_node_that_runs_flows_without_a_gate_takes_no_number() -> None:
    flow = flow_of(
        start(), each("quiet", api("call")), gate("a"),
        parallel("both", inner("x", each("deep", gate("b"))), inner("y", api("call"))),
        flow_node("sub", inner("z")), gate("c"), end(),
    )  # fmt: skip
    assert [(number, node_id) for number, node_id, *_ in steps(read(flow))] == [
        (1, "a"), (2, "both"), (3, "sub"), (4, "c"),
    ]  # fmt: skip
    assert gates(read(flow)) == [("a", 1), ("both/[0]/deep/b", 2), ("c", 4)]


def test_the_entries_of_gate_steps_are_for_the_gates_right_inside_the_flow_node() -> None:
    deep = inner("deep", gate("own"), each("each", gate("item")))
    entries = [{"name": "Own", "requiresApproval": False}]
    sub = flow_node("sub", deep, gateSteps=entries)
    flow = read(flow_of(start(), sub, end()))
    shown = {gate.id: gate.name for gate in derive_approval(flow).gates}
    assert shown == {"sub/own": "Own", "sub/each/item": "The item"}
    assert FlowControl(flow=flow).waived == {("sub", "own"), ("sub", "each", "item")}


def test_a_gate_that_its_outermost_step_waives_guards_nothing_in_flows_beside_each_other() -> None:
    def opened(*entries: Any) -> list[str]:
        send = api("send", risk="email_send")
        both = parallel("both", inner("x", gate("g"), send), inner("y", gate("g"), send))
        sub = flow_node("sub", inner("deep", both), gateSteps=list(entries))
        flow = read(flow_of(start(), sub, end()))
        guarding = FlowControl(flow=flow)
        is_open = {send for send in guarding.sends if guarding.is_open(send)}
        found = find_open_sends(flow, FlowControl(flow=flow).waived, asks_a_person)
        nodes = {node.place.pointer: path for path, node in walk(flow)}
        assert {nodes[one.node.place.pointer] for one in found} == is_open
        return ["/".join(path) for path in sorted(is_open)]

    assert opened() == []
    assert opened({"name": "No", "requiresApproval": False}) == [
        "sub/both/[0]/send", "sub/both/[1]/send",
    ]  # fmt: skip


def test_a_gate_after_the_send_of_its_item_comes_before_the_send_of_the_next_item() -> None:
    send = api("send", risk="email_send")
    flow = read(flow_of(start(), each("each", send, gate("after")), end()))
    assert guards(flow) == ((1, "each/after", "each/send"),)
    assert always(flow) == {"each/send": set()}
    beside = read(
        flow_of(start(), parallel("both", inner("x", send), inner("y", gate("g"))), end())
    )
    assert guards(beside) == ()


def test_a_gate_in_a_loop_around_flows_beside_each_other_guards_the_send_of_the_next_round() -> (
    None
):
    both = parallel("both", inner("x", api("send", risk="email_send")), inner("y", gate("g")))
    nodes = (start(), both, api("ask", outputs=[port("x")]), branching("b", port("x"), {"y": "more"}), end())  # fmt: skip
    routes = [("start", None, "both"), ("both", None, "ask"), ("ask", None, "b"),
              ("b", "default", "end"), ("b", "more", "both")]  # fmt: skip
    flow = read(flow_of(*nodes, routes=routes, edges=[("ask", "x", "b", "x")]))
    assert guards(flow) == ((1, "both/[1]/g", "both/[0]/send"),)


def test_a_simulation_is_led_to_the_gates_inside_flows_beside_each_other() -> None:
    choice = branching("b", port("x"), {"y": "more"})
    asks = flow_of(
        start(), api("ask", outputs=[port("x")]), choice, gate("g"), end(), id_="asks",
        routes=[("start", None, "ask"), ("ask", None, "b"), ("b", "more", "g"),
                ("b", "default", "end"), ("g", None, "end")],
        edges=[("ask", "x", "b", "x")],
    )  # fmt: skip
    flow = read(flow_of(start(), parallel("both", inner("x"), asks), end()))
    assert FlowControl(flow=flow).steering == {"both/[1]/ask": [{"x": "y"}]}


def test_a_slot_counts_as_filled_only_if_a_map_over_the_same_flow_agrees_too() -> None:
    about = {"packageName": "@x/child", "contextSlots": [{"slotId": "brand"}]}
    child = inner("child") | {"metadata": {"cinatra": about}}
    agreed = {
        "parentSatisfiedContextSlots": [{"parentSlotId": "brand", "childPackage": "@x/child"}]
    }

    def from_parent(around_the_map: Any) -> list[bool]:
        again = node("MapNode", "again", subflow={"$component_ref": "child"})
        begin = node("StartNode", "begin", inputs=[])
        stranger = flow_of(begin, again, end(id_="done"), id_="stranger")
        stranger |= {"metadata": {"cinatra": around_the_map}}
        shared = stranger.pop("$referenced_components")  # as the root's, so that it sees the child
        flow = flow_of(start(), flow_node("run", child), flow_node("other", stranger), end())
        flow["$referenced_components"] |= shared
        made = read(flow | {"metadata": {"cinatra": agreed}})
        flows = [made, *(flow for _, one in walk(made) for flow in one.subflows)]
        unique = {id(one): one for one in flows}.values()
        return [slot.from_parent for found in read_slots(unique) for slot in found.slots]

    assert from_parent(agreed) == [True]
    assert from_parent({}) == [False]
