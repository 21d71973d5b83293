"""Sweeps: runs that nobody works on are found and gone on with, each by one worker."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from cinatra_sdk import Decision, HostContext, RunStore, SimulatedPlatform, host_context
from cinatra_sdk.outside.http_calls.protocol import PlatformUnreachable
from cinatra_sdk.runs import Run
from cinatra_sdk.store.health import examine
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, port, start
from tests.store.work.test_retries import dying

ANN = Decision.approve(by="ann")
GATED = flow_of(start(), api("first"), gate("ok"), api("second"), end())
PLAIN = flow_of(start(), api("first"), end())


class Counting(SimulatedPlatform):
    """Counts calls by run; fails those of the runs that it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.fails: dict[str, int] = {}
        self.seen: Counter[tuple[str, str]] = Counter()
        self.tokens: dict[str, str] = {}
        self.delay = 0.0
        self._guard = threading.Lock()

    def call(self, call: Any) -> Any:
        run_id = call.run_id
        time.sleep(self.delay)
        with self._guard:
            self.seen[run_id, call.node] += 1
            left = self.fails.get(run_id, 0)
            self.fails[run_id] = left - 1
        if left > 0:
            raise PlatformUnreachable("no connection", node=call.node)
        return super().call(call)


@pytest.fixture
def platform() -> Counting:
    return Counting()


@pytest.fixture
def store(fresh_database: str, platform: Counting) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, platform=platform) as opened:
        yield opened


@pytest.fixture
def gated(platform: Counting) -> Any:
    return compile_flow(GATED, platform=platform)


@pytest.fixture
def plain(platform: Counting) -> Any:
    return compile_flow(PLAIN, platform=platform)


def told(store: RunStore, **options: Any) -> dict[str, tuple[str, str]]:
    return {run.run_id: (run.reason, run.status) for run in store.sweep(grace=0.0, **options)}


def make_due(store: RunStore) -> None:
    with store.database.connection() as rows:
        rows.execute("update runs set retry_at = clock_timestamp() where retry_at is not null")


def test_a_sweep_goes_on_with_each_kind_of_run_that_nobody_works_on(
    store: RunStore, platform: Counting, gated: Any, plain: Any, fresh_database: str
) -> None:
    store.create(plain, run_id="created")
    store.start(gated, run_id="decided")
    store.decide("decided", "ok", ANN)
    platform.fails["failed"] = 1
    assert store.start(plain, run_id="failed").status == "failed"
    make_due(store)
    store.create(plain, run_id="died")
    with store.database.connection() as rows:  # as a worker that died in its first call leaves it
        rows.execute("update runs set attempts = 1 where run_id = 'died'")
        rows.execute("update work set worker = 'elsewhere:1' where run_id = 'died'")
    store.create(plain, run_id="left")
    with store.database.connection() as rows:  # as one that stopped before a step leaves it
        rows.execute("update runs set attempts = 1 where run_id = 'left'")
    assert told(store) == {
        "created": ("created", "completed"),
        "decided": ("decided", "completed"),
        "failed": ("failed", "completed"),
        "died": ("died", "completed"),
        "left": ("left", "completed"),
    }
    assert told(store) == {}


def test_a_sweep_leaves_runs_that_wait_rest_or_are_worked_on(
    store: RunStore, platform: Counting, gated: Any, plain: Any
) -> None:
    store.start(gated, run_id="waits")
    platform.fails["later"] = 1
    store.start(plain, run_id="later")  # to be tried again in 10 seconds
    store.start(plain, run_id="ended")
    store.create(plain, run_id="new")
    assert store.sweep() == []  # the new run is left to whoever created it
    store.stop("new")
    store.create(plain, run_id="held")
    with store.database.connection() as rows:  # another process has claimed it, and has not begun
        rows.execute(
            "update work set worker = 'w', lease_until = clock_timestamp() + interval '1 hour'"
            " where run_id = 'held'"
        )
        assert store.sweep(grace=0.0) == []
        rows.execute("update work set worker = '', lease_until = null where run_id = 'held'")
    assert told(store) == {"held": ("created", "completed")}


def test_a_failed_run_without_another_try_is_left(
    store: RunStore, platform: Counting, plain: Any
) -> None:
    platform.fails["r1"] = 9
    store.start(plain, run_id="r1")
    for _ in range(4):
        make_due(store)
        assert told(store)["r1"] == ("failed", "failed")
    make_due(store)
    assert told(store) == {}
    assert store.get("r1").failures == 5


def test_a_worker_that_was_killed_is_followed_by_a_sweep(
    store: RunStore, fresh_database: str
) -> None:
    from tests.store.work.stopped_worker import Steps

    store.create(Steps(), run_id="r1")
    dying(fresh_database, "r1")()
    swept = []
    # Found before its lease runs out, which is made so long that nobody could wait for it: as soon as
    # the server sees that the connection ended, a moment after the process on a busy machine.
    with store.database.connection() as rows:
        rows.execute("update work set lease_until = clock_timestamp() + interval '1 hour'")
    while not swept:
        swept = store.sweep(grace=0.0)
    assert [(one.run_id, one.reason, one.status) for one in swept] == [("r1", "died", "completed")]


def test_several_sweepers_go_on_with_each_run_once(
    store: RunStore, fresh_database: str, platform: Counting, plain: Any
) -> None:
    platform.delay = 0.02
    for number in range(30):
        store.create(plain, run_id=f"r{number:02}")
    with ThreadPoolExecutor(4) as sweepers:
        list(sweepers.map(lambda _: store.sweep(grace=0.0, limit=30, workers=3), range(4)))
    assert set(platform.seen.values()) == {1}
    assert len(platform.seen) == 30
    assert {(run.status, run.attempts) for run in store.list()} == {("completed", 1)}


def test_a_run_that_was_worked_on_since_it_was_found_is_not_begun_again(
    store: RunStore, gated: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.create(gated, run_id="r1")
    found = store._flows.flow_of

    def late(*arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr(store._flows, "flow_of", found)
        store.work("r1")  # another worker was quicker
        return found(*arguments, **options)

    monkeypatch.setattr(store._flows, "flow_of", late)
    store.sweep(grace=0.0)
    assert (store.get("r1").status, store.get("r1").attempts) == ("waiting", 1)


def test_the_oldest_come_first_and_what_cannot_go_on_takes_no_place(
    store: RunStore, plain: Any, fresh_database: str
) -> None:
    named = compile_flow(
        flow_of(start(port("topic", default="x")), api("first", data={"key": "{{ KEY }}"}), end()),
        platform=store._flows._host.platform,
        env={"KEY": "k"},
    )
    with RunStore.open(fresh_database, env={"KEY": "k"}) as other:
        for number in range(3):
            other.create(named, run_id=f"lacks{number}")
    for number in range(4):
        store.create(plain, run_id=f"r{number}")
    swept = store.sweep(grace=0.0, limit=2)
    assert [one.run_id for one in swept if one.status] == ["r0", "r1"]
    lacking = [one for one in swept if one.problem]
    assert [one.run_id for one in lacking] == ["lacks0", "lacks1", "lacks2"]
    assert "KEY" in lacking[0].problem


def test_a_sweep_keeps_to_a_tenant_and_gives_each_run_its_own_credentials(
    store: RunStore, plain: Any
) -> None:
    for tenant in ("acme", "beta"):
        store.create(plain, run_id=tenant, tenant=tenant)
    asked: list[tuple[str, str]] = []

    def lend(run: Run) -> HostContext:
        asked.append((run.id, run.tenant))
        return host_context(run_id=run.id, tenant=run.tenant)

    assert told(store, tenant="acme", credentials_for=lend) == {"acme": ("created", "completed")}
    assert asked == [("acme", "acme")]
    swept = store.sweep(grace=0.0, credentials_for=lambda _run: host_context(tenant="acme"))
    assert "beta" in swept[0].problem
    assert store.get("beta").attempts == 0


def test_a_port_that_raises_leaves_its_run_and_no_other(store: RunStore, plain: Any) -> None:
    store.create(plain, run_id="r1")
    store.create(plain, run_id="r2")

    def lend(run: Run) -> None:
        if run.id == "r1":
            raise ZeroDivisionError("a secret of the host")

    swept = store.sweep(grace=0.0, credentials_for=lend)
    assert [(one.run_id, one.status, one.problem) for one in swept] == [
        ("r1", "", "unexpected ZeroDivisionError"),
        ("r2", "completed", ""),
    ]


def test_an_examination_tells_what_a_sweep_would_find_and_changes_nothing(
    store: RunStore, platform: Counting, plain: Any, gated: Any, fresh_database: str
) -> None:
    assert examine(fresh_database).findings == ()
    platform.fails["r1"] = 1
    store.start(plain, run_id="r1")
    with store.database.connection() as rows:
        rows.execute("update runs set retry_at = null")
    store.start(gated, run_id="r2")
    store.decide("r2", "ok", ANN)
    found = examine(fresh_database)
    assert found.due == {"decided": 1}
    assert [(one.run_id, one.code) for one in found.dead_letters] == [
        ("r1", "platform_unreachable")
    ]
    assert (found.role, found.missing, found.powers, found.lacks) == ("oasflow", (), (), ())
    assert abs(found.clock_ahead) < 60
    assert len(found.findings) == 2
    assert examine(fresh_database, tenant="acme").findings == ()
    assert store.get("r2").attempts == 1


def test_an_examination_tells_of_tables_that_are_not_there(
    fresh_database: str, owner_database: str, store: RunStore
) -> None:
    with psycopg.connect(owner_database, autocommit=True) as rows:
        rows.execute("delete from oasflow.schema_versions where version = '010'")
    found = examine(fresh_database)
    assert found.missing == ("010",)
    assert "not up to date" in found.findings[0]
    assert "own" in " ".join(examine(owner_database).powers)
