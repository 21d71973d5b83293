"""A process killed at a statement of its own, and another one that goes on with the run.

The process that dies is a real one; what was sent is what it and its successor wrote into a file.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.errors import FlowError
from cinatra_sdk.testing import simulation
from oas_compiler import compile_flow
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, require_start, tests_of
from tests.attacks.test_rows import FLOWS
from tests.warm import FORKED


def attempt(attack: Attack, place: Place) -> str:
    how = attack.value
    calls = str(place.folder / "calls")
    flow = json.dumps(FLOWS[how.get("flow", "flat")])
    with _store(place.database, flow, calls) as (store, compiled):
        gate = store.start(compiled, {}, "r1").waiting[0].id
    process: Any = FORKED.Process(
        target=dies, args=(how["at"], how["does"], place.database, flow, calls, gate)
    )
    process.start()
    process.join(60)
    require_start(process.exitcode in (0, -signal.SIGKILL), f"the process: {process.exitcode}")
    return went_on(how, place.database, flow, calls, gate, died=process.exitcode != 0)


def dies(at: int, does: str, dsn: str, flow: str, calls: str, gate: str) -> None:
    """Carry `does` out, and be killed after the `at`-th statement of it."""
    with _store(dsn, flow, calls) as (store, _compiled):
        _kill_after(at)
        _act(store, does, gate)


def _kill_after(at: int) -> None:
    remaining, execute = [at], psycopg.Cursor.execute

    def counted(self: Any, *args: Any, **more: Any) -> Any:
        came = execute(self, *args, **more)
        remaining[0] -= 1
        if remaining[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return came

    psycopg.Cursor.execute = counted  # type: ignore[method-assign]


def _act(store: RunStore, does: str, gate: str) -> None:
    if does == "stop":
        store.stop("r1", by="ann", reason="no")
    else:
        decide = Decision.approve if does == "approve" else Decision.reject
        store.answer("r1", gate, decide(by="ann"))


def went_on(how: Any, dsn: str, flow: str, calls: str, gate: str, *, died: bool) -> str:
    """What another process makes of it: it resumes, and does the same again where nothing was kept."""
    with _store(dsn, flow, calls) as (store, _compiled):
        kept = [row["kind"] for row in store.decisions("r1")]
        for act in ("resume", "again", "resume"):
            with suppress(FlowError):
                if act == "resume":
                    store.resume("r1")
                else:
                    _act(store, how.get("then", how["does"]), gate)
        run = store.get("r1")
        decided = [row["kind"] for row in store.decisions("r1")]
    assert decided[: len(kept)] == kept
    assert len(decided) <= 1
    sent = [call["idempotency_key"] for call in _calls(calls) if call["node"] == "send"]
    if how.get("then"):
        first = kept[0] if kept else how["then"]
        return f"as decided first, {len(sent)} sent" if first in decided else "lost"
    return f"{run.status}, {len(set(sent))} sent"


def _calls(path: str) -> list[dict[str, Any]]:
    file = Path(path)
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@contextmanager
def _store(dsn: str, flow: str, calls: str) -> Iterator[tuple[RunStore, Any]]:
    compiled = compile_flow(json.loads(flow))
    compiled = compiled.with_platform(simulation(compiled, record=calls))
    with RunStore.open(dsn, platform=compiled.platform) as store:
        yield store, compiled


@contextmanager
def nobody_goes_on(place: Place) -> Iterator[None]:
    """The process that comes after drives nothing."""
    with place.monkeypatch.context() as patch:
        for act in ("resume", "answer"):
            patch.setattr(RunStore, act, lambda self, run_id, *_a, **_k: self.get(run_id))
        yield


CONTROLS = {
    "a run that nobody goes on with": Control(open=nobody_goes_on, row="approve-statement_7")
}

# A process is started and killed for each row; tests/store/test_processes.py does so by default.
pytestmark = pytest.mark.long
test_attack, test_twin, test_control = tests_of("kills", attempt, CONTROLS)
