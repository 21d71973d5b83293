"""`oasflow resume --all` and `oasflow doctor`."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.store.work import sweep
from tests.cli.oasflow_process import PATIENCE, Oasflow


@pytest.fixture
def parked(here: Any, flow_file: Any, fresh_database: str) -> Any:
    """A run with a decision that nobody carried out."""
    assert here("run", flow_file(), "--simulate", "--run-id", "r1", "--detach").code == 3
    with RunStore.open(fresh_database) as store:
        store.decide("r1", "first", Decision.approve(by="ann"))
    return here


def test_all_goes_on_with_what_nobody_works_on(parked: Any) -> None:
    done = parked("resume", "--all", "--json")
    assert done.code == 0
    run = {"id": "r1", "tenant": "", "reason": "decided", "status": "waiting", "problem": None}
    assert json.loads(done.out) == {"runs": [run]}
    assert json.loads(parked("resume", "--all", "--json").out) == {"runs": []}
    assert "no run can go on" in parked("resume", "--all").err


def test_a_run_that_this_process_cannot_go_on_with_is_named(
    here: Any, flow_file: Any, fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.cli.conftest import TWO_GATES

    text = json.dumps(TWO_GATES).replace("{{ said }}", "{{ said }} {{KEY}}")
    code = here(
        "run", flow_file(text), "--simulate", "--run-id", "r1", "--detach", "--env", "KEY=v"
    ).code
    assert code == 3
    with RunStore.open(fresh_database, env={"KEY": "v"}) as store:
        store.decide("r1", "first", Decision.approve(by="ann"))
    left = here("resume", "--all")
    assert left.code == 6
    assert "KEY" in left.err
    assert here("resume", "--all", "--env", "KEY=v").code == 0


def test_watching_goes_on_with_runs_as_they_come(
    oasflow: Oasflow, parked: Any, fresh_database: str
) -> None:
    watcher = oasflow.begin("resume", "--all", "--watch", "0.2")
    with RunStore.open(fresh_database) as store:
        for gate in ("first", "second"):
            deadline = time.monotonic() + PATIENCE
            while store.get("r1").attempts < (2 if gate == "first" else 3):
                assert time.monotonic() < deadline
                assert watcher.poll() is None
                time.sleep(0.05)
            while store.get("r1").status == "running":
                time.sleep(0.05)
            if gate == "first":
                store.decide("r1", "second", Decision.approve(by="ann"))
        assert store.get("r1").status == "completed"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--all", "r1"), "leave out RUN"),
        (("--all", "--watch", "1", "--json"), "leave one of them out"),
        (("--all", "--watch", "0"), "above 0"),
        (("r1", "--watch", "1"), "goes with --all"),
        ((), "RUN is missing or empty"),
    ],
)
def test_misuse_is_refused(here: Any, words: tuple[str, ...], said: str) -> None:
    refused = here("resume", *words)
    assert refused.code == 2
    assert said in refused.err + refused.out


def test_doctor_tells_what_needs_doing_and_changes_nothing(
    here: Any, parked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = here("doctor", "--json")
    assert found.code == 1
    document = json.loads(found.out)
    assert document["due"] == {"decided": 1}
    assert (document["gates"]["total"], document["calls"]) == (0, {"total": 0, "oldest": []})
    assert document["dead_letters"] == {"total": 0, "oldest": []}
    assert document["tables"]["missing"] == []
    assert len(document["findings"]) == 1
    assert "1 decided" in here("doctor").out
    monkeypatch.setattr(sweep, "GRACE_SECONDS", 0.0)
    assert here("resume", "--all").code == 0
    waiting = here("doctor")
    assert (waiting.code, "1 gate waits for a decision" in waiting.out) == (1, True)
    assert here("reject", "r1").code == 5
    well = here("doctor")
    assert (well.code, "nothing needs doing" in well.out) == (0, True)


def test_doctor_ends_with_7_where_there_is_no_database(offline: Any) -> None:
    done = offline("doctor")
    assert done.exit_code == 7
    assert "hidden-word" not in done.output
