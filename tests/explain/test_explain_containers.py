"""Explanations of flows with nodes that run flows."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from oas_compiler import compile_flow
from oas_compiler.checks.compile_rules import READING
from oas_compiler.cli.ask.run_dialogue import names_of
from oas_compiler.cli.view.explanation_view import nodes_view
from oas_compiler.explain import Explanation, explain, explainer
from oas_compiler.pipeline import compile_prepared
from tests.flows import end, flow_of, gate, node, port, start

FOLDER = Path(__file__).parents[1] / "golden"


@pytest.fixture(autouse=True)
def shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flows with nodes that do not run yet are explained, too."""
    monkeypatch.setattr(explainer, "compile_prepared", partial(compile_prepared, rules=READING))


def golden(name: str) -> Explanation:
    return explain(FOLDER / f"{name}.json")


def by_path(explained: Explanation) -> dict[str, Any]:
    return {one.path: one for one in explained.nodes}


def printed(explained: Explanation) -> str:
    console = Console(file=io.StringIO(), width=100)
    console.print(nodes_view(explained))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_every_send_is_told_with_the_gates_of_its_own_flow_and_of_flows_that_have_ended() -> None:
    sends = {send.path: send for send in golden("gates_in_parallel_flows").sends}
    assert {path: set(send.always) for path, send in sends.items()} == {
        "both/[0]/send": {"first", "both/[0]/review"},
        "both/[1]/publish": {"first", "both/[1]/review"},
        "report": {"first", "both/[0]/review", "both/[1]/review"},
    }
    assert all(send.guarded and not send.sometimes for send in sends.values())


def test_a_gate_in_a_map_comes_before_what_follows_the_map_on_some_ways_only() -> None:
    explained = golden("gates_in_a_map")
    sends = {send.path: send for send in explained.sends}
    assert sends["each/send"].guarded
    assert not sends["tell"].guarded
    assert sends["tell"].sometimes == ("each/review",)
    (review,) = explained.gates
    assert (review.guards, review.also_before) == (("each/send",), ("tell",))


def test_the_nodes_say_how_deep_they_are_and_which_flows_a_node_runs_beside_each_other() -> None:
    explained = golden("gates_in_a_map_in_parallel_in_a_flow")
    nodes = by_path(explained)
    assert nodes["work/both/[0]/each/send"].depth == 3
    assert nodes["work/both/[1]/review"].depth == 2
    told = {one["path"]: one.get("flows") for one in explained.to_json()["nodes"]}  # type: ignore[index,union-attr]
    assert {path for path, flows in told.items() if flows is not None} == {"work/both"}
    assert told["work/both"] == [
        {"path": "work/both/[0]", "id": "mails", "name": "The mails"},
        {"path": "work/both/[1]", "id": "posts", "name": "The posts"},
    ]
    assert nodes["work"].steps == (1,)


def test_the_tree_has_each_flow_below_its_own_name() -> None:
    lines = [
        line.strip(" │├└─") for line in printed(golden("gates_in_parallel_flows")).splitlines()
    ]
    heads = [line for line in lines if line.startswith(("●", "◆", "The "))]
    assert [line.split("  ")[0] for line in heads] == [
        "● start", "◆ first", "● both",
        "The mail", "● start", "◆ review", "● send", "● end",
        "The post", "● start", "◆ review", "● publish", "● end",
        "● report", "● end",
    ]  # fmt: skip


def test_the_tree_holds_nodes_with_a_slash_in_their_ids() -> None:
    body = flow_of(start(), gate("ask/me"), end(), id_="body")
    flow = flow_of(start(), node("MapNode", "each/all", subflow=body), end())
    assert "ask/me" in printed(explain(flow))


def test_the_flow_of_a_map_reads_and_gives_by_the_names_that_the_map_has() -> None:
    body = flow_of(
        start(port("x"), port("y")), end(port("x"), port("y")), id_="body",
        edges=[("start", "x", "end", "x"), ("start", "y", "end", "y")],
    )  # fmt: skip
    each = node("MapNode", "each", subflow=body, reducers={"x": "append"})
    flow = flow_of(
        start(port("many", "array", items={"type": "string"})), each, end(),
        edges=[("start", "many", "each", "iterated_x"), ("start", "many", "each", "iterated_y")],
    )  # fmt: skip
    nodes = by_path(explain(flow))
    first, second = nodes["each/start"].reads
    assert [feed.output for feed in (*first.feeds, *second.feeds)] == ["iterated_x", "iterated_y"]
    assert {write.output: write.leaves_as for write in nodes["each/end"].writes} == {
        "x": "each.collected_x",
        "y": "",
    }


def test_a_trigger_holds_back_no_step_of_a_map_because_of_the_class_of_its_gate() -> None:
    def gated(**fields: Any) -> tuple[int, ...]:
        body = flow_of(start(), gate("ask", riskClass="email_send"), end(), id_="body")
        each = node("MapNode", "each", subflow=body, **fields)
        return explain(flow_of(start(), each, end())).derived.gated_steps

    assert gated() == ()
    assert gated(cinatra={"sideEffects": True}) == (1,)


def test_the_progress_of_a_run_names_the_flow_that_a_node_is_in() -> None:
    names = names_of(compile_flow(FOLDER / "gates_in_parallel_flows.json").plan)
    path = ("both", "[1]", "review")
    told = [names[path[:length]] for length in (1, 2, 3)]
    assert told == ["The both", "The post", "The review"]
