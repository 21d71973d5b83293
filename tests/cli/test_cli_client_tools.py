"""A tool that the caller runs, at the command line: `oasflow answer` gives its result."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.flows import end, flow_of, node, port, start


def asking(*outputs: Any) -> Any:
    tool = {
        "component_type": "ClientTool", "id": "t", "name": "look_up", "description": "",
        "inputs": [port("id", default="7")], "outputs": [*outputs],
    }  # fmt: skip
    return flow_of(
        start(port("id", default="7")), node("ToolNode", "ask", tool=tool), end(*outputs),
        edges=[("start", "id", "ask", "id"), *(("ask", one["title"], "end", one["title"]) for one in outputs)],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("outputs", "words", "wanted"),
    [
        ([port("a")], ["--text", "hello"], {"a": "hello"}),
        ([port("a", "integer")], ["--value", "42"], {"a": 42}),
        ([port("a", "integer"), port("b")], ["--value", '{"a": 1, "b": "x"}'], {"a": 1, "b": "x"}),
    ],
)
def test_an_answer_gives_the_result(
    cli: Any, flow_file: Any, outputs: Any, words: Any, wanted: Any
) -> None:
    begun = cli("run", flow_file(asking(*outputs)), "--detach", "--run-id", "r1")
    assert begun.exit_code == 3, begun.output
    assert "look_up" in begun.stdout
    answered = cli("answer", "r1", *words, "--json")
    assert answered.exit_code == 0, answered.output
    assert json.loads(answered.stdout)["outputs"] == wanted


def test_a_result_that_does_not_fit_is_named_and_the_run_waits(cli: Any, flow_file: Any) -> None:
    cli("run", flow_file(asking(port("a", "integer"))), "--detach", "--run-id", "r1")
    refused = cli("answer", "r1", "--value", '"x"')
    assert refused.exit_code == 2
    assert "'a'" in refused.output
    assert "waiting" in cli("show", "r1").stdout


def test_a_simulation_makes_the_result_up(cli: Any, flow_file: Any) -> None:
    done = cli(
        "run", flow_file(asking(port("a"), port("n", "integer"))), "--simulate", "--yes", "--json"
    )
    assert (done.exit_code, set(json.loads(done.stdout)["outputs"])) == (0, {"a", "n"})
