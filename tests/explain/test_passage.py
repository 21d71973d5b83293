"""What must have run before what: checked against taking nodes away one by one."""

from __future__ import annotations

import random

from oas_compiler import ir
from oas_compiler.explain.passage import Passage


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
    return "".join(path[0] for path in Passage.of(flow(edges)).before((node,)))


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
        passage = Passage.of(flow(edges))
        reached = passage.reached()
        for node in names:
            path = (node,)
            needed = {
                (other,)
                for other in names
                if path in reached
                and other != node
                and path not in passage.reached(without=[(other,)])
            }
            assert set(passage.before(path)) == needed
            assert {o for o in reached if passage.always_before(o, path)} == needed


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
    passage = Passage.of(ir.FlowIR(id="o", name="o", start="a", nodes=whole, routes=routes))
    assert passage.done(("u",)) == ("u",)
    done = passage.done(("f",))
    assert set(passage.before(done)) == {("a",), ("f",), ("f", "a")}
    assert done in passage.reached(without=[("f", "g")])
    assert done not in passage.reached(without=[("f", "g"), ("f", "b")])
    # one branch is still told from the other behind it
    assert passage.always_before(("f", "b"), ("u",))
    assert not passage.always_before(("f", "b"), ("v",))


def test_control_comes_from_a_loop_to_the_node_itself() -> None:
    passage = Passage.of(flow({"a": "b", "b": "cd", "c": "b"}))
    assert passage.sources(("b",)) == {("a",), ("b",), ("c",)}
    assert passage.sources(("a",)) == set()


def test_a_long_line_costs_no_stack() -> None:
    nodes = tuple(ir.ApiNode(id=f"n{i}", name="", url="x") for i in range(4_000))
    routes = tuple(
        ir.Route(source=f"n{i}", branch="next", target=f"n{i + 1}") for i in range(3_999)
    )
    passage = Passage.of(ir.FlowIR(id="f", name="f", start="n0", nodes=nodes, routes=routes))
    assert len(list(passage.before(("n3999",)))) == 3_999
    assert passage.always_before(("n0",), ("n3999",))
    assert not passage.always_before(("n3999",), ("n0",))
