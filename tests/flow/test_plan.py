"""The node that an event tells of, by its path."""

from __future__ import annotations

from pathlib import Path

import pytest

from cinatra_sdk.events import split_path
from cinatra_sdk.flow.plan.plan import find_node, open_plans, walk_plan_paths
from oas_compiler import compile_flow

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("", ()),
        ("draft", (("draft", None),)),
        ("outer#2/each[3]/draft", (("outer", None), ("each", 3), ("draft", None))),
        ("a%5B0%5D/b%23c%2Fd", (("a[0]", None), ("b#c/d", None))),
        ("each#2[10]", (("each", 10),)),
    ],
)
def test_a_path_has_the_ids_of_the_author_and_items(path: str, parts: object) -> None:
    assert split_path(path) == parts


@pytest.mark.parametrize(
    "name", ["gates_in_a_map", "gates_in_parallel_flows", "gates_in_a_map_in_parallel_in_a_flow"]
)
def test_every_node_of_a_flow_is_found_and_nothing_else(name: str) -> None:
    (file,) = GOLDEN.rglob(f"{name}.json")
    plan = compile_flow(file).plan
    nodes = list(walk_plan_paths(plan))
    assert any(len(open_plans(node, path)) for path, node in nodes), "the control: nodes inside"
    for path, node in nodes:
        # `("par", "[1]", "x")` is `par[1]/x` in events.
        assert find_node(plan, "/".join(path).replace("/[", "[")) is node
        assert find_node(plan, "/".join(path).replace("/[", "[") + "/nowhere") is None
    assert find_node(plan, "nowhere") is None
    assert find_node(plan, "") is None
