"""The layout: nothing overlaps, lines run around boxes, loops go back up, tall flows are folded."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oas_compiler.draw import lay_out
from oas_compiler.pipeline import compile_ir
from tests.draw.drawing_geometry import Arrow, Item, arrange, check_arrangement, check_picture
from tests.effort import tries
from tests.flows import api, branching, end, flow_node, flow_of, gate, node, port, start
from tests.samples import CINATRA, needs_corpus

BOX = Item(100, 40)
LABEL = (50.0, 18.0)


def chain(count: int) -> tuple[list[Item], list[Arrow]]:
    return [BOX] * count, [Arrow(i, i + 1) for i in range(count - 1)]


def test_a_sequence_stands_in_one_straight_column() -> None:
    items, links = chain(4)
    made = arrange(items, links, 0)
    assert [x for x, _ in made.places] == [0, 0, 0, 0]
    assert [y for _, y in made.places] == sorted(y for _, y in made.places)
    assert all(len(line.points) == 2 and not line.loop for line in made.lines)
    check_arrangement(items, links, made)


def test_the_branches_of_a_node_part_and_join_again() -> None:
    items = [Item(120, 60, pointed=True), BOX, BOX, BOX]
    links = [Arrow(0, 1, LABEL), Arrow(0, 2, LABEL), Arrow(1, 3), Arrow(2, 3)]
    made = arrange(items, links, 0)
    check_arrangement(items, links, made)
    assert made.places[1][1] == made.places[2][1] < made.places[3][1]
    assert made.places[1][0] != made.places[2][0]


def test_the_longer_branch_is_the_straight_one() -> None:
    items = [BOX] * 5
    links = [Arrow(0, 4, LABEL), Arrow(0, 1, LABEL), Arrow(1, 2), Arrow(2, 3), Arrow(3, 4)]
    made = arrange(items, links, 0)
    assert len({x for x, _ in made.places}) == 1
    assert len(made.lines[0].points) > 2
    check_arrangement(items, links, made)


def test_a_link_to_an_earlier_box_is_a_loop_and_runs_up_beside_the_others() -> None:
    items, links = chain(4)
    links.append(Arrow(2, 1, LABEL))
    made = arrange(items, links, 0)
    assert [line.loop for line in made.lines] == [False, False, False, True]
    loop = made.lines[-1].points
    assert loop[0][1] > loop[-1][1]
    assert max(x for x, _ in loop) > 100
    check_arrangement(items, links, made)


def test_a_link_from_a_box_to_itself_is_a_loop() -> None:
    items, links = chain(3)
    links.append(Arrow(1, 1))
    made = arrange(items, links, 0)
    assert made.lines[-1].loop
    check_arrangement(items, links, made)


def test_two_loops_beside_each_other_do_not_share_a_track() -> None:
    items, links = chain(6)
    links += [Arrow(4, 1), Arrow(3, 2)]
    made = arrange(items, links, 0)
    outer, inner = (max(x for x, _ in line.points) for line in made.lines[-2:])
    assert outer > inner + 5
    check_arrangement(items, links, made)


def test_a_tall_sequence_is_folded_into_columns_and_a_short_one_is_not() -> None:
    items, links = chain(40)
    tall = arrange(items, links, 0, tallest=1000)
    assert 0.5 < tall.width / tall.height < 3
    assert len({x for x, _ in tall.places}) > 3
    check_arrangement(items, links, tall)
    short = arrange(items, links, 0, tallest=10_000)
    assert {x for x, _ in short.places} == {0}


def test_no_fold_cuts_through_a_loop() -> None:
    items, links = chain(40)
    links.append(Arrow(38, 1))
    made = arrange(items, links, 0, tallest=1000)
    assert {x for x, _ in made.places[1:39]} == {made.places[1][0]}
    check_arrangement(items, links, made)


def test_lines_back_to_the_first_row_keep_their_room_where_the_drawing_is_folded() -> None:
    items, links = chain(40)
    links += [Arrow(0, 0), Arrow(0, 0), Arrow(0, 0)]
    made = arrange(items, links, 0, tallest=1000)
    assert len({x for x, _ in made.places}) > 3
    check_arrangement(items, links, made)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Item], list[Arrow]]:
    count = draw(st.integers(1, 12))
    sizes = st.builds(Item, st.integers(40, 300), st.integers(20, 200), pointed=st.booleans())
    items = draw(st.lists(sizes, min_size=count, max_size=count))
    ends = st.integers(0, count - 1)
    labels = st.one_of(st.none(), st.tuples(st.integers(20, 160), st.just(18)))
    links = draw(st.lists(st.builds(Arrow, ends, ends, labels), max_size=24))
    return items, links


@settings(max_examples=150, deadline=None)
@given(graph=graphs(), tallest=st.sampled_from([300.0, float("inf")]))
def test_whatever_the_graph_nothing_overlaps_and_lines_touch_only_their_own_boxes(
    graph: tuple[list[Item], list[Arrow]], tallest: float
) -> None:
    items, links = graph
    check_arrangement(items, links, arrange(items, links, 0, tallest=tallest))


@needs_corpus
@pytest.mark.parametrize("file", CINATRA, ids=lambda file: file.parts[-3])
def test_every_cinatra_flow_is_drawn_without_overlaps(file) -> None:
    check_picture(lay_out(compile_ir(file).ir))


def test_subflows_are_frames_around_their_own_nodes() -> None:
    inner = flow_of(node("StartNode", "start", inputs=[]), gate("ask"), end(), id_="inner")
    outer = flow_of(start(), flow_node("one", inner), flow_node("two", inner), end())
    picture = lay_out(compile_ir(outer).ir)
    assert [frame.box.path for frame in picture.frames] == [("one",), ("two",)]
    assert ("one", "ask") in {placed.box.path for placed in picture.boxes}
    check_picture(picture)


@pytest.mark.parametrize("count", [300, pytest.param(4999, marks=pytest.mark.long)])
def test_long_flows_are_drawn_whole(count: int) -> None:
    nodes = [api(f"n{i}") for i in range(count - 2)]
    picture = lay_out(compile_ir(flow_of(start(), *nodes, end())).ir)
    assert len(picture.boxes) == count
    assert len(picture.wires) == count - 1
    assert 0.5 < picture.width / picture.height < 3


@pytest.mark.long
def test_thousands_of_branches_to_far_nodes_are_drawn_whole() -> None:
    count = tries(600, 1_500)
    nodes = [branching(f"b{i}", port("value"), {"a": "yes"}) for i in range(count)]
    routes: list[tuple[str, str | None, str]] = [("start", None, "b0")]
    for i in range(count):
        routes.append((f"b{i}", "yes", f"b{i + 1}" if i + 1 < count else "end"))
        far = i + count // 2
        routes.append((f"b{i}", "default", f"b{far}" if far < count else "end"))
    edges = [("start", "x", f"b{i}", "value") for i in range(count)]
    flow = flow_of(start(port("x", default="")), *nodes, end(), routes=routes, edges=edges)
    picture = lay_out(compile_ir(flow).ir)
    assert len(picture.wires) == 2 * count + 1
    assert not any(wire.loop for wire in picture.wires)
