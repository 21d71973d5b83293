"""What must have run before what: checked against taking nodes away one by one."""

from __future__ import annotations

import random

from oas_compiler import ir
from oas_compiler.control.graph import ControlGraph


def flow(edges: dict[str, str]) -> ir.FlowIR:
    """`{"a": "bc"}`: control goes from a to b or to c; `a` is the start."""
    names = sorted({*edges, *"".join(edges.values())})
    nodes: list[ir.Node] = [
        ir.StartNode(id=name, name=name) if name == "a" else ir.ApiNode(id=name, name=name, url="x")
        for name in names
    ]
    routes = [
        ir.Route(source=source, branch=target, target=target)
        for source, targets in edges.items()
        for target in targets
    ]
    return ir.FlowIR(id="f", name="f", start="a", nodes=tuple(nodes), routes=tuple(routes))


def before(edges: dict[str, str], node: str) -> str:
    return "".join(path[0] for path in ControlGraph.of(flow(edges)).always_before((node,)))


def test_on_one_line_everything_before_it_has_run_nearest_first() -> None:
    assert before({"a": "b", "b": "c", "c": "d"}, "d") == "cba"
    assert before({"a": "b"}, "a") == ""


def test_of_two_branches_neither_must_have_run() -> None:
    assert before({"a": "bc", "b": "d", "c": "d", "d": "e"}, "e") == "da"


def test_a_loop_back_changes_nothing() -> None:
    assert before({"a": "b", "b": "c", "c": "bd"}, "d") == "cba"


def test_what_is_never_reached_has_nothing_before_it() -> None:
    assert before({"a": "b", "c": "b"}, "c") == ""
    assert before({"a": "b", "c": "b"}, "b") == "a"


def test_random_flows_agree_with_taking_each_node_away() -> None:
    dice = random.Random(20_261_120)
    names = "abcdefgh"
    for _ in range(300):
        edges = {name: "".join(dice.sample(names, dice.randrange(0, 4))) for name in names}
        graph = ControlGraph.of(flow(edges))
        reached = graph.reached()
        for node in names:
            path = (node,)
            needed = {
                (other,)
                for other in names
                if path in reached
                and other != node
                and path not in graph.reached(without=[(other,)])
            }
            assert set(graph.always_before(path)) == needed
            assert {o for o in reached if graph.dominators.is_above(o, path)} == needed


def test_a_subflow_is_done_behind_every_one_of_its_ends() -> None:
    def end(name: str, branch: str) -> ir.Node:
        return ir.EndNode(id=name, name=name, branch_name=branch, branches=())

    inner = flow({"a": "bg", "b": "x", "g": "y"})
    nodes = (*(node for node in inner.nodes if node.id not in "xy"), end("x", "x"), end("y", "y"))
    sub = ir.FlowIR(id="s", name="s", start="a", nodes=nodes, routes=inner.routes)
    outer = flow({"a": "f", "f": "uv"})
    routes = tuple(
        ir.Route(source="f", branch={"u": "x", "v": "y"}[one.target], target=one.target)
        if one.source == "f" else one
        for one in outer.routes
    )  # fmt: skip
    whole = tuple(
        ir.FlowNode(id="f", name="f", subflow=sub) if node.id == "f" else node
        for node in outer.nodes
    )
    graph = ControlGraph.of(ir.FlowIR(id="o", name="o", start="a", nodes=whole, routes=routes))
    assert graph.done(("u",)) == ("u",)
    done = graph.done(("f",))
    assert set(graph.always_before(done)) == {("a",), ("f",), ("f", "a")}
    assert done in graph.reached(without=[("f", "g")])
    assert done not in graph.reached(without=[("f", "g"), ("f", "b")])
    # one branch is still told from the other behind it
    assert graph.dominators.is_above(("f", "b"), ("u",))
    assert not graph.dominators.is_above(("f", "b"), ("v",))


def test_control_comes_from_a_loop_to_the_node_itself() -> None:
    graph = ControlGraph.of(flow({"a": "b", "b": "cd", "c": "b"}))
    assert graph.sometimes_before(("b",)) == {("a",), ("b",), ("c",)}
    assert not graph.sometimes_before(("a",))


def test_a_long_line_costs_no_stack() -> None:
    nodes = tuple(ir.ApiNode(id=f"n{i}", name="", url="x") for i in range(4_000))
    routes = tuple(
        ir.Route(source=f"n{i}", branch="next", target=f"n{i + 1}") for i in range(3_999)
    )
    graph = ControlGraph.of(ir.FlowIR(id="f", name="f", start="n0", nodes=nodes, routes=routes))
    assert len(list(graph.always_before(("n3999",)))) == 3_999
    assert graph.dominators.is_above(("n0",), ("n3999",))
    assert not graph.dominators.is_above(("n3999",), ("n0",))


def box(*subflows: ir.FlowIR) -> ir.Node:
    """A node of a kind that nothing can run yet."""
    return ir.ParallelFlowNode(id="f", name="f", subflows=subflows)


def test_a_container_of_an_unknown_kind_may_run_nothing_of_what_is_in_it() -> None:
    sub = flow({"a": "b", "b": "c"})
    ended = tuple(
        ir.EndNode(id="c", name="c", branches=()) if node.id == "c" else node for node in sub.nodes
    )
    sub = ir.FlowIR(id="s", name="s", start="a", nodes=ended, routes=sub.routes)
    outer = flow({"a": "f", "f": "z"})
    nodes = tuple(box(sub, sub) if node.id == "f" else node for node in outer.nodes)
    graph = ControlGraph.of(
        ir.FlowIR(id="o", name="o", start="a", nodes=nodes, routes=outer.routes)
    )
    assert list(graph.always_before(("z",))) == [("f",), ("a",)]
    assert list(graph.always_before(graph.done(("f",)))) == [("f",), ("a",)]
    assert list(graph.always_before(("f", "c"))) == [("f", "b"), ("f", "a"), ("f",), ("a",)]
    assert ("f", "c") in graph.sometimes_before(("z",))


def test_a_node_repeats_where_a_loop_leads_back_to_it_past_no_gate() -> None:
    graph = ControlGraph.of(flow({"a": "b", "b": "c", "c": "be"}))
    assert graph.repeats(("b",), without=())
    assert not graph.repeats(("b",), without=[("c",)])
    assert not graph.repeats(("a",), without=())
