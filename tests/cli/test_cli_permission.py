"""The command line says who the person is, and names what the host's policy refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import RunStore, SimulatedPlatform
from oas_compiler import compile_flow
from oas_compiler.cli.terminal.exits import Exit
from tests.flows import end, flow_of, gate, start

FLOW = flow_of(start(), gate("ok"), end())
PARTS = """
from cinatra_sdk import HostParts
from cinatra_sdk.effects import Verdict

def may(person, action, subject):
    if action != "see" and person.id == "ann":
        return Verdict.refuse(f"{person.id} ({person.proof}) does not {action} {subject}", code="four_eyes")
    return Verdict.allow()

def lend():
    return HostParts(may=may)

def lend_broken():
    return HostParts(may=lambda *_: 1 / 0)

def leave(*_):
    raise SystemExit(0)

def lend_leaving():
    return HostParts(may=leave)
"""


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "own_policy.py").write_text(PARTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "own_policy:lend"


@pytest.fixture
def parked(cli: Any, fresh_database: str) -> RunStore:
    with RunStore.open(fresh_database) as store:
        store.start(compile_flow(FLOW, platform=SimulatedPlatform()), run_id="r1", by="bob")
    return store


ACTS = {
    "approve": ("answer", ("approve", "r1/ok")),
    "reject": ("answer", ("reject", "r1/ok")),
    "resume": ("start", ("resume", "r1")),
    "pause": ("pause", ("pause", "r1")),
    "stop": ("stop", ("stop", "r1")),
}


@pytest.mark.parametrize("command", ACTS)
def test_a_refusal_of_the_host_is_named_and_nothing_is_done(
    cli: Any, parts: str, parked: RunStore, fresh_database: str, command: str
) -> None:
    action, typed = ACTS[command]
    words = (*typed, "--host", parts, "--as", "ann")
    refused = cli(*words)
    assert refused.exit_code == Exit.USAGE
    assert f"ann (terminal) does not {action} " in refused.stderr
    told = json.loads(cli(*words, "--json").stdout)["error"]
    assert told["code"] == "four_eyes"
    with RunStore.open(fresh_database) as store:
        assert (store.get("r1").status, store.decisions("r1")) == ("waiting", [])
    if action == "answer":
        done = Exit.REJECTED if command == "reject" else Exit.OK
        assert cli(*typed, "--host", parts, "--as", "eve").exit_code == done


@pytest.mark.parametrize("command", ["approve", "reject"])
def test_a_refusal_of_the_host_is_named_for_each_of_several_gates(
    cli: Any, parts: str, parked: RunStore, fresh_database: str, command: str
) -> None:
    with RunStore.open(fresh_database) as store:
        run = store.start(compile_flow(FLOW, platform=SimulatedPlatform()), run_id="r2", by="bob")
        shown = run.waiting[0].shown[:16]
    hashes = (word for _ in range(2) for word in ("--shown", shown))
    cli(command, "r1/ok", "r2/ok", *hashes, "--host", parts, "--as", "ann")
    with RunStore.open(fresh_database) as store:
        assert [store.decisions(name) for name in ("r1", "r2")] == [[], []]
    cli(
        command,
        "r1/ok",
        "r2/ok",
        "--shown",
        shown,
        "--shown",
        shown,
        "--host",
        parts,
        "--as",
        "eve",
    )
    with RunStore.open(fresh_database) as store:
        assert [len(store.decisions(name)) for name in ("r1", "r2")] == [1, 1]


def test_a_run_is_not_begun_by_whom_the_host_refuses(
    cli: Any, parts: str, flow_file: Any, fresh_database: str
) -> None:
    words = ("run", flow_file(), "--simulate", "--host", parts, "--as")
    refused = cli(*words, "ann")
    assert refused.exit_code == Exit.USAGE
    assert "ann (terminal) does not start flow '" in refused.stderr
    with RunStore.open(fresh_database) as store:
        assert store.list() == []
    assert cli(*words, "eve").exit_code == Exit.WAITING


def test_a_policy_that_fails_is_named_with_what_mends_it(
    cli: Any, parts: str, parked: RunStore
) -> None:
    failed = cli("approve", "r1/ok", "--host", "own_policy:lend_broken")
    assert failed.exit_code == Exit.USAGE
    assert "the host's may raised ZeroDivisionError (mend may in its HostParts)" in failed.stderr


@pytest.mark.parametrize("command", ACTS)
def test_a_policy_that_ends_the_process_refuses(
    cli: Any, parts: str, parked: RunStore, fresh_database: str, command: str
) -> None:
    ended = cli(*ACTS[command][1], "--host", "own_policy:lend_leaving")
    assert ended.exit_code == Exit.USAGE
    assert "the host's may raised SystemExit" in ended.stderr
    with RunStore.open(fresh_database) as store:
        assert (store.get("r1").status, store.decisions("r1")) == ("waiting", [])
