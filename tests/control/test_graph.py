"""What must have run before what: checked against taking nodes away one by one."""

from __future__ import annotations

import random

from oas_compiler import ir
from oas_compiler.control.graph import ControlGraph
from oas_compiler.kinds.catch_exception import CAUGHT_BRANCH


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


def ended(edges: dict[str, str], name: str) -> ir.FlowIR:
    """A flow whose nodes without a way out are EndNodes."""
    made = flow(edges)
    left = {route.source for route in made.routes}
    nodes = tuple(
        node if node.id in left else ir.EndNode(id=node.id, name="", branches=())
        for node in made.nodes
    )
    return ir.FlowIR(id=name, name=name, start=made.start, nodes=nodes, routes=made.routes)


def around(edges: dict[str, str], box: ir.Node) -> ControlGraph:
    """The graph of a flow in which the node `f` is `box`."""
    outer = flow(edges)
    nodes = tuple(box if node.id == "f" else node for node in outer.nodes)
    return ControlGraph.of(ir.FlowIR(id="o", name="o", start="a", nodes=nodes, routes=outer.routes))


def parallel(*subflows: ir.FlowIR) -> ir.Node:
    return ir.ParallelFlowNode(id="f", name="f", subflows=subflows)


def test_a_container_of_an_unknown_kind_may_run_nothing_of_what_is_in_it() -> None:
    sub = ended({"a": "b", "b": "c"}, "s")
    box = ir.UnknownNode(id="f", name="f", component_type="FooNode", subflows=(sub, sub))
    graph = around({"a": "f", "f": "z"}, box)
    assert list(graph.always_before(("z",))) == [("f",), ("a",)]
    assert list(graph.always_before(graph.done(("f",)))) == [("f",), ("a",)]
    inside = ("f", "[1]")
    assert [path[-1] for path in graph.always_before((*inside, "c"))] == ["b", "a", "f", "a"]
    assert (*inside, "c") in graph.sometimes_before(("z",))


def test_a_map_may_run_its_flow_not_at_all_or_several_times() -> None:
    sub = ended({"a": "b", "b": "c", "c": "d"}, "s")
    graph = around({"a": "f", "f": "z"}, ir.MapNode(id="f", name="f", subflow=sub))
    assert list(graph.always_before(("z",))) == [("f",), ("a",)]
    assert list(graph.always_before(("f", "c"))) == [("f", "b"), ("f", "a"), ("f",), ("a",)]
    assert ("f", "c") in graph.sometimes_before(("f", "b")), "with the next item"
    assert graph.repeats(("f", "b"), without=())
    assert not graph.repeats(("f", "b"), without=[("f", "c")])
    assert not graph.repeats(("z",), without=())


def test_flows_beside_each_other_have_all_run_behind_their_node_and_none_before_another() -> None:
    one, two = ended({"a": "b", "b": "e"}, "one"), ended({"a": "bc", "b": "e", "c": "e"}, "two")
    graph = around({"a": "f", "f": "z"}, parallel(one, two))
    always = set(graph.always_before(("z",)))
    of_one = {("f", "[0]", name) for name in "abe"}
    assert always == {("a",), ("f",), *of_one, ("f", "[1]", "a"), ("f", "[1]", "e")}
    inside = set(graph.always_before(("f", "[1]", "e")))
    assert inside == {("a",), ("f",), ("f", "[1]", "a")}
    assert not {path for path in graph.sometimes_before(("f", "[1]", "e")) if path[1:2] == ("[0]",)}
    assert ("f", "[1]", "c") in graph.sometimes_before(("z",))
    stopped = graph.reached(without=[("f", "[0]", "b")])
    assert ("z",) not in stopped
    assert ("f", "[1]", "e") in stopped
    assert ("z",) in graph.reached(without=[("f", "[1]", "b")])
    bits = graph.gather_above({("f", "[0]", "b"): 1, ("f", "[1]", "b"): 2, ("f", "[1]", "e"): 4})
    assert bits[("z",)] == 5


def test_a_loop_around_flows_beside_each_other_passes_all_of_them() -> None:
    one, two = ended({"a": "b", "b": "e"}, "one"), ended({"a": "c", "c": "e"}, "two")
    graph = around({"a": "f", "f": "g", "g": "fz"}, parallel(one, two))
    send, gate = ("f", "[0]", "b"), ("f", "[1]", "c")
    assert graph.repeats(send, without=())
    assert not graph.repeats(send, without=[gate])
    assert gate in graph.sometimes_before(send)


def test_a_caught_exception_leaves_a_flow_before_its_first_node_has_run() -> None:
    sub = ended({"a": "b", "b": "e"}, "s")
    edges = {"a": "f", "f": "yz"}
    outer = flow(edges)
    branches = {"y": "next", "z": CAUGHT_BRANCH}
    routes = tuple(
        ir.Route(source="f", branch=branches[one.target], target=one.target)
        if one.source == "f" else one
        for one in outer.routes
    )  # fmt: skip
    box = ir.CatchExceptionNode(id="f", name="f", subflow=sub)
    nodes = tuple(box if node.id == "f" else node for node in outer.nodes)
    graph = ControlGraph.of(ir.FlowIR(id="o", name="o", start="a", nodes=nodes, routes=routes))
    assert ("f", "b") in graph.always_before(("y",))
    assert list(graph.always_before(("z",))) == [("f",), ("a",)]
    assert ("f", "b") in graph.sometimes_before(("z",))


def test_flows_nested_beside_each_other_agree_with_taking_each_node_away() -> None:
    deep = parallel(ended({"a": "b", "b": "e"}, "d0"), ended({"a": "b", "b": "e"}, "d1"))
    outer = ended({"a": "f", "f": "e"}, "mid")
    mid = ir.FlowIR(
        id="mid", name="", start="a", routes=outer.routes,
        nodes=tuple(deep if node.id == "f" else node for node in outer.nodes),
    )  # fmt: skip
    graph = around({"a": "f", "f": "z"}, parallel(mid, mid, ended({"a": "e"}, "last")))
    reached = {path for path in graph.reached() if "\0" not in path[0]}
    assert len(reached) == 2 + 1 + 2 * (3 + 2 * 3) + 2
    for path in reached:
        needed = {o for o in reached - {path} if path not in graph.reached(without=[o])}
        assert set(graph.always_before(path)) == needed


def test_a_node_repeats_where_a_loop_leads_back_to_it_past_no_gate() -> None:
    graph = ControlGraph.of(flow({"a": "b", "b": "c", "c": "be"}))
    assert graph.repeats(("b",), without=())
    assert not graph.repeats(("b",), without=[("c",)])
    assert not graph.repeats(("a",), without=())
