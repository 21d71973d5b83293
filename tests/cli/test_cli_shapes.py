"""The shapes of `--json` in docs/command-line.md are those that the commands print."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
Shape = dict[str, "Shape"]


def read_shape(written: str) -> Shape:
    """Members of `{a, b: [{c}], d: [gate, with e]}`, each with its own; of a list those of an element."""
    found: Shape = {}
    name, depth, begun = "", 0, 0
    for at, letter in enumerate(written):
        if letter in "{[":
            depth += 1
            begun = at if depth == 2 else begun
        elif letter in "}]":
            depth -= 1
            if depth == 1 and written[begun + 1] == "{":
                found[name] = read_shape(written[begun + 1 : at])
        elif depth == 1 and (word := re.match(r"\w+", written[at:])) and written[at - 1] in "{ ":
            name = word[0]
            found[name] = {}
    return found


def shapes_of(command: str) -> list[Shape]:
    """Every shape that the row of a command has, in its order."""
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| {command} |")]
    return [read_shape(one) for one in re.findall(r"`(?:\w+: \[)?(\{[^`]*\})\]?`", row)]


def told(cli: Any, *arguments: str) -> Any:
    return json.loads(cli(*arguments, "--json").stdout)


@pytest.fixture
def waiting(cli: Any, flow_file: Any) -> Any:
    """`r1` and `r2` wait at their first gates."""
    path = flow_file()
    for name in ("r1", "r2"):
        assert cli("run", path, "--simulate", "--run-id", name).exit_code == 3
    return cli


def test_a_shape_is_read_with_what_is_in_it() -> None:
    # Control: a member that is left out, or is one more, is noticed.
    assert read_shape("{a, b: [{c, d}], e: [gate, with f], g}") == {
        "a": {}, "b": {"c": {}, "d": {}}, "e": {}, "g": {},
    }  # fmt: skip
    assert shapes_of("`db url`") == [{"url": {}}]


def test_what_needs_a_person(waiting: Any) -> None:
    found = told(waiting, "gates")
    (shape,) = shapes_of("`gates`")
    assert set(found) == set(shape)
    assert set(found["needs"][0]) == set(shape["needs"])
    more = {"run", "flow", "tenant", "started_by", "waiting_since", "age_seconds", "command"}
    assert set(found["gates"][0]) - more == set(shapes_of("gate")[0])


def test_lists_and_runs(waiting: Any) -> None:
    found = told(waiting, "runs")
    (shape,) = shapes_of("`runs`")
    assert set(found) == set(shape)
    assert set(found["runs"][0]) == set(shape["runs"])
    commands = "`run`, `resume`, `approve`, `reject`, `deny`, `answer`, `settle`, `stop`"
    run = set(shapes_of(commands)[0])
    assert set(told(waiting, "stop", "r1")) == run
    parts = set(told(waiting, "show", "r2")) - run
    named = {"decisions", "context_selections", "unknown", "settlements", "models"}
    (row,) = [line for line in PAGE.splitlines() if line.startswith("| `show` |")]
    assert parts == named == {one for one in named if f"`{one}: [{{" in row}


def test_decisions_of_a_run_and_of_several(waiting: Any) -> None:
    gates = told(waiting, "gates")["gates"]
    names = [f"{one['run']}/{one['id']}" for one in gates]
    shown = [part for one in gates for part in ("--shown", one["shown"])]
    found = told(waiting, "approve", *names, *shown)
    (shape,) = [one for one in shapes_of("`approve`, `reject`, `stop` of several") if "exit" in one]
    assert set(found) == set(shape)
    assert set(found["targets"][0]) == set(shape["targets"])
    assert set(found["targets"][0]["run"]) == set(shapes_of("`runs`")[0]["runs"])
    assert set(told(waiting, "show", "r1")["decisions"][0]) == set(shapes_of("`show`")[0])


def test_what_looks_at_the_store(waiting: Any) -> None:
    for command, name in (
        (("doctor",), "`doctor`"),
        (("db", "archive", "--older-than", "0d", "--dry-run"), "`db archive`"),
        (("resume", "--all"), "`resume --all`"),
    ):
        assert set(told(waiting, *command)) == set(shapes_of(name)[0])
