"""Walks over graphs, checked against taking nodes away and against paths counted by hand."""

from __future__ import annotations

import random
from collections.abc import Iterator

from oas_compiler.control.graph import Digraph, Dominators, trail_to

NAMES = "abcdefgh"
SEED = 20_261_122


def graph_of(**links: str) -> Digraph[str]:
    """`graph_of(a="bc")`: b and c follow a."""
    return Digraph(links)


def random_graphs(count: int) -> Iterator[Digraph[str]]:
    print("seed", SEED)
    dice = random.Random(SEED)
    for _ in range(count):
        most = dice.randrange(1, 4)
        yield graph_of(**{n: "".join(dice.choices(NAMES, k=dice.randrange(most))) for n in NAMES})


def leads(graph: Digraph[str], first: str, second: str, taken: frozenset[str]) -> bool:
    """Whether a way of at least one link leads from one node to another past none of `taken`."""
    return any(
        target == second or (target not in taken and leads(graph, target, second, taken | {target}))
        for target in graph.following(first)
    )


def test_a_walk_names_the_node_before_each_on_a_shortest_way() -> None:
    before = graph_of(a="bc", b="d", c="d", d="a").reach_from(["a"])
    assert before == {"a": None, "b": "a", "c": "a", "d": "b"}
    assert trail_to("d", before) == ("a", "b", "d")
    assert trail_to("a", before) == ("a",)


def test_nothing_is_reached_through_a_node_that_lets_nothing_through() -> None:
    graph = graph_of(a="bc", b="d", c="e")
    assert set(graph.reach_from(["a"], without=["b"])) == {"a", "b", "c", "e"}
    assert set(graph.reach_from(["a"], without=["a"])) == {"a"}


def test_a_link_back_is_one_to_a_node_on_the_way_to_its_source() -> None:
    assert graph_of(a="bc", b="c", c="a").find_back_links("a") == {("c", "a")}
    assert graph_of(a="a").find_back_links("a") == {("a", "a")}
    assert graph_of(a="bc", b="c").find_back_links("cab") == set()


def test_groups_come_after_what_they_lead_to() -> None:
    graph = graph_of(a="b", b="cd", c="b")
    assert [sorted(group) for group in graph.find_groups("abcd")] == [["d"], ["b", "c"], ["a"]]
    assert [sorted(group) for group in graph.find_loops("abcd")] == [["b", "c"]]
    assert [sorted(group) for group in graph_of(a="a").find_loops("a")] == [["a"]]


def test_a_shortest_way_round_begins_where_it_was_asked_for() -> None:
    graph = graph_of(a="bx", b="c", c="ab", x="c")
    assert graph.find_shortest_round("b", "abcx") == ("b", "c")
    assert graph.find_shortest_round("a", "abcx") == ("a", "b", "c")
    assert graph.find_shortest_round("a", "acx") == ("a", "x", "c")
    assert graph_of(a="a").find_shortest_round("a", "a") == ("a",)


def test_random_graphs_reach_what_some_way_leads_to() -> None:
    for graph in random_graphs(150):
        for first in NAMES:
            for stop in NAMES:
                reached = graph.find_after(first, without=[stop])
                assert set(reached) == {
                    other for other in NAMES if leads(graph, first, other, frozenset(stop))
                }
            assert first in graph.reverse.find_after(first) or first not in graph.find_after(first)
            assert {other for other in NAMES if first in graph.find_after(other)} == set(
                graph.reverse.find_after(first)
            )


def test_random_graphs_have_the_loops_that_some_way_goes_round() -> None:
    for graph in random_graphs(300):
        loops = [set(loop) for loop in graph.find_loops(NAMES)]
        for node in NAMES:
            together = {
                other
                for other in NAMES
                if leads(graph, node, other, frozenset()) and leads(graph, other, node, frozenset())
            }
            assert [loop for loop in loops if node in loop] == ([together] if together else [])
        for loop in loops:
            first = min(loop)
            way = graph.find_shortest_round(first, loop)
            assert way[0] == first
            assert set(way) <= loop
            assert all(b in graph.following(a) for a, b in zip(way, (*way[1:], first), strict=True))


def test_random_graphs_without_their_links_back_have_no_loop() -> None:
    for graph in random_graphs(300):
        back = graph.find_back_links(NAMES)
        left = {
            source: [t for t in graph.following(source) if (source, t) not in back]
            for source in NAMES
        }
        assert not list(Digraph(left).find_loops(NAMES))


def test_random_graphs_have_above_a_node_what_cannot_be_taken_away() -> None:
    for graph in random_graphs(300):
        above = Dominators(graph, "a")
        reached = graph.reach_from("a")
        bits = {name: 1 << number for number, name in enumerate(NAMES)}
        gathered = above.gather_above(bits)
        for node in NAMES:
            needed = {
                other
                for other in NAMES
                if node in reached
                and other != node
                and node not in graph.reach_from("a", without=other)
            }
            assert set(above.find_above(node)) == needed
            assert {other for other in NAMES if above.is_above(other, node)} == needed
            assert gathered.get(node, 0) == sum(bits[other] for other in needed)


def test_random_graphs_gather_everything_that_comes_after_a_node() -> None:
    for graph in random_graphs(300):
        bits = {name: 1 << number for number, name in enumerate(NAMES)}
        ahead = graph.gather_ahead(bits)
        for node in NAMES:
            assert ahead[node] == sum(bits[other] for other in graph.find_after(node))


def test_a_long_line_costs_no_stack() -> None:
    count = 20_000
    graph = Digraph({number: [number + 1] for number in range(count)})
    above = Dominators(graph, 0)
    assert above.is_above(0, count)
    assert len(list(above.find_above(count))) == count
    assert len(list(graph.find_groups(range(count)))) == count + 1
