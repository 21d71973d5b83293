"""A credential in the runtime context is found nowhere afterwards.

The canary goes everywhere a run can take it: sent to the platform, echoed by the platform in an
answer and in an error, raised by a tool.  Then every byte of every table is searched, and every
log line, error text, interrupt and event.
"""

from __future__ import annotations

import copy
import http.server
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from cinatra_sdk import Decision, HttpPlatform, NodeFailed, RunStore, SimulatedPlatform
from cinatra_sdk.postgres.connection import connect
from oas_compiler import compile_flow
from tests.flows import api, end, flow_node, flow_of, gate, message, port, start, tool

RUN_TOKEN = "canary-run-token-5f1d0c77"
BEARER = "canary-bearer-91ab33ee"
BRIDGE = "canary-bridge-77aa01cc"
CANARIES = (RUN_TOKEN, BEARER, BRIDGE)


class _Echo(http.server.BaseHTTPRequestHandler):
    """Sends back what it was sent, credentials and all."""

    seen: list[dict[str, str]]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        headers = {key.lower(): value for key, value in self.headers.items()}
        self.seen.append(headers)
        text = json.dumps(headers)
        failing = self.path.endswith("/fail")
        body = json.dumps({"echo": headers, "text": text, "error": text, "message": text}).encode()
        self.send_response(500 if failing else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        return


@pytest.fixture
def echo() -> Iterator[Any]:
    class Handler(_Echo):
        seen: list[dict[str, str]] = []  # noqa: RUF012 - one list per test

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", Handler
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def leak(x: str) -> str:
    raise RuntimeError(f"no access with {RUN_TOKEN} and {BEARER}")


def flow() -> Any:
    inner = flow_of(
        start(port("x")), api("llm-bridge", outputs=[port("echo", "object"), port("text")]),
        gate("look", inputs=[port("text")]), end(port("text")),
        id_="inner", edges=[("llm-bridge", "text", "look", "text"), ("llm-bridge", "text", "end", "text")],
    )  # fmt: skip
    return flow_of(
        start(port("x", default="x"), port("way", default="tool")),
        api("llm-bridge2", url="{{CINATRA_BASE_URL}}/api/llm-bridge", outputs=[port("echo", "object")]),
        flow_node("sub", inner),
        gate("confirm"),
        api("fail"),
        tool("leak", "leak", [port("x")], [port("y")]),
        end(),
        edges=[("start", "x", "sub", "x"), ("start", "x", "leak", "x")],
    )  # fmt: skip


def every_byte(dsn: str) -> dict[str, bytes]:
    """The binary content of every table of the database."""
    content = {}
    with connect(dsn) as connection:
        tables = connection.execute(
            "select format('%I.%I', schemaname, tablename) as name from pg_tables "
            "where schemaname not in ('pg_catalog', 'information_schema')"
        ).fetchall()
        for row in tables:
            with connection.cursor().copy(f"copy {row['name']} to stdout (format binary)") as copy:  # type: ignore[call-overload]
                content[row["name"]] = b"".join(bytes(part) for part in copy)
    return content


def test_no_canary_is_left_in_tables_logs_errors_interrupts_or_events(
    fresh_database: str, echo: Any, caplog: pytest.LogCaptureFixture, capfd: Any
) -> None:
    url, handler = echo
    texts: list[str] = []
    platform = HttpPlatform(base_url=url, retries=0, bridge_token=BRIDGE, attestation_key="k" * 20)
    made = compile_flow(flow(), platform=platform, tools={"leak": leak})
    context = made.context(run_id="r1", run_token=RUN_TOKEN, bearer_token=BEARER)
    with caplog.at_level(logging.DEBUG), RunStore.open(fresh_database) as store:

        def note(run: Any) -> Any:
            texts.append(repr(run))
            texts.extend(json.dumps(gate.to_json()) for gate in run.waiting)
            return run

        run = note(
            store.start(
                made, {}, run_id="r1", context=context, on_event=lambda e: texts.append(repr(e))
            )
        )
        for _ in range(2):
            gate_id = run.waiting[0].id
            run = note(store.answer("r1", gate_id, Decision.approve(by="ann"), context=context))
        assert run.status == "failed"
        assert run.error["node"] == "fail"
        texts.append(repr(store.decisions("r1")))
        texts.append(repr(platform) + json.dumps(platform.describe()) + repr(context))
    # Control: the platform did get the credentials, so there was something to leak.
    sent = handler.seen[0]
    assert sent["x-cinatra-run-token"] == RUN_TOKEN
    assert BEARER in sent["authorization"]
    assert sent["x-cinatra-bridge-token"] == BRIDGE

    tables = every_byte(fresh_database)
    assert len(tables) >= 6
    assert b"redacted" in b"".join(tables.values())
    out, err = capfd.readouterr()
    logged = "\n".join(record.getMessage() for record in caplog.records)
    for canary in CANARIES:
        found = [name for name, data in tables.items() if canary.encode() in data]
        assert found == [], canary
        assert canary not in logged + out + err
        assert not [text for text in texts if canary in text], canary


def test_a_tool_that_raises_with_a_credential_leaves_none(fresh_database: str) -> None:
    simple = flow_of(
        start(port("x", default="x")), tool("leak", "leak", [port("x")], [port("y")]), end(),
        edges=[("start", "x", "leak", "x")],
    )  # fmt: skip
    made = compile_flow(simple, tools={"leak": leak})
    context = made.context(run_token=RUN_TOKEN, bearer_token=BEARER)
    with RunStore.open(fresh_database) as store:
        run = store.start(made, {}, run_id="r1", context=context)
        assert run.error is not None
        assert run.error["message"].count("[redacted]") == 2  # type: ignore[union-attr]
    joined = b"".join(every_byte(fresh_database).values())
    assert RUN_TOKEN.encode() not in joined
    assert BEARER.encode() not in joined


class _Mute(Exception):
    def __str__(self) -> str:
        raise ValueError(RUN_TOKEN)


def _exit(x: str) -> str:
    raise SystemExit(f"login failed for {RUN_TOKEN}")


def _mute(x: str) -> str:
    raise _Mute(RUN_TOKEN)


def _named(x: str) -> str:
    raise type(RUN_TOKEN, (Exception,), {})("no")


def _far(x: str) -> str:
    raise RuntimeError("x" * 470 + RUN_TOKEN)


def _chained(x: str) -> str:
    try:
        raise ValueError(RUN_TOKEN)
    except ValueError as error:
        raise RuntimeError("outer") from error


def _returns(x: str) -> str:
    return f"the token is {RUN_TOKEN}"


@pytest.mark.parametrize("broken", [_exit, _mute, _named, _far, _chained, _returns])
def test_no_way_out_of_a_tool_carries_a_credential(
    fresh_database: str, broken: Any, caplog: pytest.LogCaptureFixture
) -> None:
    simple = flow_of(
        start(port("x", default="x")), tool("t", "t", [port("x")], [port("y")]), end(port("y")),
        edges=[("start", "x", "t", "x"), ("t", "y", "end", "y")],
    )  # fmt: skip
    made = compile_flow(simple, platform=SimulatedPlatform(), tools={"t": broken})
    context = made.context(run_id="r1", run_token=RUN_TOKEN, bearer_token=BEARER)
    with caplog.at_level(logging.DEBUG), RunStore.open(fresh_database) as store:
        run = store.start(made, {}, run_id="r1", context=context)
        assert run.status == ("completed" if broken is _returns else "failed")
    assert RUN_TOKEN not in repr(run) + caplog.text
    assert RUN_TOKEN.encode() not in b"".join(every_byte(fresh_database).values())
    # Nor does the exception of the plain graph hold it anywhere in its chain.
    if broken is _returns:
        return
    with pytest.raises(NodeFailed) as caught:
        made.graph().invoke(made.input({}), context=context)
    chain: BaseException | None = caught.value
    while chain is not None:
        assert RUN_TOKEN not in f"{chain!r}{type(chain).__name__}"
        chain = chain.__cause__ or chain.__context__


def test_the_search_of_these_tests_finds_what_is_there(fresh_database: str) -> None:
    # Control: a value of the input is found, in text and in binary columns.
    made = compile_flow(flow_of(start(port("x")), gate("g"), end()))
    with RunStore.open(fresh_database) as store:
        store.start(made, {"x": "planted-value-123"}, run_id="r1")
    found = [
        name for name, data in every_byte(fresh_database).items() if b"planted-value-123" in data
    ]
    assert "oasflow.runs" in found
    assert "oasflow.checkpoint_blobs" in found


PLACED = "canary-placeholder/4b q1"
EVERYWHERE = {
    "url": api("call", url="{{CINATRA_BASE_URL}}/{{SECRET}}/echo"),
    "refused url": api("call", url="https://elsewhere.test/{{SECRET}}"),
    "refused host": api("call", url="https://{{SECRET}}/"),
    "failed call": api("call", url="{{CINATRA_BASE_URL}}/{{SECRET}}/fail"),
    "header": api("call", headers={"X-Secret": "{{SECRET}}"}),
    "query": api("call", query_params={"secret": "{{SECRET}}"}),
    "body": api("call", data={"a": [{"b": "x {{ SECRET }}"}]}, headers={"X-Secret": "{{SECRET}}"}),
    "message": message("say", "a {{SECRET}} b"),
    "message with an expression": message("say", "a {{ SECRET ~ 'x' }} b"),
    "gate": gate("ask", output=port("said", default="{{SECRET}}")),
    "message of a gate": {**gate("ask"), "message": "{{SECRET}}"},
    "name": {**message("say", "x"), "name": "{{SECRET}}"},
    "id": message("{{SECRET}}", "x"),
}


@pytest.mark.parametrize("where", EVERYWHERE)
def test_no_value_of_a_placeholder_is_left_wherever_it_stands(
    fresh_database: str, echo: Any, caplog: pytest.LogCaptureFixture, where: str
) -> None:
    url, _handler = echo
    one = copy.deepcopy(EVERYWHERE[where])
    if one["component_type"] == "ApiNode":
        one["outputs"] = [port("echo", "object"), port("text", "string", default="")]
    simple = flow_of(start(port("x", default="{{SECRET}}")), one, end())
    platform = HttpPlatform(base_url=url, retries=0)
    events: list[str] = []
    with caplog.at_level(logging.DEBUG), RunStore.open(fresh_database) as store:
        made = compile_flow(simple, platform=platform, env={"SECRET": PLACED})
        run = store.start(made, {}, run_id="r1", on_event=lambda e: events.append(repr(e)))
        texts = [repr(run), repr(run.error), caplog.text, made.mermaid(), *events]
        texts += [json.dumps(gate.to_json()) for gate in run.waiting]
    tables = b"".join(every_byte(fresh_database).values())
    assert b"SECRET" in tables  # the name is kept: another process gives the value again
    for spelt in (PLACED, PLACED.replace("/", "%2F"), "canary-placeholder"):
        assert spelt.encode() not in tables
        assert not [text for text in texts if spelt in text]
