"""`oasflow wire-context`: shows what it would write, asks, and writes no more than that."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from oasflow_screen import Screen

from cinatra_sdk.testing import drive
from oas_compiler import check, compile_flow
from tests.slot_flows import AGENT, MANIFEST, SELECTOR, declared, taking


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """The folder of an agent that declares a slot and wires nothing."""
    (tmp_path / "cinatra").mkdir()
    (tmp_path / "cinatra" / "oas.json").write_text(json.dumps(declared(), indent=4), "utf-8")
    (tmp_path / "package.json").write_text(json.dumps(MANIFEST, indent=2), "utf-8")
    return tmp_path


@pytest.fixture
def screen() -> Iterator[Callable[..., Screen]]:
    """`oasflow` at a terminal, without a database."""
    program = Path(sys.executable).with_name("oasflow")
    if not program.exists():
        pytest.skip("the program oasflow is not installed beside this Python")
    opened: list[Screen] = []

    def open_screen(*arguments: str) -> Screen:
        opened.append(Screen([str(program), *arguments], dict(os.environ)))
        return opened[-1]

    yield open_screen
    for one in opened:
        one.close()


def files(agent: Path) -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in sorted(agent.rglob("*.json"))}


def slot_codes(agent: Path) -> list[str]:
    return [one.code for one in check(str(agent)) if one.code.startswith(("OAS15", "OAS16"))]


def test_without_a_terminal_the_diff_is_shown_and_nothing_is_written(
    offline: Any, agent: Path
) -> None:
    before = files(agent)
    result = offline("wire-context", str(agent))
    assert result.exit_code == 1
    heads = [line for line in result.stdout.splitlines() if line.startswith(("--- ", "+++ "))]
    assert heads == [
        f"{sign} {agent}/{file}"
        for file in ("cinatra/oas.json", "package.json")
        for sign in ("---", "+++")
    ]
    assert f'+      "{AGENT}": "^0.1.1"' in result.stdout
    assert '+            "id": "context_brand",' in result.stdout
    assert "nothing was written; --yes applies this" in result.stderr
    assert files(agent) == before


def test_yes_writes_a_flow_that_check_accepts_and_that_runs_with_its_gate(
    offline: Any, agent: Path
) -> None:
    assert set(slot_codes(agent)) == {"OAS153", "OAS154"}
    result = offline("wire-context", str(agent), "--yes")
    assert result.exit_code == 0, result.output
    assert f"written: {agent}/cinatra/oas.json" in result.stderr
    assert f"written: {agent}/package.json" in result.stderr
    assert "raise the version" in result.stderr
    assert slot_codes(agent) == []
    manifest = json.loads((agent / "package.json").read_text("utf-8"))
    assert manifest["cinatra"]["agentDependencies"] == {AGENT: "^0.1.1"}
    run = drive(compile_flow(agent), {"topic": "x"}, answers=lambda gate: gate.example())
    assert run.status == "completed", run.error
    assert [one.renderer for one in run.gates] == [SELECTOR]
    assert [one.url.rsplit("/", 1)[-1] for one in run.calls] == [
        "context-resolve",
        "context-finalize",
        "write",
    ]


def test_a_second_run_has_nothing_to_do(offline: Any, agent: Path) -> None:
    offline("wire-context", str(agent), "--yes")
    before = files(agent)
    result = offline("wire-context", str(agent), "--yes")
    assert (result.exit_code, result.stdout) == (0, "nothing to wire\n")
    assert files(agent) == before


def test_a_flow_that_is_wired_still_gets_its_missing_dependency(offline: Any, agent: Path) -> None:
    offline("wire-context", str(agent), "--yes")
    (agent / "package.json").write_text(json.dumps(MANIFEST), "utf-8")
    result = offline("wire-context", str(agent), "--yes", "--range", "^0.2.0", "--json")
    document = json.loads(result.stdout)
    assert (document["applied"], document["slots"]) == (True, [])
    assert [one["file"] for one in document["files"]] == [f"{agent}/package.json"]
    assert f'"{AGENT}": "^0.2.0"' in (agent / "package.json").read_text("utf-8")


def test_the_document_says_what_is_wired_and_stdout_holds_nothing_else(
    offline: Any, agent: Path
) -> None:
    shown = json.loads(offline("wire-context", str(agent), "--json").stdout)
    assert shown["applied"] is False
    assert shown["slots"] == [
        {
            "slot": "brand",
            "flow": "test-flow",
            "node": "context_brand",
            "consumers": [{"node": "write", "input": "contextSlotBindings"}],
        }
    ]
    assert len(shown["files"]) == 2
    done = json.loads(offline("wire-context", str(agent), "--json", "--yes").stdout)
    assert (done["applied"], done["remaining"]) == (True, [])


def test_one_slot_is_wired_when_it_is_named(offline: Any, agent: Path) -> None:
    flow = agent / "cinatra" / "oas.json"
    flow.write_text(json.dumps(declared("brand", "voice"), indent=2), "utf-8")
    result = offline("wire-context", str(agent), "--slot", "voice", "--yes")
    assert result.exit_code == 0
    nodes = [one["$component_ref"] for one in json.loads(flow.read_text("utf-8"))["nodes"]]
    assert nodes == ["start", "context_voice", "write", "end"]
    assert "OAS154" in result.stderr, "what remains is told"
    assert '"brand"' in result.stderr


def test_a_slot_that_cannot_be_wired_ends_with_what_to_do(offline: Any, agent: Path) -> None:
    flow = agent / "cinatra" / "oas.json"
    flow.write_text(json.dumps(declared(consumers=(taking(),))), "utf-8")
    before = files(agent)
    result = offline("wire-context", str(agent), "--yes", "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert error["code"] == "cannot_wire"
    assert (
        "give the node that uses what is selected an input contextSlotBindings" in error["message"]
    )
    assert files(agent) == before


def test_a_wiring_that_would_bring_new_errors_is_not_written(offline: Any, agent: Path) -> None:
    """A consumer that takes a number cannot be fed with a list of refs."""
    flow = declared()
    (given,) = [
        one
        for one in flow["$referenced_components"]["write"]["inputs"]
        if one["title"] == "contextSlotBindings"
    ]
    given.update(type="integer", default=0)
    del given["json_schema"]
    (agent / "cinatra" / "oas.json").write_text(json.dumps(flow), "utf-8")
    before = files(agent)
    result = offline("wire-context", str(agent), "--yes")
    assert result.exit_code == 1
    assert "errors that it has not now" in result.stderr
    assert files(agent) == before


def test_a_range_that_is_none_is_refused(offline: Any, agent: Path) -> None:
    result = offline("wire-context", str(agent), "--range", "newest please")
    assert result.exit_code == 2
    assert "is no version range" in result.stderr


def test_a_slot_that_is_not_declared_is_refused(offline: Any, agent: Path) -> None:
    result = offline("wire-context", str(agent), "--slot", "brnad")
    assert result.exit_code == 1
    assert 'did you mean "brand"?' in result.stderr


def test_yaml_is_left_to_the_author(offline: Any, tmp_path: Path) -> None:
    path = tmp_path / "flow.yaml"
    path.write_text(json.dumps(declared()), "utf-8")  # JSON is YAML
    result = offline("wire-context", str(path), "--yes")
    assert result.exit_code == 2
    assert "changes JSON only" in result.stderr


def test_a_file_that_is_not_there_is_a_finding(offline: Any, tmp_path: Path) -> None:
    result = offline("wire-context", str(tmp_path / "none.json"))
    assert result.exit_code == 2
    assert "OAS001" in result.output


def test_a_flow_without_a_package_is_wired_with_a_note(offline: Any, tmp_path: Path) -> None:
    path = tmp_path / "flow.json"
    path.write_text(json.dumps(declared()), "utf-8")
    result = offline("wire-context", str(path), "--yes")
    assert result.exit_code == 0
    assert "there is no package.json here" in result.stderr


def test_a_file_that_changes_while_the_diff_is_read_is_not_written(
    offline: Any, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from oas_compiler.cli.commands import agent_package
    from oas_compiler.edit.file_fixes import unified

    manifest = agent / "package.json"

    def somebody_saves(*arguments: Any) -> Any:
        manifest.write_text("{}", "utf-8")
        return unified(*arguments)

    flow = (agent / "cinatra" / "oas.json").read_bytes()
    monkeypatch.setattr(agent_package, "unified", somebody_saves)
    result = offline("wire-context", str(agent), "--yes", "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["code"] == "not_written"
    assert (agent / "cinatra" / "oas.json").read_bytes() == flow, "neither of the two is written"


@pytest.mark.parametrize(("answer", "is_written"), [("y", True), ("", False), ("no", False)])
def test_at_a_terminal_the_author_is_asked(
    screen: Callable[..., Screen], agent: Path, answer: str, is_written: bool
) -> None:
    before = files(agent)
    shown = screen("wire-context", str(agent))
    shown.wait_for("apply to these 2 files? [y/N]")
    assert files(agent) == before
    shown.type(answer)
    shown.wait_for("written: " if is_written else "nothing was written")
    assert shown.ended() == (0 if is_written else 1)
    assert (slot_codes(agent) == []) is is_written
