"""`oasflow show --events`, `follow`, `run --follow`, `deny` and `settle`."""

from __future__ import annotations

import json
from typing import Any

import pytest


@pytest.fixture
def parked(cli: Any, flow_file: Any) -> Any:
    """`r1` waits at its first gate."""
    assert cli("run", flow_file(), "--simulate", "--run-id", "r1").exit_code == 3
    return cli


def test_events_are_shown_and_followed_to_the_end(parked: Any) -> None:
    shown = parked("show", "r1", "--events", "--json")
    events = json.loads(shown.stdout)["events"]
    assert (shown.exit_code, [event["seq"] for event in events]) == (
        0,
        [*range(1, len(events) + 1)],
    )
    assert (events[0]["kind"], events[0]["name"]) == ("run", "created")
    assert (events[-1]["kind"], events[-1]["name"]) == ("run", "waiting")
    assert "gate opened" in parked("show", "r1", "--events").stdout
    assert parked("reject", "r1", "--as", "ann", "--reason", "wrong list").exit_code == 5
    followed = parked("follow", "r1", "--after", str(len(events)), "--json")
    assert followed.exit_code == 5
    lines = [json.loads(line) for line in followed.stdout.splitlines()]
    assert lines[0]["seq"] == len(events) + 1
    assert [line["data"]["by"] for line in lines if line["kind"] == "decision"] == ["ann"]
    assert (lines[-1]["kind"], lines[-1]["name"]) == ("run", "rejected")
    words = parked("follow", "r1").stdout
    assert "decision rejected" in words
    assert "wrong list" in words


def test_a_run_that_is_followed_prints_what_follow_prints_then_its_result(
    cli: Any, flow_file: Any
) -> None:
    done = cli("run", flow_file(), "--simulate", "--yes", "--follow", "--run-id", "r1")
    assert done.exit_code == 0
    followed = cli("follow", "r1").stdout
    assert done.stdout.startswith(followed)
    assert followed.count("\n") > 10
    assert "completed" in done.stdout.removeprefix(followed)
    assert "done" not in done.stderr, "no line for each node beside them"


def test_a_followed_run_gives_an_event_per_line_then_the_document_of_run(
    cli: Any, flow_file: Any
) -> None:
    done = cli("run", flow_file(), "--simulate", "--follow", "--run-id", "r1", "--json")
    assert done.exit_code == 3
    *events, run = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["seq"] for event in events] == [*range(1, len(events) + 1)]
    assert events == json.loads(cli("show", "r1", "--events", "--json").stdout)["events"]
    assert (run["id"], run["status"]) == ("r1", "waiting")
    assert "seq" not in run
    assert run.items() <= json.loads(cli("show", "r1", "--json").stdout).items()


def test_a_followed_run_that_never_begins_prints_no_event(cli: Any, flow_file: Any) -> None:
    assert cli("run", flow_file(), "--simulate", "--run-id", "r1").exit_code == 3
    refused = cli("run", flow_file(), "--simulate", "--follow", "--run-id", "r1", "--json")
    assert refused.exit_code == 4
    assert [json.loads(line)["error"]["code"] for line in refused.stdout.splitlines()] == [
        "run_exists"
    ]


def test_an_error_of_follow_is_one_line_of_json(cli: Any) -> None:
    refused = cli("follow", "nobody", "--json")
    assert refused.exit_code == 2
    assert [json.loads(line)["error"]["code"] for line in refused.stdout.splitlines()] == [
        "run_not_found"
    ]


def test_events_show_who_started_and_resumed_a_run(parked: Any) -> None:
    assert parked("resume", "r1", "--detach", "--as", "carol").exit_code == 3
    assert parked("stop", "r1", "--as", "eve").exit_code == 0
    shown = parked("show", "r1", "--events").stdout
    assert "run resumed  carol" in shown
    assert "run stopped  eve" in shown


def test_a_gate_before_no_call_cannot_be_denied(parked: Any) -> None:
    refused = parked("deny", "r1", "--reason", "no")
    assert refused.exit_code == 2
    assert "stands before no call" in refused.stderr
    assert parked("show", "r1", "--json").exit_code == 0
    assert "oasflow deny" not in parked("show", "r1").stdout


def test_what_is_not_unknown_cannot_be_settled(parked: Any) -> None:
    for words in ((), ("--did-not-happen",)):
        refused = parked("settle", "r1", *words)
        assert (refused.exit_code, "no call of run 'r1'" in refused.stderr) == (4, True)
    refused = parked("settle", "r1", "--did-not-happen")
    assert (refused.exit_code, "no call of run 'r1'" in refused.stderr) == (4, True)
    other = parked("settle", "r1", "k1", "--happened", "--value", "{}", "--as", "ann", "--json")
    assert other.exit_code == 4
    assert json.loads(other.stdout)["error"]["code"] == "effect_settled"


def test_all_runs_are_followed_from_a_cursor(parked: Any, flow_file: Any) -> None:
    told = parked("follow", "--all", "--since", "", "--no-wait", "--json")
    items = [json.loads(line) for line in told.stdout.splitlines()]
    assert [(one["run"], one["name"]) for one in items] == [
        ("r1", "created"), ("r1", "opened"), ("r1", "waiting")
    ]  # fmt: skip
    assert parked("stop", "r1", "--yes", "--as", "ann").exit_code == 0
    rest = parked("follow", "--all", "--since", items[-1]["cursor"], "--no-wait").stdout
    assert [line.split()[1:4] for line in rest.splitlines()] == [
        ["gate", "closed", f"r1/{items[1]['gate']}"], ["run", "stopped", "r1"]
    ]  # fmt: skip
    assert parked("follow", "--all", "--no-wait").stdout == "", "from now on"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("r1", "--all"), "leave out RUN"),
        (("r1", "--no-wait"), "go with --all"),
        (("--all", "--since", "x", "--no-wait"), "is no cursor of the feed"),
        ((), "RUN"),
    ],
)
def test_what_does_not_go_with_all_runs_is_refused(
    parked: Any, options: tuple[str, ...], problem: str
) -> None:
    refused = parked("follow", *options)
    assert refused.exit_code == 2
    assert problem in refused.stderr
