"""Contexts, tenants and short names, handed to a store for a run that they are not meant for.

In every database wait two runs at a gate in front of a call: `r1` of the tenant globex, and `r2`
of nobody.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cinatra_sdk import Decision, FlowError, HostContext, RunStore, SimulatedPlatform
from cinatra_sdk.langgraph_threads.host_context import host_context
from cinatra_sdk.outside.http_calls.protocol import Credentials
from cinatra_sdk.store import run_store
from cinatra_sdk.store.decisions import decision_entry
from cinatra_sdk.store.flows import context_owner
from cinatra_sdk.store.runs import lists
from oas_compiler import compile_flow
from tests.attacks import families
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place
from tests.attacks.trust_runs import command
from tests.flows import api, end, flow_of, gate, start

TOKEN = "canary-token-4c1e"
FILE = flow_of(start(), gate("ok"), api("send"), end())


def attempt(attack: Attack, place: Place) -> str:
    value = attack.value
    platform = Keeping()
    flow = compile_flow(FILE, platform=platform)
    with RunStore.open(place.database) as store:
        if "runs" in value:
            return _named(store, flow, value)
        store.start(flow, run_id="r1", tenant="globex")
        store.start(flow, run_id="r2")
        if "start" in value:
            return _started(store, flow, attack)
        if "call" in value:
            return _looked_at(store, value)
        if "moved" in value:
            return _moved(store, platform, place)
        if "cli" in value:
            return _commanded(store, value, place)
        return _driven(store, attack, platform)


class Keeping(SimulatedPlatform):
    """A simulation that keeps who was said to call."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens: list[str] = []

    def call(self, call: Any) -> Any:
        self.tokens += [call.credentials.run_token, call.credentials.bearer_token]
        return super().call(call)


def _context(attack: Attack) -> Any:
    said = attack.value.get("context")
    if said is None:
        return None
    said = {key: TOKEN if text == "T" else text for key, text in said.items()}
    how = attack.value.get("how", "")
    if how == "dict":
        return said
    made = host_context(**said)
    if how == "own mark":
        return replace(made, mark=object())
    if how == "unmarked":
        held = Credentials(run_token=said.get("run_token", ""))
        return HostContext(run_id=made.run_id, tenant=made.tenant, credentials=held)
    return made


def _driven(store: RunStore, attack: Attack, platform: Keeping) -> str:
    run_id = "r2" if "nobody" in attack.door else "r1"
    kwargs = {"context": _context(attack)}
    if "tenant" in attack.value:
        kwargs["tenant"] = attack.value["tenant"]
    by = Decision.reject(by="eve") if attack.door == "reject" else Decision.approve(by="eve")
    try:
        if attack.door == "resume":
            run = store.resume(run_id, **kwargs)
        elif attack.door == "aresume":
            run = asyncio.run(store.aresume(run_id, **kwargs))
        elif attack.door == "aanswer":
            run = asyncio.run(store.aanswer(run_id, "ok", by, **kwargs))
        else:
            run = store.answer(run_id, "ok", by, **kwargs)
    except FlowError as error:
        kept = store.decisions(run_id) or store.get(run_id).attempts != 1 or platform.calls
        told = "opened: the token is told" if TOKEN in str(error) else type(error).__name__
        return f"{told}, {'something' if kept else 'nothing'} recorded"
    return run.status


def _started(store: RunStore, flow: Any, attack: Attack) -> str:
    how = attack.value["start"]
    try:
        if attack.door == "astart":
            run = asyncio.run(store.astart(flow, context=_context(attack), **how))
        else:
            run = store.start(flow, context=_context(attack), **how)
    except FlowError as error:
        return f"{type(error).__name__}, {'a run' if len(store.list()) > 2 else 'no run'}"
    return run.status


def _looked_at(store: RunStore, value: Any) -> str:
    tenant = value.get("tenant", "acme")
    args = value.get("args") or ["r1"]
    if value["call"] == "answer":
        args = ["r1", "ok", Decision.approve(by="eve")]
    try:
        found = getattr(store, value["call"])(*args, tenant=tenant)
        if asyncio.iscoroutine(found):
            found = asyncio.run(_awaited(found))
    except FlowError as error:
        same = store.get("r1").status == "waiting"
        return type(error).__name__ if same else "opened: the run is no more what it was"
    return "found"


async def _awaited(work: Any) -> Any:
    return await work


def _moved(store: RunStore, platform: Keeping, place: Place) -> str:
    """The row becomes another tenant's after the decision, before the run is driven."""
    original = run_store.activate

    def moved(database: Any, run_id: str, *args: Any, **kwargs: Any) -> Any:
        with RunStore.open(place.owners_database) as theirs, theirs.database.connection() as rows:
            rows.execute("update runs set tenant = 'acme' where run_id = 'r1'")
        return original(database, run_id, *args, **kwargs)

    place.monkeypatch.setattr(run_store, "activate", moved)
    context = host_context(tenant="globex", run_token=TOKEN)
    try:
        store.answer("r1", "ok", Decision.approve(by="ann"), context=context)
    except FlowError as error:
        return f"{type(error).__name__}, {'something' if platform.calls else 'nothing'} sent"
    return "opened: sent" if TOKEN in platform.tokens else "went on"


def _named(store: RunStore, flow: Any, value: Any) -> str:
    for run_id, tenant in value["runs"].items():
        store.start(flow, run_id=run_id, tenant=tenant)
    how = {key: value[key] for key in ("tenant", "to_act") if key in value}
    try:
        return store.find(value["typed"], **how)
    except FlowError as error:
        return type(error).__name__


def _commanded(store: RunStore, value: Any, place: Place) -> str:
    place.monkeypatch.setenv("DATABASE_URL", place.database)
    for name, text in value.get("env", {}).items():
        place.monkeypatch.setenv(name, text)
    done = command(*value["cli"])
    if done.exit_code == 0:
        return "exit 0"
    code = json.loads(done.stdout).get("error", {}).get("code", "no error")
    kept = any(store.decisions(run.id) or run.attempts != 1 for run in store.list())
    return f"exit {done.exit_code} {code}, {'something' if kept else 'nothing'} recorded"


# ----------------------------------------------------------------------------- controls


@contextlib.contextmanager
def _nobody_compares(place: Place) -> Iterator[None]:
    """The context is taken as it is given."""

    def bound(given: Any, *, run_id: str, tenant: str, named: str | None = None) -> HostContext:
        host = given if isinstance(given, HostContext) else host_context()
        return replace(host, run_id=run_id, tenant=tenant, mark=host_context().mark)

    with place.monkeypatch.context() as patch:
        for module in ("run_store", "runs.creation", "decisions.decision_entry", "runs.run_rows"):
            patch.setattr(f"cinatra_sdk.store.{module}.bound_context", bound)
        yield


@contextlib.contextmanager
def _nobody_compares_while_driving(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr("cinatra_sdk.store.runs.run_rows.bound_context", lambda given, **_: given)
        yield


@contextlib.contextmanager
def _a_mark_is_not_asked_for(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(context_owner, "is_host_context", lambda _given: True)
        yield


@contextlib.contextmanager
def _a_token_needs_no_tenant(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(context_owner, "_holds_credentials", lambda _host: False)
        yield


@contextlib.contextmanager
def _no_tenant_in_the_statement(place: Place) -> Iterator[None]:
    original = decision_entry.load_row

    def everybodys(connection: Any, run_id: str, tenant: Any = None, **how: Any) -> Any:
        return original(connection, run_id, None, **how)

    with place.monkeypatch.context() as patch:
        for module in (run_store, decision_entry, lists):
            patch.setattr(module, "load_row", everybodys)
        yield


@contextlib.contextmanager
def _any_beginning_will_do(place: Place) -> Iterator[None]:
    def first(typed: str, rows: Any, **_how: Any) -> str:
        return str(rows[0]["run_id"]) if rows else typed

    with place.monkeypatch.context() as patch:
        patch.setattr(lists, "the_one_meant", first)
        yield


@contextlib.contextmanager
def _given_names_are_shortened_to_act(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(lists, "SHORTEST", 1)
        patch.setattr(lists, "_MADE_UP", lists.re.compile(".*"))
        yield


CONTROLS = {
    "nobody compares the context": Control(open=_nobody_compares, row="answer-another_run"),
    "nobody compares the tenant": Control(open=_nobody_compares, row="answer-another_tenant"),
    "nobody compares at the start": Control(
        open=_nobody_compares, row="start-a_run_beside_another_one"
    ),
    "nobody looks again while driving": Control(
        open=_nobody_compares_while_driving,
        row="a_row_that_changes_hands-between_the_look_and_the_drive",
    ),
    "a mark is not asked for": Control(
        open=_a_mark_is_not_asked_for, row="answer-without_the_host's_mark"
    ),
    "a token needs no tenant": Control(
        open=_a_token_needs_no_tenant, row="answer-a_token_of_no_tenant"
    ),
    "the statement knows no tenant": Control(
        open=_no_tenant_in_the_statement, row="a_tenant's_row-get"
    ),
    "any beginning will do": Control(
        open=_any_beginning_will_do, row="short_name-the_whole_id_of_another_tenant"
    ),
    "given names are shortened": Control(
        open=_given_names_are_shortened_to_act, row="approve-a_longer_name"
    ),
}

test_attack, test_twin, test_control = families.tests_of("contexts", attempt, CONTROLS)
