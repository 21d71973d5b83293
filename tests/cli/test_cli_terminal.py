"""`oasflow` at a real terminal: a person who reads prompts and types."""

from __future__ import annotations

from typing import Any

import pytest
from oasflow_process import Oasflow

from tests.flows import api, end, flow_of, gate, port, start

FORM = {
    "type": "object",
    "properties": {
        "note": {"type": "string"},
        "count": {"type": "integer", "minimum": 1},
        "action": {"type": "string", "enum": ["send", "wait"]},
    },
    "required": ["count", "action"],
}


def form_flow() -> Any:
    return flow_of(
        start(port("topic"), required=["topic"]),
        gate("fill", output=port("filled"), inputMessageSchema=FORM),
        gate("confirm", inputs=[port("filled")]),
        end(port("filled"), port("topic")),
        edges=[
            ("fill", "filled", "confirm", "filled"),
            ("fill", "filled", "end", "filled"),
            ("start", "topic", "end", "topic"),
        ],
    )


def test_a_person_fills_in_inputs_and_fields_and_approves_to_the_end(
    screen: Any, flow_file: Any, oasflow: Oasflow
) -> None:
    seen = screen("run", flow_file(form_flow()), "--run-id", "r1", "--as", "ann")
    seen.wait_for("topic (text, required): ")
    seen.type("five 5")
    assert "1  topic  five 5" in seen.wait_for("start the run [Enter], change it [1], back [<]: ")
    seen.type("")
    seen.wait_for("fill in and approve [a], paste JSON [j], reject [r], leave waiting [q]: ")
    seen.type("approve")
    seen.wait_for("count (whole number, required): ")
    seen.type("many")
    seen.wait_for("error: type a whole number")
    seen.wait_for("count (whole number, required): ")
    seen.type("0")
    seen.wait_for("minimum of 1")
    seen.wait_for("count (whole number, required): ")
    seen.type("2")
    assert "1) send\n  2) wait" in seen.wait_for("action (choice, required): ")
    seen.type("2")
    seen.wait_for("note (text, optional, Enter skips): ")
    seen.type("")
    seen.wait_for("approve with this [Enter], change a field [1-3], back [<]: ")
    seen.type("")
    seen.wait_for("approve [a], reject [r], leave waiting [q]: ")
    seen.type("what?")
    seen.wait_for("Type one of the letters")
    seen.type("a")
    seen.wait_for("run r1  completed")
    assert seen.ended() == 0
    run = oasflow("show", "r1", "--json").json
    assert run["outputs"] == {"filled": '{"count":2,"action":"wait"}', "topic": "five 5"}
    assert [d["by"] for d in run["decisions"]] == ["ann"] * 2


def test_json_may_be_pasted_over_several_lines(
    screen: Any, flow_file: Any, oasflow: Oasflow
) -> None:
    seen = screen("run", flow_file(form_flow()), "--set", "topic=x", "--run-id", "r1")
    seen.wait_for("leave waiting [q]: ")
    seen.type("j")
    seen.wait_for("Paste the JSON value")
    for line in ('{"count": 1,', '  "action": "pause"}'):
        seen.type(line)
    seen.wait_for("error: ")
    seen.wait_for("leave waiting [q]: ")
    seen.type("j")
    seen.wait_for("Paste the JSON value")
    for line in ('{"count": 1,', '  "action": "send"}'):
        seen.type(line)
    seen.wait_for("approve [a], reject [r], leave waiting [q]: ")
    seen.type("q")
    assert seen.ended() == 3
    assert oasflow("gates", "r1", "--json").json["gates"][0]["id"] == "confirm"


def test_a_rejection_asks_for_the_reason(screen: Any, flow_file: Any, oasflow: Oasflow) -> None:
    seen = screen("run", flow_file(), "--simulate", "--run-id", "r1")
    assert "check finds" not in seen.wait_for("leave waiting [q]: ")
    seen.type("r")
    seen.wait_for("reason (optional): ")
    seen.type("wrong list")
    seen.wait_for("run r1  rejected")
    assert seen.ended() == 5
    assert oasflow("show", "r1", "--json").json["decisions"][0]["reason"] == "wrong list"


def test_a_flow_with_errors_of_check_says_so_where_a_person_reads(
    screen: Any, flow_file: Any
) -> None:
    path = flow_file(flow_of(start(), api("post", risk="email_send"), end()))
    seen = screen("run", path, "--simulate", "--detach", "--run-id", "r1")
    told = " ".join(seen.wait_for("run r1  completed").split())
    assert f"note: check finds 1 error in this file (oasflow check {path})" in told


@pytest.mark.parametrize("key", ["C", "D"])
def test_ctrl_c_and_ctrl_d_at_a_prompt_leave_the_run_waiting(
    screen: Any, flow_file: Any, oasflow: Oasflow, key: str
) -> None:
    seen = screen("run", flow_file(), "--simulate", "--run-id", "r1")
    seen.wait_for("leave waiting [q]: ")
    seen.press(key)
    seen.wait_for("the run is kept: oasflow resume r1")
    assert seen.ended() == 130
    assert "Traceback" not in seen.text
    assert oasflow("show", "r1", "--json").json["status"] == "waiting"
    again = screen("resume", "r1")
    again.wait_for("leave waiting [q]: ")
    again.type("a fine")
    again.wait_for("leave waiting [q]: ")
    again.type("q")
    assert again.ended() == 3


def test_somebody_faster_wins_and_the_run_goes_on_from_there(
    screen: Any, flow_file: Any, oasflow: Oasflow
) -> None:
    seen = screen("run", flow_file(), "--simulate", "--run-id", "r1")
    seen.wait_for("leave waiting [q]: ")
    assert oasflow("approve", "r1/first", "--as", "bob").code == 3
    seen.type("r")
    seen.wait_for("reason (optional): ")
    seen.type("")
    seen.wait_for("already approved by bob")
    assert "The second" in seen.wait_for("leave waiting [q]: ")
    seen.type("a")
    seen.wait_for("run r1  completed")
    assert seen.ended() == 0


def test_detach_asks_nothing_and_no_color_means_plain_text(screen: Any, flow_file: Any) -> None:
    plain = screen("run", flow_file(), "--simulate", "--detach", NO_COLOR="1")
    assert plain.ended() == 3
    assert "[q]" not in plain.text
    assert "\x1b" not in plain.raw
    coloured = screen("run", flow_file(), "--simulate", "--detach")
    assert coloured.ended() == 3
    assert "\x1b[" in coloured.raw


def test_what_a_gate_shows_cannot_command_the_terminal(screen: Any, flow_file: Any) -> None:
    evil = "\x1b]0;owned\x07[bold]plain[/bold]\x9b2J"
    flow = flow_of(
        start(port("data", default=evil)), gate("first"), end(),
    )  # fmt: skip
    flow["$referenced_components"]["first"]["name"] = evil
    flow["$referenced_components"]["first"]["inputs"] = [port("data")]
    flow["data_flow_connections"] = [
        {
            "component_type": "DataFlowEdge", "name": "d0",
            "source_node": {"$component_ref": "start"}, "source_output": "data",
            "destination_node": {"$component_ref": "first"}, "destination_input": "data",
        }
    ]  # fmt: skip
    seen = screen("run", flow_file(flow))
    shown = seen.wait_for("leave waiting [q]: ")
    assert "␛]0;owned␇[bold]plain[/bold]" in shown
    assert not {"\x07", "\x9b"} & set(seen.raw)
    assert "\x1b]" not in seen.raw
    seen.type("q")
    assert seen.ended() == 3
