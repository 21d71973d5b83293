"""Capabilities of the loop by the type of their adapter: a request to a server, a tool of an MCP server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, HostParts, RunStore, SimulatedPlatform
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from graphs.governed_run import flow as governed_run
from tests.governance.packs import make_registry, put, read_pack
from tests.governance.refund import FINANCE, TENANT, count_refunds, lend_refund, request
from tests.mcp.shop_server import make_server
from tests.platform.loopback_server import LoopbackServer, Reply

PLACE = "tooling_layer/adapters/0"
LOOK_UP = f"{PLACE}/capability_metadata/lookup/binds_to"


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    opened = LoopbackServer()
    yield opened
    opened.close()


@pytest.fixture
def platform(server: LoopbackServer) -> Iterator[HttpPlatform]:
    with HttpPlatform(server.url, retries=0) as opened:
        yield opened


def lend(
    folder: Path, kind: str, binds_to: str, endpoint_ref: str = "orders", **parts: Any
) -> HostParts:
    """The refund, whose order is looked up by an adapter of that type."""
    pack = put(put(read_pack(), f"{PLACE}/type", kind), LOOK_UP, binds_to)
    pack = put(pack, f"{PLACE}/endpoint_ref", endpoint_ref)
    lent = lend_refund(folder / "refunds", registry=make_registry(pack))
    lent = lent.with_parts(**parts, graphs=())
    return lent.with_parts(graphs=[governed_run.lent(lent)])


def refund(dsn: str, parts: HostParts, flags: str = "01") -> tuple[Any, dict[str, Any], Any]:
    """The run after finance approved, its first call, and its last record."""
    with RunStore.open(dsn, host=parts) as store:
        asked = put(request(), "trace/trace_flags", flags)
        run = store.start(parts.graphs[0], {"request": asked}, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
        if run.status == "waiting":
            run = store.answer(run.id, "gate", Decision.approve(by=FINANCE))
        records = DecisionRecords(store.database)
        last = records.get(records.page(run_id=run.id).items[0].record.record_id)
        return run, last.transcript["calls"][0], last.record


@pytest.mark.parametrize("kind", ["http", "openapi"])
def test_a_request_is_sent_with_its_key_and_its_place_in_the_trace(
    fresh_database: str, tmp_path: Path, server: LoopbackServer, platform: HttpPlatform, kind: str
) -> None:
    server.answers({"order_id": "ord_881", "total_inr": 4200})
    parts = lend(tmp_path, kind, "POST {{CINATRA_BASE_URL}}/api/orders", platform=platform)
    run, call, record = refund(fresh_database, parts, flags="00")
    assert (run.status, count_refunds(tmp_path / "refunds")) == ("completed", 1)
    (seen,) = server.seen
    assert (seen.method, seen.path) == ("POST", "/api/orders")
    assert json.loads(seen.body) == {"order_id": "ord_881"}
    assert seen.headers["idempotency-key"]
    assert seen.headers["traceparent"].split("-")[1] == request()["trace"]["trace_id"]
    assert seen.headers["traceparent"].endswith("-00"), "whoever asked wants no samples"
    assert call["result"]["status"] == "ok"
    assert call["result"]["output"]["total_inr"] == 4200
    assert not any("simulated" in one for one in record.rationale.reasons)


def test_an_answer_of_500_is_a_failure_that_the_record_tells(
    fresh_database: str, tmp_path: Path, server: LoopbackServer, platform: HttpPlatform
) -> None:
    server.answers(Reply(status=500, body=b'{"error": "down"}'))
    parts = lend(tmp_path, "http", "POST {{CINATRA_BASE_URL}}/api/orders", platform=platform)
    run, call, record = refund(fresh_database, parts)
    assert (run.status, record.status) == ("failed", "ESCALATED")
    assert (call["result"]["status"], count_refunds(tmp_path / "refunds")) == ("failed", 0)
    assert "500" in str(call["result"]["error"])


def test_a_request_that_a_simulation_answers_is_told_as_such(
    fresh_database: str, tmp_path: Path
) -> None:
    platform = SimulatedPlatform({"step": {"order_id": "ord_881", "total_inr": 4200}})
    parts = lend(tmp_path, "http", "POST {{CINATRA_BASE_URL}}/api/orders", platform=platform)
    run, call, record = refund(fresh_database, parts)
    assert run.status == "completed", run.error
    assert call["result"]["metadata"]["simulated"] is True
    assert "simulated, so nothing happened outside: order" in record.rationale.reasons


def test_a_tool_of_an_mcp_server(fresh_database: str, tmp_path: Path) -> None:
    made: list[Any] = []
    shop = make_server(made)

    @shop.tool()
    def look_up(order_id: str) -> dict[str, Any]:
        made.append(order_id)
        return {"order_id": order_id, "total_inr": 4200}

    parts = lend(tmp_path, "mcp", "look_up", mcp={"orders": shop})
    run, call, _ = refund(fresh_database, parts)
    assert run.status == "completed", run.error
    assert made == ["ord_881"]
    assert call["result"]["output"]["total_inr"] == 4200


@pytest.mark.parametrize("lent_as", ["shop", "*"])
def test_a_tool_of_an_mcp_server_is_named_as_for_a_compiled_flow(
    fresh_database: str, tmp_path: Path, lent_as: str
) -> None:
    shop = make_server([])

    # One server for every name has a tool of the whole name.
    @shop.tool(name="look_up" if lent_as == "shop" else "shop/look_up")
    def look_up(order_id: str) -> dict[str, Any]:
        return {"order_id": order_id, "total_inr": 4200}

    parts = lend(tmp_path, "mcp", "shop/look_up", endpoint_ref="", mcp={lent_as: shop})
    run, call, _ = refund(fresh_database, parts)
    assert run.status == "completed", run.error
    assert call["result"]["output"]["total_inr"] == 4200


@pytest.mark.parametrize(
    ("of_pack", "of_capability", "done"),
    [(20, None, False), (20, 60_000, False), (60_000, 20, False), (60_000, None, True)],
)
def test_the_shortest_time_that_a_pack_or_a_capability_says_holds(
    fresh_database: str, tmp_path: Path, of_pack: int, of_capability: int | None, done: bool
) -> None:
    pack = put(read_pack(), "pack_meta/environment_defaults/tool_timeout_ms", of_pack)
    if of_capability is not None:
        pack = put(pack, f"{PLACE}/capability_metadata/lookup/timeout_ms", of_capability)
    over = threading.Event()

    def look_up(order_id: str) -> dict[str, Any]:
        over.wait(0.01 if done else 30)
        return {"order_id": order_id, "total_inr": 4200}

    lent = lend_refund(tmp_path / "refunds", registry=make_registry(pack))
    lent = lent.with_parts(tools={**lent.tools, "lookup_order": look_up}, graphs=())
    run, call, _ = refund(fresh_database, lent.with_parts(graphs=[governed_run.lent(lent)]))
    over.set()
    assert run.status == ("completed" if done else "failed"), run.error
    assert call["result"]["status"] == ("ok" if done else "failed")


@pytest.mark.parametrize(
    ("kind", "binds_to", "said"),
    [
        ("mcp", "look_up", "lends no MCP server 'orders'"),
        ("tool", "nowhere", "lends no tool 'nowhere'"),
        ("http", "orders", "binds to no request"),
    ],
)
def test_what_the_host_does_not_lend_is_named(
    fresh_database: str, tmp_path: Path, kind: str, binds_to: str, said: str
) -> None:
    run, call, record = refund(fresh_database, lend(tmp_path, kind, binds_to))
    assert (run.status, record.status) == ("failed", "ESCALATED")
    assert said in str(call["result"]["error"])
    assert count_refunds(tmp_path / "refunds") == 0
