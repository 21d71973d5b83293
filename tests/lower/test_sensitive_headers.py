"""The value of a sensitive header goes to its receiver, and is found nowhere afterwards."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from typer.testing import CliRunner

from cinatra_sdk import Decision, RunStore, host_context
from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
from cinatra_sdk.outside.http_calls.protocol import PlatformRefused
from cinatra_sdk.postgres.connection import connect
from oas_compiler import compile_flow
from oas_compiler.cli.app import app_for
from tests.attacks.leaks import CANARY, CRM, http, run_of
from tests.flows import api, end, flow_of, gate, port, start

LENT = "canary-lent-4711"
WRITTEN = "canary-written-0815"
HEADERS = {"X-Lent": "Bearer {{CRM_KEY}}", "X-Made": "{{CRM_KEY}}.{{ topic }}"}


def calling(headers: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    """start → call → review (a gate), which shows what the call gave."""
    made = api(
        "call", outputs=[port("echo", None)], url=f"{CRM}/x", data={"t": "{{ topic }}"},
        sensitive_headers=HEADERS if headers is None else headers, **fields,
    )  # fmt: skip
    return flow_of(
        start(port("topic", default="bees")), made, gate("review", inputs=[port("echo", None)]),
        end(port("echo", None)),
        edges=[
            ("start", "topic", "call", "topic"), ("call", "echo", "review", "echo"),
            ("call", "echo", "end", "echo"),
        ],
    )  # fmt: skip


def echo(request: httpx2.Request) -> httpx2.Response:
    """A server that hands back every header, by name and by value."""
    return httpx2.Response(200, json={"echo": dict(request.headers)})


def refuse(request: httpx2.Request) -> httpx2.Response:
    """An error that quotes every header."""
    said = " ".join(request.headers.values())
    return httpx2.Response(400, json={"error": {"code": "E", "message": said}})


@pytest.mark.parametrize("answer", [echo, refuse])
def test_nothing_of_a_run_holds_it(answer: Any) -> None:
    headers = {**HEADERS, "X-Written": WRITTEN}
    kept = run_of(calling(headers), answer, env={"CRM_KEY": LENT}, params={"topic": "bees"})
    (sent,) = kept.requests
    assert sent.headers["x-lent"] == f"Bearer {LENT}"
    assert sent.headers["x-made"] == f"{LENT}.bees"
    assert sent.headers["x-written"] == WRITTEN
    assert kept.holds("bees"), "the control: what is kept can be found"
    assert kept.holds("[redacted]")
    assert not kept.holds(CANARY)


@pytest.mark.parametrize("answer", [echo, refuse])
def test_no_row_gate_event_or_ledger_holds_it(
    answer: Any, fresh_database: str, superuser_database: str
) -> None:
    flow = compile_flow(calling(), platform=http(answer), env={"CRM_KEY": LENT})
    texts: list[str] = []
    with RunStore.open(fresh_database) as store:
        run = store.start(flow, {"topic": "bees"}, tenant="org1")
        texts.append(repr(run))
        if run.waiting:
            run = store.answer(run.id, run.waiting[0].id, Decision.approve(by="ann"))
        texts += [repr(run), repr([*store.events(run.id)])]
    with connect(superuser_database) as connection:
        tables = connection.execute(
            "select tablename from pg_tables where schemaname = 'oasflow'"
        ).fetchall()
        for table in (one["tablename"] for one in tables):
            rows = connection.execute(f"select t::text as row from oasflow.{table} t").fetchall()  # type: ignore[arg-type]
            texts += [one["row"] for one in rows]
    everything = "\n".join(texts).lower()
    spelt = [CANARY, CANARY.encode().hex()]
    assert "bees" in everything
    assert b"bees".hex() in everything, "the control: bytes are searched too"
    assert not any(word in everything for word in spelt)


def test_an_effect_names_the_header_and_keeps_its_hash_when_the_value_changes() -> None:
    seen: list[Any] = []
    for value in (LENT, "canary-new-9"):
        flow = compile_flow(calling(), platform=http(echo), env={"CRM_KEY": value})
        context = host_context(run_id="r1", ledger=MemoryLedger(), on_effect=seen.append)
        flow.graph().invoke(
            flow.input({"topic": "bees"}), flow.config(run_id="r1"), context=context
        )
    first, second = (news.effect for news in seen if news.stage == "done")
    assert first.arguments["headers"] == dict.fromkeys(HEADERS, "[sensitive]")
    assert first.request_sha256 == second.request_sha256


def test_no_view_of_the_file_shows_it(tmp_path: Any) -> None:
    path, changed = tmp_path / "a.json", tmp_path / "b.json"
    path.write_text(json.dumps(calling({"X-Written": WRITTEN})))
    changed.write_text(json.dumps(calling({"X-Written": f"{WRITTEN}-2"})))
    told = [
        CliRunner().invoke(app_for(words), [*words]).output
        for words in (
            ["ir", str(path)], ["ir", str(path), "--json"], ["explain", str(path)],
            ["explain", str(path), "--json"], ["diff", str(path), str(changed)],
            ["diff", str(path), str(changed), "--json"], ["check", str(path)],
            ["draw", str(path), "--format", "mermaid"],
        )
    ]  # fmt: skip
    assert all(CANARY not in text for text in told)
    assert '"X-Written":"[sensitive]"' in told[0]
    assert "sensitive_headers/X-Written" in told[4], "a change is told without its values"


def test_a_value_in_it_is_an_input_of_the_node() -> None:
    flow = compile_flow(calling({"X-Made": "{{ topic }}"}))
    (call,) = [node for node in flow.ir.nodes if node.id == "call"]
    assert [port.title for port in call.inputs] == ["topic"]


def test_a_url_outside_of_the_nodes_own_list_is_refused_also_by_a_simulation() -> None:
    document = calling(url_allow_list=["{{CRM_URL}}/y"])
    document["agentspec_version"] = "26.1.2"
    document["$referenced_components"]["call"]["url"] = "{{CRM_URL}}/{{ topic }}"
    flow = compile_flow(document, env={"CRM_URL": CRM, "CRM_KEY": LENT})
    with pytest.raises(PlatformRefused, match="url_allow_list") as caught:
        flow.graph().invoke(
            flow.input({"topic": "x"}), flow.config(run_id="r"), context=flow.context(run_id="r")
        )
    assert "{{CRM_URL}}/x" in str(caught.value)
    flow.graph().invoke(
        flow.input({"topic": "y"}), flow.config(run_id="r"), context=flow.context(run_id="r")
    )
