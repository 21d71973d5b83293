"""Runs that one party started and another goes on with, and the servers that their calls reach."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Json
from typer.testing import CliRunner, Result

from cinatra_sdk import Decision, HttpPlatform, RunStore, SimulatedPlatform
from cinatra_sdk.host.host_settings import read_settings
from cinatra_sdk.host.standalone_platform import standalone
from cinatra_sdk.langgraph_threads.host_context import HostContext
from oas_compiler import compile_flow
from oas_compiler.cli.app import app_for
from tests.attacks.families import require_start
from tests.flows import api, end, flow_of, gate, start
from tests.platform.loopback_server import LoopbackServer

SECRET = "canary-secret-8d21"
SENDING = flow_of(start(), gate("ok"), api("llm-bridge"), end())
"""Waits at a gate, then calls the endpoint that gets every token there is."""
LOCAL: dict[str, Any] = {"actor": {"orgId": "acme", "principalId": "ann"}}


@dataclass
class Servers:
    """The one that the run's starter named, and the approver's own."""

    evil: LoopbackServer
    own: LoopbackServer

    def address(self, text: str) -> str:
        """`EVIL/x`, `OWN` and the like as an address."""
        https = self.evil.url.replace("http:", "https:")
        names = {
            "NUMBER": f"http://2130706433:{self.evil.port}",
            "SHORT": f"http://127.1:{self.evil.port}",
            "DOTTED": f"http://localhost.:{self.evil.port}",
            "LOCALHOST": f"http://localhost:{self.evil.port}",
            "HTTPS": https,
            "EVIL": self.evil.url,
            "OWN": self.own.url,
        }
        for name, url in names.items():
            if text.startswith(name):
                return url + text.removeprefix(name)
        return text

    def listed(self, text: str) -> str:
        """A list as a setting holds it: addresses between blanks, some with a level before them."""
        return " ".join(
            "plain:" + self.address(part.removeprefix("plain:"))
            if part.startswith("plain:")
            else self.address(part)
            for part in text.split()
        )

    @property
    def heard(self) -> str:
        """Everything that either was sent, in one text."""
        return repr([*self.evil.seen, *self.own.seen])


@contextmanager
def servers() -> Iterator[Servers]:
    made = Servers(LoopbackServer(), LoopbackServer())
    try:
        yield made
    finally:
        made.evil.close()
        made.own.close()


def begin(dsn: str, base_url: str, *, beyond: bool = False) -> None:
    """Start `r1`, whose platform is at `base_url`, and leave it at its gate."""
    with RunStore.open(dsn) as store, HttpPlatform(base_url, retries=0) as http:
        local = standalone(store.database, read_settings({"kind": "local", **LOCAL}), beyond=http)
        flow = compile_flow(SENDING, platform=local if beyond else http)
        require_start(store.start(flow, run_id="r1").status == "waiting", "the run to attack")


def begin_simulated(dsn: str, platform: SimulatedPlatform | None = None) -> None:
    with RunStore.open(dsn) as store:
        flow = compile_flow(SENDING, platform=platform or SimulatedPlatform())
        require_start(store.start(flow, run_id="r1").status == "waiting", "the run to attack")


def rewrite(dsn: str, column: str, value: Any) -> None:
    """What somebody does who can write rows: the tables' owner."""
    assert column in {"platform", "env_names", "lowering"}
    with RunStore.open(dsn) as store, store.database.connection() as connection:
        statements: Mapping[str, Any] = {
            "platform": "update runs set platform = %s",
            "env_names": "update runs set env_names = %s",
            "lowering": "update runs set lowering = %s",
        }
        connection.execute(statements[column], [Json(value) if column == "platform" else value])


def described(dsn: str) -> Any:
    with RunStore.open(dsn) as store, store.database.connection() as connection:
        row = connection.execute("select platform from runs").fetchone()
        assert row is not None
        return row["platform"]


def go_on(store: RunStore, how: str, context: HostContext | None = None) -> str:
    """Answer or resume `r1`; its status comes back."""
    approved = Decision.approve(by="ann")
    if how == "resume":
        return store.resume("r1", context=context).status
    if how == "aresume":
        return asyncio.run(store.aresume("r1", context=context)).status
    if how == "aanswer":
        return asyncio.run(store.aanswer("r1", "ok", approved, context=context)).status
    if how == "reject":
        return store.answer("r1", "ok", Decision.reject(by="ann"), context=context).status
    flow = store.flow("r1") if how == "own flow" else None
    return store.answer("r1", "ok", approved, context=context, flow=flow).status


def command(*words: str) -> Result:
    """`oasflow` in this process, which gives the product's log back afterwards."""
    log = logging.getLogger("oasflow")
    before = list(log.handlers), log.propagate
    try:
        return CliRunner().invoke(app_for(words), [*words, "--json"], catch_exceptions=False)
    finally:
        log.handlers, log.propagate = before


def everything_kept(dsn: str) -> str:
    """All rows of the runs and their checkpoints, in one text."""
    texts: list[str] = []
    with RunStore.open(dsn) as store, store.database.connection() as connection:
        for table in ("runs", "decisions", "checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            rows = connection.execute(f"select * from {table}").fetchall()  # type: ignore[arg-type]
            texts.append(repr(rows))
    return json.dumps(texts)
