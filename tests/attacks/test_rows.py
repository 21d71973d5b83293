"""Rows that the role of the runs writes below the store, to have a call made after a rejection.

r1 waits at its gate.  r2, of the same flow, was approved and stands before its send, which failed:
its rows are what r1's would be after an approval.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

import psycopg

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.errors import FlowError
from cinatra_sdk.outside.effects.door import Begun
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.work.run_ledger import RunLedger
from oas_compiler import compile_flow
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, tests_of
from tests.attacks.nested import around, inside, sent
from tests.flows import api, end, flow_of, gate, start

DOWN: Any = {"send": {"$error": {"status": 500, "code": "DOWN", "message": "down"}}}
SEND = api("send", risk="email_send")
FLOWS: dict[str, Any] = {
    "flat": flow_of(start(), api("draft"), gate("review"), SEND, end()),
    "nested": around(1),
    "two gates": flow_of(start(), gate("review"), gate("confirm"), SEND, end()),
    "no send": inside(0),
}


def attempt(attack: Attack, place: Place) -> str:
    how = attack.value
    described = FLOWS[how.get("flow", "flat")]
    with RunStore.open(place.database) as store:
        other = store.start(compile_flow(described, platform=SimulatedPlatform(DOWN)), {}, "r2")
        while other.waiting:
            other = store.answer("r2", other.waiting[0].id, Decision.approve(by="ann"))
    platform = SimulatedPlatform()
    with RunStore.open(place.database) as store:
        run = store.start(compile_flow(described, platform=platform), {}, "r1")
        write = functools.partial(written, place.database, how.get("sql", []))
        with suppress(FlowError):
            ACTS[how["act"]](store, run.waiting[0].id, write)
        for _ in range(2):
            with suppress(FlowError):
                store.resume("r1")
        run = store.get("r1")
        assert run.status in ("rejected", "completed") or not run.outputs
        return f"{run.status}, {sent(platform)} sent"


def written(dsn: str, statements: list[str]) -> None:
    """What the attacker writes, as the role that runs use."""
    with psycopg.connect(dsn, autocommit=True, options="-c search_path=oasflow") as connection:
        for statement in statements:
            connection.execute(cast("Any", statement))


def _rejected_after(store: RunStore, gate: str, write: Any) -> None:
    """The rows are there when the person says no."""
    write()
    store.answer("r1", gate, Decision.reject(by="ann"))


def _rejected_before(store: RunStore, gate: str, write: Any) -> None:
    """The person says no while another process has the run: the rows come before the next one."""
    _keep(store, gate, Decision.reject(by="ann"))
    write()


def _approved(store: RunStore, gate: str, write: Any) -> None:
    write()
    run = store.answer("r1", gate, Decision.approve(by="ann"))
    while run.waiting:
        run = store.answer("r1", run.waiting[0].id, Decision.approve(by="ann"))


def _approved_before(store: RunStore, gate: str, write: Any) -> None:
    _keep(store, gate, Decision.approve(by="ann"))
    write()


def _keep(store: RunStore, gate: str, decision: Decision) -> None:
    """Record the decision; nobody carries it out."""
    store.decide("r1", gate, decision)


ACTS: Any = {
    "rows, then a reject": _rejected_after,
    "a reject, then rows": _rejected_before,
    "rows, then an approval": _approved,
    "an approval, then rows": _approved_before,
    "rows alone": lambda _store, _gate, write: write(),
}


@contextmanager
def nobody_reads_the_decisions(place: Place) -> Iterator[None]:
    """A call is begun whatever was decided."""
    with place.monkeypatch.context() as patch:
        patch.setattr(RunLedger, "ask", lambda _self, _effect: None)
        patch.setattr(RunLedger, "begin", lambda _self, _effect: Begun())
        for name in ("finish", "fail"):
            patch.setattr(RunLedger, name, lambda _self, _effect, _what: None)
        yield


CONTROLS = {
    "a rejection that nobody looks up": Control(
        open=nobody_reads_the_decisions, row="an_answer_in_the_writes-of_the_gate's_task"
    ),
}

test_attack, test_twin, test_control = tests_of("rows", attempt, CONTROLS)
