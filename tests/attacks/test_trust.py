"""What a run's starter, or who can write its row, tries to get out of the process that goes on."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from cinatra_sdk import Decision, FlowError, HttpPlatform, RunStore, SimulatedPlatform
from cinatra_sdk.langgraph_threads.host_context import host_context
from cinatra_sdk.outside.http_calls.call_addresses import AllowEntry
from cinatra_sdk.outside.http_calls.description import OwnSettings, platform_from
from cinatra_sdk.outside.http_calls.http_platform import StrangersPlatform
from cinatra_sdk.outside.http_calls.protocol import Credentials, PlatformCall
from cinatra_sdk.outside.http_calls.simulation import StubError, read_stubs
from oas_compiler import compile_flow
from tests.attacks import families, trust_lending
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, require_start
from tests.attacks.trust_runs import (
    LOCAL,
    SECRET,
    SENDING,
    Servers,
    begin,
    begin_simulated,
    command,
    described,
    everything_kept,
    go_on,
    rewrite,
    servers,
)
from tests.cli.oasflow_process import Oasflow
from tests.flows import api, end, flow_of, gate, message, start

CONTENT = "canary-content"


def attempt(attack: Attack, place: Place) -> str:
    for key, how in _HOW.items():
        if key in attack.value:
            return how(attack.value, place)
    with servers() as there:
        return _sent(attack.value, place, there)


# ------------------------------------------------------------------- variables


def _variable(value: Any, place: Place) -> str:
    """The starter names a variable; the approver has one of that name in the environment."""
    name, held = value["name"], {"V": SECRET}
    if not value.get("unset"):
        place.monkeypatch.setenv(name, SECRET)
    with RunStore.open(place.database) as store:
        flow = compile_flow(_using(name, value["place"]), env={name: "mine"}, platform=_quiet())
        require_start(store.start(flow, run_id="r1").status == "waiting", "the run to attack")
    lent = {key: held.get(text, text) for key, text in value.get("lent", {}).items()}
    platform = SimulatedPlatform()
    with RunStore.open(place.database, platform=platform, env=lent) as store:
        try:
            status = go_on(store, value.get("how", "answer"))
        except FlowError as error:
            status = type(error).__name__
        kept = store.decisions("r1") and status == "NotConfigured"
    seen = repr(platform.calls) + ("" if lent else everything_kept(place.database))
    if kept or (SECRET in seen and not lent):
        return "opened"
    return f"{status}, {'sent' if platform.calls else 'nothing sent'}"


def _using(name: str, where: str) -> Any:
    mark = "{{" + name + "}}"
    here: dict[str, Any] = {
        "url": {"url": "{{CINATRA_BASE_URL}}/api/" + mark},
        "body": {"data": {"x": mark}},
        "header": {"headers": {"x-key": mark}},
        "query": {"query_params": {"key": mark}},
        "message": {},
    }[where]
    return flow_of(
        start(), gate("ok"), message("told", f"it is {mark}"), api("send", **here), end()
    )


def _quiet() -> SimulatedPlatform:
    return SimulatedPlatform()


def _compiled(value: Any, _place: Place) -> str:
    with contextlib.suppress(TypeError):
        return _raised(lambda: compile_flow(SENDING, env={value["compile"]: "x"}))
    return "TypeError"


def _lent(value: Any, place: Place) -> str:
    place.monkeypatch.setenv("CINATRA_RUN_TOKEN", SECRET)
    names = value["lend"]
    env = dict(os.environ) if names == "*" else dict.fromkeys(names, SECRET)
    return _raised(lambda: RunStore.open(place.database, env=env).close())


def _raised(work: Callable[[], object]) -> str:
    try:
        work()
    except FlowError as error:
        return "opened: told" if SECRET in str(error) else type(error).__name__
    return "opened"


def _lend(store: Any, env: Any) -> None:
    """Give the store's flows values that no door lets in."""
    for holder in (store._flows, store._flows._made):
        holder._host = _with_env(holder._host, env)


def _with_env(parts: Any, env: Any) -> Any:
    """The parts of a host that hold what the record itself refuses."""
    forged = copy.copy(parts)
    object.__setattr__(forged, "env", {**parts.env, **env})
    return forged


def _row_env(value: Any, place: Place) -> str:
    begin_simulated(place.database)
    rewrite(place.owners_database, "env_names", value["row_env"])
    for name in value["row_env"]:
        place.monkeypatch.setenv(name, SECRET)
    platform = SimulatedPlatform()
    with RunStore.open(place.database, platform=platform) as store:
        # Whatever the process holds: the name alone is refused.
        _lend(store, dict.fromkeys(value["row_env"], SECRET))
        return f"{_raised(lambda: go_on(store, 'answer'))}, {_number(platform.calls)} sent"


def _number(calls: Any) -> str:
    return "something" if calls else "nothing"


def _replaced(value: Any, place: Place) -> str:
    flow = compile_flow(SENDING, platform=_quiet())
    forged = replace(flow, host=_with_env(flow.host, {value["replaced"]: SECRET}))
    with RunStore.open(place.database) as store:
        if value["how"] == "start":
            came = _raised(lambda: store.start(forged, run_id="r1"))
            return came if not store.list() else "opened"
        store.start(flow, run_id="r1")
        by = Decision.approve(by="ann")
        came = _raised(lambda: store.answer("r1", "ok", by, flow=forged))
        return came if not store.decisions("r1") else "opened"


def _commanded(value: Any, place: Place) -> str:
    place.monkeypatch.setenv("DATABASE_URL", place.database)
    place.monkeypatch.setenv("CINATRA_BRIDGE_TOKEN", SECRET)
    flow = place.folder / "flow.json"
    flow.write_text(json.dumps(SENDING))
    with RunStore.open(place.database) as store:
        made = compile_flow(SENDING, env={"CRM_URL": "x"}, platform=_quiet())
        store.start(made, run_id="r1")
        for name, text in value.get("env", {}).items():
            place.monkeypatch.setenv(name, text)
        words = [str(flow) if word == "FLOW" else word for word in value["cli"]]
        done = command(*words)
        if SECRET in done.output or (done.exit_code and store.decisions("r1")):
            return "opened"
    if done.exit_code in (0, 3):
        return f"exit {done.exit_code}"
    return f"exit {done.exit_code} {json.loads(done.stdout)['error']['code']}"


# ------------------------------------------------------------------------- tokens


def _sent(value: Any, place: Place, there: Servers) -> str:
    """A run at the starter's address is gone on with, by a process that holds secrets."""
    begin(
        place.database, there.address(value.get("url", "EVIL")), beyond=value.get("beyond", False)
    )
    _rewritten(value, place, there)
    given = {
        name: SECRET if text == "S" else there.listed(text)
        for name, text in value.get("settings", {}).items()
    }
    for name, text in given.items():
        place.monkeypatch.setenv(name, text)
    token = value.get("token", "")
    held = {name: SECRET for name in ("run_token", "bearer_token") if token in (name, "both")}
    context = host_context(run_id="r1", **held) if held else None
    own = HttpPlatform(there.evil.url, retries=0) if value.get("given") else None
    with contextlib.ExitStack() as stack:
        platform = None if own is None else stack.enter_context(own)
        store = stack.enter_context(RunStore.open(place.database, platform=platform))
        try:
            status = go_on(store, value.get("how", "answer"), context)
        except FlowError as error:
            told = "opened: told" if SECRET in str(error) else type(error).__name__
            kept = store.decisions("r1")
            return f"{told}, {'something' if kept or there.evil.seen else 'nothing'} sent"
    calls = len(there.evil.seen) + len(there.own.seen)
    return f"{status}, {'with the' if SECRET in there.heard else 'without a'} token" + (
        "" if calls == 1 else f" in {calls} calls"
    )


def _rewritten(value: Any, place: Place, there: Servers) -> None:
    """The row as somebody else left it."""
    if "lowering" in value:
        rewrite(place.owners_database, "lowering", value["lowering"])
    stubs = place.folder / "stubs.yaml"
    stubs.write_text(f"llm-bridge: {{x: {CONTENT}}}")

    def filled(item: Any) -> Any:
        if item == "STUBS_FILE":
            return str(stubs)
        return {k: filled(v) for k, v in item.items()} if isinstance(item, dict) else item

    if "row" in value:
        now = {"kind": "http", "base_url": there.evil.url, "allow": [], "retries": 0}
        asked = dict(value["row"])
        if isinstance(asked.get("base_url"), str):
            asked["base_url"] = there.address(asked["base_url"])
        rewrite(place.owners_database, "platform", now | asked)
    elif "whole" in value:
        rewrite(place.owners_database, "platform", filled(value["whole"]))
    elif "beyond_of" in value:
        local = {"kind": "local", **LOCAL, "beyond": filled(value["beyond_of"])}
        rewrite(place.owners_database, "platform", local)


def _stranger(value: Any, _place: Place) -> str:
    held = dict.fromkeys(value["stranger"], SECRET)
    call = PlatformCall(
        node="n", path="n", method="POST", url="{{CINATRA_BASE_URL}}/api/llm-bridge", run_id="r1",
        context_id=SECRET if "context_id" in value else "r1", credentials=Credentials(**held),
    )  # fmt: skip
    with servers() as there:
        made = platform_from({"kind": "http", "base_url": there.evil.url}, env={})
        assert isinstance(made, HttpPlatform)
        with made:
            if value.get("how") == "acall":
                asyncio.run(_acalled(made, call))
            else:
                made.call(call)
        return f"called {'with the' if SECRET in there.heard else 'without a'} token"


async def _acalled(platform: HttpPlatform, call: PlatformCall) -> None:
    async with platform:
        await platform.acall(call)


def _patience(value: Any, _place: Place) -> str:
    asked = {k: 10**400 if v == "HUGE" else v for k, v in value["patience"].items()}
    said = {"kind": "http", "base_url": "https://a.example", **asked}
    now: Any = platform_from(said, env={}).describe()
    return "within bounds" if now["timeout"] <= 600 and now["retries"] <= 10 else "opened"


# -------------------------------------------------------------------------- files


def _recorded(value: Any, place: Place) -> str:
    """A file of the approver's that the starter named as the record."""
    theirs = place.folder / "notes.txt"
    theirs.write_text("mine\n")
    target = theirs
    if value["record"] == "link":
        target = place.folder / "link"
        target.symlink_to(theirs)
    elif value["record"] == "missing":
        target = place.folder / "no" / "such" / "file"
    wanted = value["record"] == "started"
    begin_simulated(place.database, SimulatedPlatform(record=target if wanted else None))
    simulated = {"kind": "simulated", "stubs": {}, "record": str(target)}
    if value["record"] == "beyond":
        local = {"kind": "local", **LOCAL, "beyond": simulated}
        rewrite(place.owners_database, "platform", local)
    elif value["record"] not in ("started", "mine"):
        rewrite(place.owners_database, "platform", simulated)
    own = place.folder / "own.jsonl"
    mine = own if value.get("own") or value["record"] == "mine" else None
    with RunStore.open(place.database, record=mine) as store:
        status = go_on(store, value.get("how", "answer"))
    if value["record"] == "mine":
        return f"{status}, {'recorded' if own.read_text().count(chr(10)) == 1 else 'not recorded'}"
    alone = theirs.read_text() == "mine\n" and (mine is None or own.exists())
    return f"{status}, file {'left alone' if alone else 'written'}"


def _stored(value: Any, place: Place) -> str:
    stubs = place.folder / "stubs.yaml"
    stubs.write_text("llm-bridge: {x: 1}")
    platform = SimulatedPlatform(
        stubs if value["stored"] == "stubs" else None, record=place.folder / "tape"
    )
    if value["stored"] == "beyond":
        begin(place.database, "http://127.0.0.1:1", beyond=True)
        local = {**described(place.database), "beyond": platform.describe()}
        rewrite(place.owners_database, "platform", local)
    else:
        begin_simulated(place.database, platform)
    kept = everything_kept(place.database) + json.dumps(described(place.database))
    return "opened" if str(place.folder) in kept else "no path"


def _described(_value: Any, place: Place) -> str:
    told = json.dumps(SimulatedPlatform(record=place.folder / "tape").describe())
    return "opened" if str(place.folder) in told else "no path"


def _quoted(value: Any, place: Place) -> str:
    """A file that is no stubs file is named as one."""
    file = place.folder / f"stubs{value['suffix']}"
    file.write_text(value["stubs"].replace("LONG", "x" * 100))
    try:
        read_stubs(file)
    except StubError as error:
        texts = [str(error), repr(error.__context__), repr(error.__cause__)]
        return f"StubError {'with' if CONTENT in ' '.join(texts) else 'without'} the content"
    return "read"


# ---------------------------------------------------------------------- processes


def _two_processes(value: Any, place: Place) -> str:
    """Starter and approver as processes of their own, each with an environment of its own."""
    program = Oasflow(
        Path(sys.executable).with_name("oasflow"), {**os.environ, "DATABASE_URL": place.database}
    )
    flow, theirs = place.folder / "flow.json", place.folder / "notes.txt"
    theirs.write_text("mine\n")
    kind = value["processes"]
    with servers() as there:
        platform = ["--base-url", there.evil.url]
        if kind == "record":
            platform = ["--simulate", "--record", str(theirs)]
        if kind == "variable":
            platform += ["--env", "AWS_SECRET_ACCESS_KEY=mine"]
        written = _using("AWS_SECRET_ACCESS_KEY", "body") if kind == "variable" else SENDING
        flow.write_text(json.dumps(written))
        begun = program("run", str(flow), *platform, "--run-id", "r1", "--detach")
        require_start(begun.code == 3, begun.err)
        held = {
            "variable": {"AWS_SECRET_ACCESS_KEY": SECRET},
            "token": {"CINATRA_RUN_TOKEN": SECRET},
            "bridge": {"CINATRA_BRIDGE_TOKEN": SECRET, "CINATRA_BASE_URL": there.own.url},
            "record": {},
        }[kind]
        ended = program("approve", "r1", **held)
        heard = there.heard + ended.out + ended.err + theirs.read_text()
    if SECRET in heard or "idempotency_key" in heard:
        return "opened"
    return "kept apart" if ended.code == (0 if kind == "record" else 2) else f"exit {ended.code}"


_HOW: dict[str, Callable[[Any, Place], str]] = {
    "name": _variable,
    "compile": _compiled,
    "lend": _lent,
    "row_env": _row_env,
    "replaced": _replaced,
    "cli": _commanded,
    "stranger": _stranger,
    "patience": _patience,
    "record": _recorded,
    "stored": _stored,
    "described": _described,
    "suffix": _quoted,
    "processes": _two_processes,
    "opaque": trust_lending.opaque,
    "variable": trust_lending.variable,
}


# ----------------------------------------------------------------------- controls


def _patched(target: Any, name: str, value: Any) -> Callable[[Place], Any]:
    @contextlib.contextmanager
    def door(place: Place) -> Iterator[None]:
        with place.monkeypatch.context() as patch:
            patch.setattr(target, name, value)
            yield

    return door


@contextlib.contextmanager
def _the_environment_is_lent(place: Place) -> Iterator[None]:
    original = RunStore.open.__func__  # type: ignore[attr-defined]

    def opened(cls: Any, *args: Any, env: Any = None, **how: Any) -> Any:
        store = original(cls, *args, env=env, **how)
        _lend(store, os.environ)
        return store

    with place.monkeypatch.context() as patch:
        patch.setattr(RunStore, "open", classmethod(opened))
        yield


@contextlib.contextmanager
def _the_row_chooses(place: Place) -> Iterator[None]:
    """As it was: the run's own address is a platform like any other."""
    with place.monkeypatch.context() as patch:
        patch.setattr(StrangersPlatform, "takes_credentials", True)
        patch.setattr(StrangersPlatform, "_prepare_request", HttpPlatform._prepare_request)
        yield


@contextlib.contextmanager
def _any_address_is_named(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(
            "cinatra_sdk.outside.http_calls.description._refuse_stranger", lambda *_: None
        )
        patch.setattr(StrangersPlatform, "takes_credentials", True)
        patch.setattr(StrangersPlatform, "_prepare_request", HttpPlatform._prepare_request)
        yield


@contextlib.contextmanager
def _paths_are_the_same(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(
            "cinatra_sdk.outside.http_calls.description._parse_address",
            lambda text: AllowEntry.parse(text).origin,
        )
        yield


@contextlib.contextmanager
def _the_rows_record_is_written(place: Place) -> Iterator[None]:
    original = OwnSettings.of.__func__  # type: ignore[attr-defined]
    theirs = str(place.folder / "notes.txt")
    with place.monkeypatch.context() as patch:
        patch.setattr(
            OwnSettings,
            "of",
            classmethod(lambda cls, env, **more: original(cls, env, **more | {"record": theirs})),
        )
        yield


def quoting(path: Any, **_how: Any) -> Any:
    """A reader whose error quotes what it read."""
    raise StubError(f"cannot be read: {Path(path).read_text()}")


@contextlib.contextmanager
def _the_parser_is_quoted(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr("cinatra_sdk.data.text.documents.read_document", quoting)
        yield


CONTROLS = {
    "the environment is lent": Control(
        open=_the_environment_is_lent, row="variable_of_the_process-in_the_url"
    ),
    "no name is the runtime's, compiled": Control(
        open=_patched(
            sys.modules["cinatra_sdk.governed.host_keys"], "is_runtime_name", lambda _: False
        ),
        row="runtime's_own_name,_compiled-bridge_token",
    ),
    "no name is the runtime's, in the row": Control(
        open=_patched(
            sys.modules["cinatra_sdk.governed.host_keys"], "is_runtime_name", lambda _: False
        ),
        row="runtime's_own_name,_put_into_the_row-bridge_token",
    ),
    "the row chooses who gets a run token": Control(
        open=_the_row_chooses, row="token_to_the_run's_own_address-run_token"
    ),
    "the row chooses in a call": Control(
        open=_the_row_chooses, row="token_in_a_call_to_the_run's_own_address-run_token"
    ),
    "any address is as good as the named one": Control(
        open=_any_address_is_named,
        row="token_to_the_run's_own_address-bearer_token_beside_another_platform",
    ),
    "a path does not count": Control(
        open=_paths_are_the_same,
        row="token_to_the_run's_own_address-the_host_of_the_platform's_own_path",
    ),
    "inner addresses are meant": Control(
        open=_patched(
            sys.modules["cinatra_sdk.outside.http_calls.description"],
            "_refuse_inner",
            lambda *_, **__: None,
        ),
        row="description_in_the_row-allows_this_machine",
    ),
    "the row's record is written": Control(
        open=_the_rows_record_is_written, row="record_file_of_the_starter-in_an_older_row"
    ),
    "what the row calls opaque is enough": Control(
        open=_patched(
            sys.modules["cinatra_sdk.outside.http_calls.description"],
            "stricter",
            lambda row, _: dict(row),
        ),
        row="answer_that_the_process_calls_opaque-the_row_calls_nothing_so",
    ),
    "every address is named": Control(
        open=_patched(
            sys.modules["cinatra_sdk.outside.http_calls.description"], "_is_named", lambda *_: True
        ),
        row="variable_to_an_address_that_only_the_run_names-in_the_body",
    ),
    "the parser is quoted": Control(
        open=_the_parser_is_quoted, row="content_of_a_file_in_an_error-an_alias"
    ),
}

test_attack, test_twin, test_control = families.tests_of("trust", attempt, CONTROLS)
