"""The names of progress lines: elements of maps, flows of parallel nodes, the turn of a model."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.events import RunEvent
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.cli.ask.run_dialogue import Progress
from oas_compiler.cli.terminal.streams import Terminal
from tests.agents.agent_flows import agent, agent_flow
from tests.emit.modules import import_emitted
from tests.flow.containers import checked_item, mapped, parallel, texts
from tests.flows import end, flow_of, port, start
from tests.governance.small_pack import make_small_pack
from tests.governance.test_flows import FLOW as GOVERNED_FLOW
from tests.governance.test_flows import GATED

MAPS = flow_of(
    start(texts("xs")), mapped(checked_item(gates=0)), end(texts("ys")),
    edges=[("start", "xs", "each", "iterated_x"), ("each", "collected_y", "end", "ys")],
)  # fmt: skip


def list_lines(flow: Any, inputs: Any, capsys: Any, *, as_flow: Any = None) -> list[str]:
    """The lines of a run, in the order of the alphabet: branches end in any order.  Without the time of
    a step, which is told of slow ones only."""
    chosen = as_flow or flow
    drive(chosen, inputs, on_event=Progress(chosen.plan, Terminal.open()))
    return sorted(
        re.sub(r"  [\d.]+ s$", "", line.strip()) for line in capsys.readouterr().err.splitlines()
    )


def test_an_element_of_a_map_has_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    lines = list_lines(compile_flow(MAPS), {"xs": ["a", "b"]}, capsys)
    each = [line for line in lines if "The each" in line]
    assert each == sorted(
        f"✓ The each[{number}] » {name}"
        for number in (0, 1)
        for name in ("The start", "The draft", "The send", "The end")
    )


def test_a_call_that_waits_for_a_person_is_not_shown_as_made(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flow = compile_flow(GOVERNED_FLOW, governance=make_small_pack(GATED))
    progress = Progress(flow.plan, Terminal.open())
    drive(flow, {"to": "bob"}, answers=[True], on_event=progress)
    lines = [line.strip() for line in capsys.readouterr().err.splitlines()]
    (name,) = {line[2:].split("  ")[0] for line in lines if "waits for a person" in line}
    assert [line.split("  ")[0:2] for line in lines if name in line] == [
        [f"◆ {name}", "waits for a person"], [f"✓ {name}", "approved by drive"], [f"✓ {name}"],
    ]  # fmt: skip


def test_a_flow_of_a_parallel_node_has_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    both = Progress(_parallel_plan(), Terminal.open())
    both(RunEvent(kind="node", name="finished", path="both[1]/draft", visit=1))
    both(RunEvent(kind="node", name="finished", path="both#2[0]/send", visit=1))
    assert [line.strip() for line in capsys.readouterr().err.splitlines()] == [
        "✓ The both » The second » The draft", "✓ The both » The first » The send",
    ]  # fmt: skip


def _parallel_plan() -> Any:
    inner = [
        checked_item(gates=0, id_="first"),
        _rename_output(checked_item(gates=0, id_="second")),
    ]
    flow = flow_of(
        start(port("x")), parallel(*inner), end(port("y"), port("z")),
        edges=[("start", "x", "both", "x"), ("both", "y", "end", "y"), ("both", "z", "end", "z")],
    )  # fmt: skip
    return compile_flow(flow).plan


def _rename_output(flow: Any) -> Any:
    """The flow with the output `z` in place of `y`."""
    return json.loads(json.dumps(flow).replace('"y"', '"z"'))


def test_the_turn_of_a_model_is_told_apart_from_its_agent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = list_lines(compile_flow(agent_flow(agent())), {"topic": "bees"}, capsys)
    assert "✓ The work » Helper (model)" in lines
    assert "✓ The work » Helper" not in lines


@pytest.mark.parametrize("document", [MAPS, agent_flow(agent())], ids=["map", "agent"])
def test_a_run_of_a_module_prints_the_lines_of_its_file(
    document: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flow = compile_flow(document)
    module, _ = import_emitted(flow, tmp_path, "progress_module")
    inputs = {"xs": ["a", "b"]} if document is MAPS else {"topic": "bees"}
    of_file = list_lines(flow, inputs, capsys)
    assert list_lines(flow, inputs, capsys, as_flow=module.flow) == of_file
    assert any("The" in line for line in of_file)
