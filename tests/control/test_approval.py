"""The derived policy, its steps and the gates they govern; numbers are worked out by hand."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from cinatra_sdk.context import selector
from cinatra_sdk.errors import PolicyInvalid
from oas_compiler import compile_flow
from oas_compiler.control import gates
from oas_compiler.control.approval import derive_approval
from oas_compiler.ir import (
    ApiNode,
    FlowIR,
    FlowNode,
    InputMessageNode,
    Path,
    Route,
    StartNode,
    walk,
)
from tests.flows import api, branching, end, flow_node, flow_of, gate, port, start


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


def test_a_step_with_many_gates_before_many_sends_has_one_guard() -> None:
    sends = [api(id_, risk="email_send") for id_ in ("s", "t")]
    flow = flow_of(
        start(), flow_node("sub", inner("i", gate("a"), gate("b"))), gate("c"), *sends, end()
    )
    assert compile_flow(flow).approval.guards == ((1, "sub/a", "s"), (2, "c", "s"))


def test_the_guard_of_a_step_is_its_first_gate_that_comes_before_a_send() -> None:
    subflow = flow_of(
        start(), gate("aside"), api("ask", outputs=[port("x")]), branching("b", port("x"), {"y": "yes"}),
        api("send", risk="email_send"), gate("before"), end(),
        id_="i",
        routes=[("start", None, "ask"), ("ask", None, "b"), ("b", "default", "aside"),
                ("b", "yes", "before"), ("before", None, "send"), ("send", None, "end"),
                ("aside", None, "end")],
        edges=[("ask", "x", "b", "x")],
    )  # fmt: skip
    flow = flow_of(start(), flow_node("sub", subflow), end())
    assert [gate.node for gate in compile_flow(flow).gates] == ["aside", "before"]
    assert compile_flow(flow).approval.guards == ((1, "sub/before", "sub/send"),)


def test_a_gate_guards_a_send_of_the_next_visit_of_the_flow_node_that_both_are_in() -> None:
    send = api("send", risk="email_send")
    subflow = inner("i", send, flow_node("deep", inner("d", gate("after"))))
    nodes = (start(), flow_node("sub", subflow), api("ask", outputs=[port("x")]),
             branching("b", port("x"), {"y": "more"}), end())  # fmt: skip
    routes = [("start", None, "sub"), ("sub", None, "ask"), ("ask", None, "b"),
              ("b", "default", "end")]  # fmt: skip
    edges = [("ask", "x", "b", "x")]
    looped = flow_of(*nodes, routes=[*routes, ("b", "more", "sub")], edges=edges)
    straight = flow_of(*nodes, routes=[*routes, ("b", "more", "end")], edges=edges)
    assert compile_flow(looped).approval.guards == ((1, "sub/deep/after", "sub/send"),)
    assert compile_flow(straight).approval.guards == ()


def test_a_loop_further_out_joins_a_gate_and_a_send_as_well() -> None:
    middle = inner("m", flow_node("deep", inner("d", api("send", risk="post"), gate("after"))))
    flow = flow_of(
        start(), flow_node("sub", middle), gate("last", output=port("said")),
        branching("b", port("said"), {"more": "more"}), end(),
        routes=[("start", None, "sub"), ("sub", None, "last"), ("last", None, "b"),
                ("b", "more", "sub"), ("b", "default", "end")],
        edges=[("last", "said", "b", "said")],
    )  # fmt: skip
    assert compile_flow(flow).approval.guards == (
        (1, "sub/deep/after", "sub/deep/send"),
        (2, "last", "sub/deep/send"),
    )


def test_a_gate_of_a_send_class_guards_itself_and_no_other_gate_guards_it() -> None:
    flow = flow_of(start(), gate("a"), gate("b", riskClass="test_send"), gate("c"), end())
    assert compile_flow(flow).approval.guards == ((2, "b", "b"),)


def test_a_gate_of_a_send_class_before_a_send_guards_that_send() -> None:
    gates = (gate("b", riskClass="post"), gate("c", riskClass="post"))
    flow = flow_of(start(), gates[0], api("send", risk="post"), gates[1], end())
    assert compile_flow(flow).approval.guards == ((1, "b", "send"), (2, "c", "c"))


def test_a_gate_of_a_send_class_after_a_send_is_a_guard_of_its_own() -> None:
    flow = flow_of(start(), api("send", risk="email_send"), gate("b", riskClass="post"), end())
    assert compile_flow(flow).approval.guards == ((1, "b", "b"),)


@pytest.mark.parametrize(
    ("own", "entry", "guards"),
    [
        ("read_only", "test_send", ((1, "sub/b", "sub/b"),)),
        ("test_send", "read_only", ()),
        ("test_send", "", ((1, "sub/b", "sub/b"),)),
        ("read_only", "", ()),
    ],
)
def test_what_gate_steps_say_of_a_gate_decides_whether_it_is_of_a_send_class(
    own: str, entry: str, guards: Any
) -> None:
    entries = [{"name": "Check", **({"riskClass": entry} if entry else {})}]
    sub = flow_node("sub", inner("i", gate("b", riskClass=own)), gateSteps=entries)
    assert compile_flow(flow_of(start(), sub, end())).approval.guards == guards


@pytest.mark.parametrize("policy", [None, {"steps": []}])
def test_a_policy_without_an_entry_for_a_gate_of_a_send_class_refuses_to_start(policy: Any) -> None:
    flow = compile_flow(flow_of(start(), gate("b", riskClass="test_send"), end()))
    with pytest.raises(PolicyInvalid, match="no entry for step 1 \\(gate 'b'\\)"):
        flow.check_policy(policy)
    for requires in (True, False):
        flow.check_policy({"steps": [{"stepNumber": 1, "requiresApproval": requires}]})


# ------------------------------------------------------------------ against a plain search


def random_flow(rng: random.Random, depth: int, name: str) -> FlowIR:
    """Gates, calls and FlowNodes with routes to anywhere."""
    ids = [f"n{i}" for i in range(rng.randint(1, 4))]
    nodes: list[Any] = [StartNode(id="start", name="")]
    routes = [Route(source="start", branch="next", target=rng.choice(ids))]
    for id_ in ids:
        kind = rng.choice(("gate", "call", "flow") if depth else ("gate", "call"))
        if kind == "gate":
            nodes.append(InputMessageNode(id=id_, name=""))
        elif kind == "call":
            nodes.append(ApiNode(id=id_, name="", url=""))
        else:
            subflow = random_flow(rng, depth - 1, f"{name}-{id_}")
            nodes.append(FlowNode(id=id_, name="", subflow=subflow))
        for branch in ("a", "b"):
            if rng.random() < 0.4:
                routes.append(Route(source=id_, branch=branch, target=rng.choice(ids)))
    return FlowIR(id=name, name="", start="start", nodes=tuple(nodes), routes=tuple(routes))


def flattened(
    flow: FlowIR, around: Path = ()
) -> Iterator[tuple[tuple[Path, str], tuple[Path, str]]]:
    """Edges between the ways "in" and "out" of all nodes at all depths."""
    for node in flow.nodes:
        path = (*around, node.id)
        if isinstance(node, FlowNode):
            yield from flattened(node.subflow, path)
            for inside in node.subflow.nodes:
                yield (path, "in"), ((*path, inside.id), "in")
                yield ((*path, inside.id), "out"), (path, "out")
        yield (path, "in"), (path, "out")
    for route in flow.routes:
        yield ((*around, route.source), "out"), ((*around, route.target), "in")


def guarding(flow: FlowIR, sends: frozenset[Path]) -> set[tuple[Path, Path]]:
    """Every (gate, send) of which the gate can come first."""
    edges = list(flattened(flow))
    pairs = set()
    for path, node in walk(flow):
        if isinstance(node, InputMessageNode):
            seen = set()
            stack = [(path, "out")]
            while stack:
                current = stack.pop()
                stack += [b for a, b in edges if a == current and b not in seen]
                seen |= {b for a, b in edges if a == current}
            pairs |= {(path, send) for send in sends if (send, "in") in seen}
    return pairs


@pytest.mark.parametrize("seed", range(150))
def test_the_guards_of_a_random_flow_are_one_per_step_that_a_search_finds(seed: int) -> None:
    rng = random.Random(seed)
    flow = random_flow(rng, 2, "f")
    calls = [path for path, node in walk(flow) if isinstance(node, ApiNode)]
    sends = frozenset(path for path in calls if rng.random() < 0.5)
    approval = derive_approval(flow, send_class=sends)
    pairs = guarding(flow, sends)
    expected = {spec.step for spec in approval.gates if any(g == spec.path for g, _s in pairs)}
    assert [step for step, _gate, _send in approval.guards] == sorted(expected)
    steps = {"/".join(spec.path): spec.step for spec in approval.gates}
    for step, gate_id, send in approval.guards:
        assert (tuple(gate_id.split("/")), tuple(send.split("/"))) in pairs
        assert steps[gate_id] == step


def test_some_random_flows_have_guards_and_gates_that_guard_nothing() -> None:
    counts = []
    for seed in range(150):
        flow = random_flow(random.Random(seed), 2, "f")
        sends = frozenset(path for path, node in walk(flow) if isinstance(node, ApiNode))
        approval = derive_approval(flow, send_class=sends)
        counts.append((len(approval.guards), len({spec.step for spec in approval.gates})))
    assert sum(guards > 1 for guards, _steps in counts) > 20
    assert sum(guards < steps for guards, steps in counts) > 20


SELECTOR = "@cinatra-ai/context-selection-agent:context-selector"


def piped(**of_node: Any) -> Any:
    """Gates as blog pipelines have them: a selection in a subflow of their own, then two more."""
    chosen = flow_of(
        start(id_="s1"),
        gate("select", renderer=SELECTOR, riskClass="approval"),
        end(id_="e1"),
        id_="s",
    )
    deeper = flow_of(start(id_="s2"), gate("look", renderer="@x/y:look"), end(id_="e2"), id_="deep")
    return flow_of(
        start(),
        flow_node(
            "sub",
            inner(
                "i",
                flow_node("context", chosen),
                gate("own", renderer="@x/y:own"),
                gate("also", renderer=SELECTOR),
                flow_node("below", deeper),
                gate("last"),
            ),
            **of_node,
        ),
        end(),
    )


def shown(flow: Any) -> list[tuple[str, int, str, str, str]]:
    return [(g.id, g.step, g.name, g.renderer, g.risk) for g in compile_flow(flow).gates]


def test_entries_belong_to_the_gates_directly_in_the_subflow_that_select_no_context() -> None:
    entries = [
        {"name": "First", "renderer": "@p/q:first", "riskClass": "approval"},
        {"name": "Second", "renderer": "@p/q:second"},
    ]
    assert shown(piped(gateSteps=entries)) == [
        ("sub/context/select", 1, "The select", SELECTOR, "approval"),
        ("sub/own", 1, "First", "@p/q:first", "approval"),
        ("sub/also", 1, "The also", SELECTOR, "read_only"),
        ("sub/below/look", 1, "The look", "@x/y:look", "read_only"),
        ("sub/last", 2, "Second", "@p/q:second", "read_only"),
    ]
    policy: Any = compile_flow(piped(gateSteps=entries)).approval_policy
    assert [(s["name"], s["xRenderer"]) for s in policy["steps"]] == [
        ("First", "@p/q:first"), ("Second", "@p/q:second"),
    ]  # fmt: skip


def test_a_waived_entry_waives_no_gate_that_it_was_not_written_for() -> None:
    entries = [{"name": "First", "requiresApproval": False}, {"name": "Second"}]
    steps_of = {gate_id: step for gate_id, step, *_rest in shown(piped(gateSteps=entries))}
    assert steps_of == {
        "sub/context/select": 2, "sub/own": 1, "sub/also": 2, "sub/below/look": 2, "sub/last": 2,
    }  # fmt: skip


def test_a_gate_deeper_down_is_shown_as_the_flow_node_right_around_it_says() -> None:
    deeper = flow_of(start(id_="s"), gate("look"), end(id_="e"), id_="deep")
    entry = {"name": "Look at it", "renderer": "@p/q:look", "requiresApproval": False}
    around = inner("i", gate("own"), flow_node("below", deeper, gateSteps=[entry]))
    assert shown(flow_of(start(), flow_node("sub", around), end())) == [
        ("sub/own", 1, "The own", "", "read_only"),
        ("sub/below/look", 1, "Look at it", "@p/q:look", "read_only"),
    ]


def test_without_entries_one_step_governs_all_gates_of_a_subflow_as_they_are() -> None:
    assert {step for _id, step, *_rest in shown(piped())} == {1}
    assert [name for _id, _step, name, *_rest in shown(piped())] == [
        "The select", "The own", "The also", "The look", "The last",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "renderer", [SELECTOR, "@x/y:context-selector", "@x/y:list", "context", ""]
)
def test_compiler_and_runtime_know_a_context_selector_alike(renderer: str) -> None:
    assert gates.is_selector(renderer) is selector.is_selector(renderer)
