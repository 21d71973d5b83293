"""Pictures of nodes that run flows: a frame around each flow, several flows beside each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from oas_compiler.checks.compile_rules import READING
from oas_compiler.draw import lay_out, svg_text
from oas_compiler.draw.mermaid import mermaid_text
from oas_compiler.draw.picture import Picture
from oas_compiler.ir import FlowIR
from oas_compiler.pipeline import compile_ir
from tests.draw.drawing_geometry import check_picture
from tests.flows import end, flow_of, gate, node, start

FOLDER = Path(__file__).parents[1] / "golden"
NAMES = ("gates_in_a_map", "gates_in_parallel_flows", "gates_in_a_map_in_parallel_in_a_flow")

PARALLEL = """\
flowchart TD
  n_start(["The start"])
  subgraph n_both["The both<br>ParallelFlowNode"]
    direction TB
    subgraph n_both___5b_0_5d_["The mail"]
      direction TB
      n_both___5b_0_5d___start(["The start"])
      n_both___5b_0_5d___review{{"The review<br>step 1 · read_only"}}:::gate
      n_both___5b_0_5d___end(["The end"])
      n_both___5b_0_5d___start --> n_both___5b_0_5d___review
      n_both___5b_0_5d___review --> n_both___5b_0_5d___end
    end
    subgraph n_both___5b_1_5d_["The post"]
      direction TB
      n_both___5b_1_5d___start(["The start"])
      subgraph n_both___5b_1_5d___each["The each<br>MapNode"]
        direction TB
        n_both___5b_1_5d___each__start(["The start"])
        n_both___5b_1_5d___each__end(["The end"])
        n_both___5b_1_5d___each__start --> n_both___5b_1_5d___each__end
      end
      n_both___5b_1_5d___end(["The end"])
      n_both___5b_1_5d___start --> n_both___5b_1_5d___each
      n_both___5b_1_5d___each --> n_both___5b_1_5d___end
    end
  end
  n_end(["The end"])
  n_start --> n_both
  n_both --> n_end
  classDef gate fill:#fff1c2,stroke:#b7791f,stroke-width:2px,color:#4a3200
"""


def golden(name: str) -> FlowIR:
    return compile_ir(FOLDER / f"{name}.json", rules=READING).ir


def frames(picture: Picture) -> list[tuple[str, str, str, int]]:
    return [
        ("/".join(placed.box.path), placed.box.name, placed.box.caption, placed.depth)
        for placed in picture.frames
    ]


def test_mermaid_has_a_frame_with_a_name_around_each_of_several_flows() -> None:
    mail = flow_of(start(), gate("review"), end(), id_="mail")
    each = node("MapNode", "each", subflow=flow_of(start(), end(), id_="item"))
    post = flow_of(start(), each, end(), id_="post")
    both = node("ParallelFlowNode", "both", subflows=[mail, post])
    flow = compile_ir(flow_of(start(), both, end()), rules=READING).ir
    assert mermaid_text(flow) == PARALLEL


def test_flows_of_one_node_stand_beside_each_other_in_frames_of_their_own() -> None:
    picture = lay_out(golden("gates_in_a_map_in_parallel_in_a_flow"))
    assert frames(picture) == [
        ("work", "The work", "subflow", 0),
        ("work/both", "The both", "ParallelFlowNode", 1),
        ("work/both/[0]", "The mails", "", 2),
        ("work/both/[0]/each", "The each", "MapNode", 3),
        ("work/both/[1]", "The posts", "", 2),
    ]
    placed = {one.box.path[-1]: one for one in picture.frames}
    left, right = placed["[0]"], placed["[1]"]
    assert left.y == right.y
    assert left.x + left.width < right.x
    both = placed["both"]
    assert both.x < left.x
    assert right.x + right.width < both.x + both.width


@pytest.mark.parametrize("name", NAMES)
def test_nothing_overlaps_and_every_node_is_in_its_frame(name: str) -> None:
    picture = lay_out(golden(name))
    check_picture(picture)
    frames_of = {placed.box.path: placed for placed in picture.frames}
    for placed in (*picture.boxes, *picture.frames):
        around = frames_of.get(placed.box.path[:-1])
        if around is not None:
            assert around.x <= placed.x
            assert placed.x + placed.width <= around.x + around.width
            assert around.y <= placed.y
            assert placed.y + placed.height <= around.y + around.height


def test_the_svg_names_every_frame_and_every_node_by_its_path() -> None:
    text = svg_text(lay_out(golden("gates_in_parallel_flows")))
    for path in ("both", "both/[0]", "both/[0]/review", "both/[1]", "both/[1]/review"):
        assert f'data-node="{path}"' in text
