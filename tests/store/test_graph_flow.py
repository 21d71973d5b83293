"""A hand-written graph in the store: kept, killed, gone on with by other processes, pinned to its text."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
import pytest

from cinatra_sdk import (
    Decision,
    FlowChanged,
    HostParts,
    InputInvalid,
    NotConfigured,
    Run,
    RunStore,
    StoreError,
    graph_flow,
)
from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.postgres.connection import connect
from cinatra_sdk.store.flows.flow_protocol import (
    join_source,
    load_declared_slots,
    load_flow,
    split_source,
)
from graphs.orchestrator_v1 import SAMPLES, flow, lend
from oas_compiler import CompileError, compile_flow
from tests.databases import Databases
from tests.store.graph_worker import INPUT
from tests.store.test_processes import close, said
from tests.warm import Process, begin

GATES = ["hitl_recipients_review", "hitl_drafts_review", "hitl_send_confirmation"]
CALLS = {"stage_0": 1, "stage_1_recipients": 1, "stage_2_generate_drafts": 1, "stage_3_ai_review": 1, "stage_4_send": 1}  # fmt: skip


def worker(*args: str) -> Process:
    program = (sys.executable, "-m", "tests.store.graph_worker")
    return begin("tests.store.graph_worker:run", program, args, os.environ)


def calls(record: Path) -> Counter[str]:
    return Counter(json.loads(line)["node"] for line in record.read_text("utf-8").splitlines())


# ------------------------------------------------------------------ processes


def test_a_graph_is_stored_killed_and_finished_by_another_process_with_each_call_made_once(
    fresh_database: str, tmp_path: Path
) -> None:
    record = tmp_path / "calls.jsonl"
    first = worker("start", fresh_database, str(record), "r1")
    try:
        stand = said(first)
        assert (stand["status"], stand["gates"][0].split("@")[0]) == ("waiting", GATES[0])
    finally:
        close(first)
    assert first.returncode == -signal.SIGKILL
    second = worker("finish", fresh_database, str(record), "r1")
    try:
        assert said(second) == {"status": "completed", "gates": [], "error": None}
    finally:
        second.communicate()
    assert calls(record) == CALLS
    with RunStore.open(fresh_database) as store:
        assert [row["decided_by"] for row in store.decisions("r1")] == ["ann"] * 3
        assert store.get("r1").flow == "orchestrator_v1"


@pytest.mark.parametrize("point", [1, 3])
def test_a_graph_whose_worker_is_killed_in_mid_activation_is_resumed_by_another(
    fresh_database: str, tmp_path: Path, point: int
) -> None:
    record = tmp_path / "calls.jsonl"
    platform = SimulatedPlatform(SAMPLES, record=str(record))
    with RunStore.open(fresh_database) as store:
        store.start(flow.lent(HostParts(platform=platform)), INPUT, "r1")
    killed = worker("crash", fresh_database, str(record), "r1", str(point))
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    last = worker("finish", fresh_database, str(record), "r1")
    try:
        assert said(last)["status"] == "completed"
    finally:
        last.communicate()
    made = calls(record)
    assert made.keys() == CALLS.keys()
    # A call whose checkpoint was lost is made again, under its own key.
    assert sum(made.values()) <= sum(CALLS.values()) + 1


# ------------------------------------------------------------------ what a process must lend


def test_a_process_that_does_not_lend_the_graph_is_told_so_and_can_still_reject(
    fresh_database: str,
) -> None:
    with RunStore.open(fresh_database) as store:
        store.start(flow, INPUT, "r1")
    with RunStore.open(fresh_database) as other:
        with pytest.raises(NotConfigured, match=r"graphs\.orchestrator_v1:build_durable.*--host"):
            other.resume("r1")
        gate = other.get("r1").waiting[0]
        assert other.answer("r1", gate.id, Decision.reject(by="ann")).status == "rejected"


MODULE = """\
from cinatra_sdk import graph_flow
from graphs.orchestrator_v1 import INPUTS, POLICY, build_graph

def build(host, checkpointer):
    return build_graph(host.platform, checkpointer)

refunds = graph_flow(build, inputs=INPUTS, policy=POLICY)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write the module `refunds_of_a_test`, and import it anew."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(text: str = MODULE) -> ModuleType:
        (tmp_path / "refunds_of_a_test.py").write_text(text, "utf-8")
        monkeypatch.delitem(sys.modules, "refunds_of_a_test", raising=False)
        importlib.invalidate_caches()
        return importlib.import_module("refunds_of_a_test")

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield write
    sys.modules.pop("refunds_of_a_test", None)


def test_a_graph_whose_module_was_changed_is_refused(fresh_database: str, module: Any) -> None:
    before = module().refunds
    with RunStore.open(fresh_database) as store:
        store.start(before, INPUT, "r1")
    after = module(MODULE + "# one more line\n").refunds
    assert (after.label, after.name) == (before.label, "refunds_of_a_test")
    assert after.digest != before.digest
    with RunStore.open(fresh_database, host=HostParts(graphs=[after])) as store:
        with pytest.raises(FlowChanged, match="module of the graph 'refunds_of_a_test:build'"):
            store.resume("r1")
        with pytest.raises(FlowChanged, match="was started with flow"):
            store.resume("r1", flow=after)


def test_a_stored_run_chooses_no_module(
    fresh_database: str, owner_database: str, module: Any, tmp_path: Path
) -> None:
    """The name in the row is looked up among the graphs that are lent; nothing is imported."""
    trap = tmp_path / "a_trap.py"
    trap.write_text(
        f"import pathlib\npathlib.Path({str(tmp_path / 'sprung')!r}).touch()\n", "utf-8"
    )
    with RunStore.open(fresh_database) as store:
        store.start(module().refunds, INPUT, "r1")
    with connect(owner_database) as connection:  # whose own checks keep such a row out
        connection.execute("alter table flows disable trigger user")
        connection.execute("alter table flows drop constraint flows_digest_is_of_source")
    for header in (
        {"kind": "graph", "name": "a_trap:build"},
        {"kind": "a_trap:build", "name": "x"},
        {"kind": "a_trap", "name": "x"},
    ):
        source = join_source(header, b"")
        with connect(owner_database) as connection:
            connection.execute("update flows set source = %s", (source,))
        with RunStore.open(fresh_database, host=lend()) as store, pytest.raises(StoreError):
            store.resume("r1")
    assert "a_trap" not in sys.modules
    assert not (tmp_path / "sprung").exists()
    importlib.import_module("a_trap")
    assert (tmp_path / "sprung").exists(), "the control"
    del sys.modules["a_trap"]


# ------------------------------------------------------------------ kinds


def test_no_flow_file_passes_for_another_kind() -> None:
    for file in (b'{"kind": "graph", "name": "a"}\n', b"kind: graph\n", b"", b" \x1e{}\n"):
        assert split_source(file) == ("oas", {})
    source = join_source({"kind": "graph", "name": "shop:build"}, b"text")
    assert split_source(source) == ("graph", {"kind": "graph", "name": "shop:build"})
    with pytest.raises(CompileError):
        compile_flow(source)


@pytest.mark.parametrize("source", [b"\x1e", b"\x1e[]\n", b"\x1e{}\n", b'\x1e{"kind": 1}\n', b"\x1e\xff\n"])  # fmt: skip
def test_a_broken_header_is_told(source: bytes) -> None:
    with pytest.raises(StoreError, match="header that cannot be read"):
        load_flow(source, digest="")


def test_a_kind_without_a_loader_is_told() -> None:
    with pytest.raises(StoreError, match="kind 'wasm'"):
        load_flow(join_source({"kind": "wasm"}, b""), digest="")


def test_a_graph_declares_no_context_slots() -> None:
    with pytest.raises(ContextError, match="hand-written graph"):
        load_declared_slots(flow.source, digest=flow.digest)


# ------------------------------------------------------------------ making one


def test_inputs_are_checked_and_others_left_out(caplog: pytest.LogCaptureFixture) -> None:
    assert flow.input({**INPUT, "bearer_token": "x"}) == INPUT
    assert "bearer_token" in caplog.text
    with pytest.raises(InputInvalid, match="'audience' is missing"):
        flow.input({"campaign_goal": "x"})
    with pytest.raises(InputInvalid, match="'audience' does not fit"):
        flow.input({**INPUT, "audience": 3})


def test_a_function_that_no_other_process_could_name_is_refused() -> None:
    def inner(_host: HostParts, _checkpointer: Any) -> Any: ...

    with pytest.raises(ValueError, match="no function at the top of a module"):
        graph_flow(inner)
    inner.__module__, inner.__qualname__ = "__main__", "inner"
    with pytest.raises(ValueError, match="the program itself"):
        graph_flow(inner)
    inner.__module__ = "builtins"
    with pytest.raises(ValueError, match="has no file"):
        graph_flow(inner)


# ------------------------------------------------------------------ repeated


def test_a_graph_repeats_where_its_author_says_so_and_is_refused_by_name_elsewhere(
    fresh_database: str, tmp_path: Path, databases: Databases
) -> None:
    record = tmp_path / "calls.jsonl"
    host = HostParts(platform=SimulatedPlatform(SAMPLES, record=str(record)))
    again = replace(flow, repeats=True).lent(host)
    with RunStore.open(fresh_database, host=host) as store:
        run = store.start(again, INPUT, run_id="r1")
        run = store.answer("r1", run.waiting[0], run_decision(run))
        shown = [(gate.id, gate.payload_sha256) for gate in run.waiting]
        made = calls(record)
        assert store.verify("r1", flow=again).differences == ()
        with pytest.raises(InputInvalid, match=r"graph_flow\(…, repeats=True\)"):
            store.verify("r1", flow=flow.lent(host))
        with psycopg.connect(databases.as_owner(fresh_database), autocommit=True) as connection:
            for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
                connection.execute(f"delete from oasflow.{table} where thread_id = 'r1'")
        run = store.work("r1", flow=again)
        assert [(gate.id, gate.payload_sha256) for gate in run.waiting] == shown
        assert calls(record) == made


def run_decision(run: Run) -> Decision:
    return Decision.of(run.waiting[0].example(), by="ann")
