"""Conditions on `oasflow runs` and `oasflow gates`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from cinatra_sdk import RunStore, SimulatedPlatform
from oas_compiler import compile_flow
from oas_compiler.cli.terminal.argument_values import duration
from oas_compiler.cli.terminal.exits import Halt
from tests.databases import Databases
from tests.flows import end, flow_of, gate, start


@pytest.fixture(scope="module")
def stored(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database with runs of two flows, started by two people.  These tests only look at them."""
    dsn, folder = databases.take(), tmp_path_factory.mktemp("flows")
    waiting = flow_of(start(), gate("ok"), end())
    with RunStore.open(dsn) as store:
        for run_id, name, by in (
            ("r1", "Letters", "ann"),
            ("r2", "Letters", "bob"),
            ("r3", "Posts", "ann"),
        ):
            path = folder / f"{name}.json"
            path.write_text(json.dumps({**waiting, "name": name}))
            flow = compile_flow(path, platform=SimulatedPlatform())
            assert store.start(flow, run_id=run_id, by=by).status == "waiting"
    yield dsn
    databases.give_back(dsn)


@pytest.fixture
def three(offline: Any, stored: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command line on these runs."""
    monkeypatch.setenv("DATABASE_URL", stored)
    return offline


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ((), ["r1", "r2", "r3"]),
        (("--flow", "Letters"), ["r1", "r2"]),
        (("--started-by", "ann"), ["r1", "r3"]),
        (("--flow", "Letters", "--started-by", "ann"), ["r1"]),
        (("--older-than", "1h"), []),
        (("--newer-than", "1 h", "--flow", "Posts"), ["r3"]),
        (("--tenant", "acme"), []),
    ],
)
def test_runs_and_gates_are_found_by_the_same_conditions(
    three: Any, options: tuple[str, ...], found: list[str]
) -> None:
    runs = json.loads(three("runs", *options, "--json").stdout)["runs"]
    assert sorted(run["id"] for run in runs) == found
    gates = json.loads(three("gates", *options, "--json").stdout)["gates"]
    assert sorted(one["run"] for one in gates) == found
    assert {one["started_by"] for one in (*runs, *gates)} <= {"ann", "bob"}


@pytest.mark.parametrize(
    ("command", "name", "order"),
    [("gates", "run", ["r1", "r2", "r3"]), ("runs", "id", ["r3", "r2", "r1"])],
)
def test_a_list_that_is_cut_says_so_and_goes_on_after_its_cursor(
    three: Any, command: str, name: str, order: list[str]
) -> None:
    first = json.loads(three(command, "--limit", "2", "--json").stdout)
    assert [row[name] for row in first[command]] == order[:2]
    more = f"there are more; --limit shows more at once, --after {first['next']} the next\n"
    assert three(command, "--limit", "2").stderr.endswith(more)
    second = json.loads(three(command, "--limit", "2", "--after", first["next"], "--json").stdout)
    assert [row[name] for row in second[command]] == order[2:]
    assert second["next"] is None
    assert "more" not in three(command, "--limit", "3").stderr


@pytest.mark.parametrize("command", ["gates", "runs"])
def test_another_cursor_is_refused_with_the_way_to_get_one(three: Any, command: str) -> None:
    refused = three(command, "--after", "r2")
    assert refused.exit_code == 2
    assert "'r2' is no cursor of this list" in refused.stderr


def test_a_flow_that_nobody_ran_is_told_with_the_nearest(three: Any) -> None:
    for command in ("runs", "gates"):
        refused = three(command, "--flow", "Leters")
        assert refused.exit_code == 2
        assert refused.stderr == "error: no run is of a flow 'Leters'; did you mean \"Letters\"?\n"


@pytest.mark.parametrize(
    ("risk", "nearest"),
    [("foo", "known are"), ("read-only", 'did you mean "read_only"? known are')],
)
def test_a_risk_that_no_host_knows_is_told_with_those_that_are(
    three: Any, risk: str, nearest: str
) -> None:
    refused = three("gates", "--risk", risk)
    assert refused.exit_code == 2
    assert f"there is no risk class '{risk}'; {nearest} approval, " in refused.stderr


def test_a_condition_and_a_run_do_not_go_together(three: Any) -> None:
    refused = three("gates", "r1", "--flow", "Letters")
    assert refused.exit_code == 2
    assert "RUN names one run" in refused.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90s", timedelta(seconds=90)), ("30min", timedelta(minutes=30)), ("2 h", timedelta(hours=2)),
        ("3d", timedelta(days=3)), ("0d", timedelta()),
    ],
)  # fmt: skip
def test_an_age_is_written_as_lists_tell_it(text: str, expected: timedelta) -> None:
    assert duration(text, "--older-than") == expected


@pytest.mark.parametrize("text", ["", "3", "d", "3 weeks", "-1h", "1.5h", "999999d"])
def test_another_age_is_refused_with_examples(text: str) -> None:
    with pytest.raises(Halt, match="--older-than: an age is a number and s, min, h or d"):
        duration(text, "--older-than")


def test_an_age_before_all_times_finds_nothing(three: Any) -> None:
    found = json.loads(three("runs", "--older-than", "99999d", "--json").stdout)
    assert found == {"runs": [], "next": None}


@pytest.mark.parametrize(
    "chosen", [("--risk", "email_send"), ("--step", "9"), ("--text", "bees"), ("--tenant", "acme")]
)
def test_a_list_that_was_narrowed_does_not_say_that_nothing_needs_a_person(
    three: Any, chosen: tuple[str, ...]
) -> None:
    assert three("gates", *chosen).stderr == "nothing that fits needs a person\n"
    assert three("gates", "--older-than", "1h").stderr == "nothing that fits needs a person\n"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("gates", "--step", "9" * 20), "'step' is 99999999999999999999, and no policy has such a step"),
        (("gates", "--step", "9" * 40), "'step' is a number of many digits"),
        (("records", "--after", "WyIyMDI2LTAxLTAxVDAwOjAwOjAwWiIsInIxIiwieCJd"), "is no cursor"),
    ],
)  # fmt: skip
def test_what_no_list_has_is_named(three: Any, asked: tuple[str, ...], says: str) -> None:
    refused = three(*asked)
    assert refused.exit_code != 0
    assert says in " ".join(refused.stderr.split())
    assert "database" not in refused.stderr


def test_runs_come_in_the_order_that_is_asked_for(three: Any) -> None:
    told = json.loads(three("runs", "--order", "oldest-start", "--json").stdout)
    assert [run["id"] for run in told["runs"]] == ["r1", "r2", "r3"]
    told = json.loads(three("runs", "--order", "newest-start", "--limit", "2", "--json").stdout)
    assert [run["id"] for run in told["runs"]] == ["r3", "r2"]
    rest = three("runs", "--order", "newest-start", "--after", told["next"], "--json").stdout
    assert [run["id"] for run in json.loads(rest)["runs"]] == ["r1"]


def test_runs_of_several_statuses_are_counted_instead_of_listed(three: Any) -> None:
    both = ("--status", "waiting", "--status", "failed")
    assert json.loads(three("runs", *both, "--count", "--json").stdout)["count"] == 3
    assert three("runs", *both, "--flow", "Posts", "--count").stdout.strip() == "1"
    assert three("runs", "--status", "failed", "--count").stdout.strip() == "0"
    refused = three("runs", "--count", "--order", "oldest-start")
    assert refused.exit_code == 2
    assert "--order" in refused.stderr
