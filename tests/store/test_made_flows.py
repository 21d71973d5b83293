"""Flows compiled from stored bytes: once for many runs, on platforms whose connections end."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cinatra_sdk import Decision, HttpPlatform, RunStore, SimulatedPlatform
from cinatra_sdk.store.runs import flow_cache
from cinatra_sdk.store.runs.flow_cache import MadeFlows, Recent
from cinatra_sdk.store.runs.run_rows import load_row
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, start

WAITS = flow_of(start(), gate("ok"), end())
BASE = "https://cinatra.example.org"
ANN = Decision.approve(by="ann")


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The digest of each file that is compiled from stored bytes, as often as it is."""
    digests: list[str] = []
    load = flow_cache.load_flow

    def count(source: bytes, *, digest: str, **how: Any) -> Any:
        digests.append(digest)
        return load(source, digest=digest, **how)

    monkeypatch.setattr(flow_cache, "load_flow", count)
    return digests


@pytest.fixture
def stores(fresh_database: str) -> Iterator[Any]:
    """Stores on one database, as other processes would open them."""
    opened: list[RunStore] = []

    def open_store(**how: Any) -> RunStore:
        opened.append(RunStore.open(fresh_database, **how))
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()


def park(store: RunStore, number: int, platform: Any = None, name: str = "r", **how: Any) -> None:
    flow = compile_flow(WAITS, platform=platform or SimulatedPlatform(), **how)
    for place in range(number):
        store.start(flow, run_id=f"{name}{place}")


def test_many_parked_runs_of_one_file_compile_it_once(stores: Any, compiled: list[str]) -> None:
    park(stores(), 20)
    assert compiled == []  # the control: who starts a run gives its flow
    other = stores()
    assert {other.answer(f"r{place}", "ok", ANN).status for place in range(20)} == {"completed"}
    assert len(compiled) == 1


def test_threads_that_need_a_file_at_once_compile_it_once(stores: Any, compiled: list[str]) -> None:
    park(stores(), 8)
    other = stores()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda place: other.flow(f"r{place}"), range(8)))
    assert len(compiled) == 1


def test_rejections_by_a_process_that_lacks_everything_compile_a_file_once(
    stores: Any, compiled: list[str]
) -> None:
    calls = flow_of(start(), gate("ok"), api("send", url="{{CRM}}/send"), end())
    flow = compile_flow(calls, platform=SimulatedPlatform(), env={"CRM": "https://crm.test"})
    for name in ("r1", "r2"):
        stores().start(flow, run_id=name)
    other = stores()
    for name in ("r1", "r2"):
        assert other.answer(name, "ok", Decision.reject(by="ann")).status == "rejected"
    assert len(compiled) == 1


def test_runs_share_an_http_platform_and_none_shares_a_simulation(stores: Any) -> None:
    first = stores()
    park(first, 2, HttpPlatform(BASE), name="h")
    park(first, 2, HttpPlatform(BASE, timeout=7), name="o")
    park(first, 2, SimulatedPlatform({"send": [{"id": 1}, {"id": 2}]}), name="s")
    other = stores(settings={"CINATRA_BASE_URL": BASE})
    made = {name: other.flow(name).platform for name in ("h0", "h1", "o0", "s0", "s1")}
    assert made["h0"] is made["h1"]
    assert made["h0"] is not made["o0"]
    assert made["s0"] is not made["s1"]
    assert other.flow("s0").platform is made["s0"], "the control: a run keeps its simulation"


def test_a_process_whose_settings_change_makes_another_platform(
    stores: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    park(stores(), 2, HttpPlatform(BASE))
    other = stores()
    monkeypatch.setenv("CINATRA_BASE_URL", BASE)
    before = other.flow("r0").platform
    monkeypatch.setenv("CINATRA_BRIDGE_TOKEN", "another-token-of-today")
    assert other.flow("r1").platform is not before


def use(platform: Any) -> Any:
    """A connection of the platform's own, as a call makes it."""
    client: Any = platform._ensure_client(None)
    return client


def test_connections_of_a_dropped_platform_end_when_nobody_works_with_it(
    stores: Any, fresh_database: str
) -> None:
    first = stores()
    park(first, 1, HttpPlatform(BASE), name="a")
    park(first, 1, HttpPlatform(BASE, timeout=7), name="b")
    host = stores(settings={"CINATRA_BASE_URL": BASE})._flows._host
    flows = MadeFlows(first.database, host, most=1)

    def make(name: str) -> Any:
        with first.database.connection() as rows:
            return flows.make(rows, load_row(rows, name))

    working = make("a0")
    client = use(working.platform)
    make("b0")
    gc.collect()
    assert not client.is_closed, "the run is worked on, and its flow is only dropped"
    del working
    gc.collect()
    assert client.is_closed
    assert make("a0").platform is not None
    flows.close()


def test_a_store_that_closes_ends_the_connections_that_it_made_and_no_lent_ones(
    stores: Any,
) -> None:
    park(stores(), 1, HttpPlatform(BASE))
    other = stores(settings={"CINATRA_BASE_URL": BASE})
    working = other.flow("r0")
    made = use(working.platform)
    lent = HttpPlatform(BASE)
    lending = stores(platform=lent)
    assert lending.flow("r0").platform is lent
    own = use(lent)
    for store in (other, lending):
        store.close()
    assert (made.is_closed, own.is_closed) == (True, False)
    lent.close()


def test_what_was_not_used_for_the_longest_time_is_dropped() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.keep("a", 1)
    recent.keep("b", 2)
    assert recent.get("a") == 1
    recent.keep("c", 3)
    assert [recent.get(name) for name in "abc"] == [1, None, 3]
    recent.clear()
    assert recent.get("a") is None
