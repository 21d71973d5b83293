"""Which stubs lead a simulation to the gates of a flow; expected branches are worked out by hand."""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.control import simulation_answers as steering_module
from oas_compiler.control.flow_control import FlowControl
from oas_compiler.ir import ApiNode as Api
from oas_compiler.ir import BranchingNode as Branching
from oas_compiler.ir import DataEdge as Edge
from oas_compiler.ir import FlowIR, FlowNode, InputMessageNode, Port, Route, ScalarType
from oas_compiler.ir import StartNode as Start
from oas_compiler.pipeline import compile_ir
from tests.flows import api, branching, end, flow_node, flow_of, gate, port, start
from tests.slot_flows import declared, nested, slot
from tests.wired_flows import wired


def choice(*, yes: str, default: str, **more: Any) -> Any:
    """`call → branch`, which goes to `yes` for "y"; a gate, a subflow with two gates, an end."""
    subflow = flow_of(start(), gate("b"), gate("c"), end(), id_="i")
    return flow_of(
        start(),
        api("call", outputs=[port("x", more.get("type_", "string"))]),
        branching("branch", port("x", more.get("type_", "string")), more.get("mapping", {"y": "yes"})),
        gate("one"),
        flow_node("two", subflow),
        end(),
        routes=[("start", None, "call"), ("call", None, "branch"), ("branch", "yes", yes),
                ("branch", "default", default), ("one", None, more.get("after_one", "end")),
                ("two", None, "end")],
        edges=[("call", "x", "branch", "x")],
    )  # fmt: skip


def stubs(flow: Any) -> Any:
    return compile_flow(flow).steering


def test_the_branch_with_a_gate_behind_it_is_taken() -> None:
    assert stubs(choice(yes="one", default="end")) == {"call": [{"x": "y"}]}
    assert stubs(choice(yes="end", default="one")) == {"call": [{"x": "simulated x"}]}


def test_the_gates_inside_a_flow_node_count_one_by_one() -> None:
    assert stubs(choice(yes="two", default="one")) == {"call": [{"x": "y"}]}
    assert stubs(choice(yes="one", default="two")) == {"call": [{"x": "simulated x"}]}


def test_a_gate_behind_both_branches_decides_nothing() -> None:
    # Behind "one" lie the gate itself and the two of "two"; behind "two" only those.
    assert stubs(choice(yes="two", default="one", after_one="two")) == {
        "call": [{"x": "simulated x"}]
    }
    assert stubs(choice(yes="one", default="one")) == {}
    assert stubs(choice(yes="end", default="end")) == {}


def test_a_loop_is_entered_once_and_then_left() -> None:
    assert stubs(choice(yes="one", default="end", after_one="call")) == {
        "call": [{"x": "y"}, {"x": "simulated x"}]
    }


def test_a_value_has_the_type_that_the_branch_is_chosen_by() -> None:
    assert stubs(choice(yes="one", default="end", type_="boolean", mapping={"true": "yes"})) == {
        "call": [{"x": True}]
    }
    assert stubs(choice(yes="end", default="one", type_="integer", mapping={"0": "yes"})) == {
        "call": [{"x": 1}]
    }


def test_a_call_inside_a_flow_node_is_named_by_its_path() -> None:
    inner = choice(yes="one", default="end")
    assert stubs(flow_of(start(), flow_node("sub", {**inner, "id": "i2"}), end())) == {
        "sub/call": [{"x": "y"}]
    }


# ------------------------------------------------------------------ against a plain search


def random_flow(rng: random.Random) -> FlowIR:
    """Calls, branches, gates and FlowNodes with routes to anywhere."""
    x = Port(title="x", type=ScalarType("string"))
    size = rng.randint(1, 8)
    kinds = [rng.choice(("branch", "gate", "flow", "call")) for _ in range(size)]
    ids = [f"{kind}{i}" for i, kind in enumerate(kinds)]
    nodes: list[Any] = [Start(id="start", name="")]
    routes = [Route(source="start", branch="next", target=rng.choice(ids))]
    edges = []
    for kind, id_ in zip(kinds, ids, strict=True):
        branches = ("default", "yes") if kind == "branch" else ("next",)
        if kind == "branch":
            nodes.append(Api(id=f"of-{id_}", name="", url="", outputs=(x,)))
            nodes.append(Branching(id=id_, name="", inputs=(x,), mapping=(("y", "yes"),)))
            edges.append(Edge(source=f"of-{id_}", output="x", target=id_, input="x"))
        elif kind == "gate":
            nodes.append(InputMessageNode(id=id_, name=""))
        elif kind == "flow":
            gates = tuple(InputMessageNode(id=f"g{i}", name="") for i in range(rng.randint(0, 2)))
            begin = Start(id="s", name="")
            subflow = FlowIR(id="i", name="", start="s", nodes=(begin, *gates))
            nodes.append(FlowNode(id=id_, name="", subflow=subflow))
        else:
            nodes.append(Api(id=id_, name="", url=""))
        for branch in branches:
            if kind == "branch" or rng.random() < 0.8:
                routes.append(Route(source=id_, branch=branch, target=rng.choice(ids)))
    return FlowIR(
        id="f", name="", start="start", nodes=tuple(nodes), routes=tuple(routes),
        data_edges=tuple(edges),
    )  # fmt: skip


def searched(flow: FlowIR) -> Iterator[tuple[str, Any]]:
    """The stubs by a search of its own from each branch."""

    def reached(node_id: str) -> set[str]:
        seen: set[str] = set()
        stack = [node_id]
        while stack:
            current = stack.pop()
            if current not in seen:
                seen.add(current)
                stack += [route.target for route in flow.routes if route.source == current]
        return seen

    def gates(node_id: str) -> int:
        count = 0
        for node in flow.nodes:
            if node.id in reached(node_id):
                count += isinstance(node, InputMessageNode)
                count += len(node.subflow.nodes) - 1 if isinstance(node, FlowNode) else 0
        return count

    for node in flow.nodes:
        if isinstance(node, Branching):
            to = {route.branch: route.target for route in flow.routes if route.source == node.id}
            if gates(to["yes"]) == gates(to["default"]):
                continue
            best = max(to, key=lambda branch, to=to: gates(to[branch]))  # type: ignore[misc]
            said = {"yes": {"x": "y"}, "default": {"x": "simulated x"}}
            other = "default" if best == "yes" else "yes"
            again = [said[other]] if node.id in reached(to[best]) else []
            yield f"of-{node.id}", [said[best], *again]


@pytest.mark.parametrize("seed", range(200))
def test_the_stubs_of_a_random_flow_are_those_of_a_search_from_each_branch(seed: int) -> None:
    flow = random_flow(random.Random(seed))
    assert FlowControl(flow=flow).steering == dict(searched(flow))


def test_some_random_flows_need_stubs_and_loops() -> None:
    found = [list(searched(random_flow(random.Random(seed)))) for seed in range(200)]
    assert sum(bool(stubs) for stubs in found) > 20
    assert sum(len(turns) == 2 for stubs in found for _path, turns in stubs) > 5


# ------------------------------------------------------------------ what a flow keeps for lookup


def test_what_a_flow_has_arranged_for_lookup_does_not_change_what_it_is() -> None:
    used, fresh = random_flow(random.Random(1)), random_flow(random.Random(1))
    shown = repr(fresh)
    assert FlowControl(flow=used).steering is not None
    list(used.in_order())
    assert (used, hash(used), repr(used)) == (fresh, hash(fresh), shown)
    for copied in (copy.deepcopy(used), copy.copy(used), pickle.loads(pickle.dumps(used))):
        assert copied == used
        assert copied.node("start") == used.node("start")


def test_what_a_flow_answers_about_its_routes_cannot_be_changed() -> None:
    flow = random_flow(random.Random(1))
    routes: Any = flow.routes_of("start")
    with pytest.raises(TypeError):
        routes["next"] = "elsewhere"
    assert dict(flow.routes_of("nowhere")) == {}
    with pytest.raises(KeyError):
        flow.node("nowhere")


# ----------------------------------------------------------------------- context slots


def slotted(mode: str) -> Any:
    flow = wired(declared())
    flow["metadata"]["cinatra"]["contextSlots"][0]["selectionMode"] = mode
    return flow


def test_a_simulation_asks_nobody_for_an_autonomous_slot() -> None:
    result = drive(compile_flow(slotted("autonomous")), {"topic": "x"})
    assert (result.status, result.gates) == ("completed", ())
    assert len(result.calls_of("ctx-brand-finalize_autonomous")) == 1
    # The twin, of which a person is asked.
    asked = drive(compile_flow(slotted("interactive")), {"topic": "x"}).gates
    assert [one.node for one in asked] == ["ctx-brand-context_select_gate"]


def test_the_simulation_of_a_flow_without_a_platform_asks_nobody_either() -> None:
    flow = compile_flow(slotted("autonomous"))
    config = flow.config(run_id="r1")
    graph = flow.graph(InMemorySaver())
    graph.invoke(flow.input({"topic": "x"}), config, context=flow.context(run_id="r1"))
    assert graph.get_state(config).values["status"] == "completed"
    # Another process that makes the simulation again is told the same.
    assert flow.platform.describe()["fallback"]


def test_a_flow_that_is_run_in_many_places_is_looked_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[int] = []

    def count(flow: FlowIR) -> Any:
        seen.append(id(flow))
        return modes_of(flow)

    modes_of = steering_module.modes_of
    monkeypatch.setattr(steering_module, "modes_of", count)
    child = nested("child", contextSlots=[slot("brand")])
    steps = [flow_node(f"step{number}", {"$component_ref": "child"}) for number in range(5)]
    flow = nested("flow", *steps, packageName="@x/outer")
    flow["$referenced_components"]["child"] = child
    assert FlowControl(flow=compile_ir(json.dumps(flow).encode()).ir).autonomous_slots is not None
    assert len(seen) == 1
