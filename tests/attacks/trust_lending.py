"""What an approver lends or forbids for their own process, whatever the run's row says."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from cinatra_sdk import HttpPlatform, RunStore
from cinatra_sdk.errors import FlowError
from cinatra_sdk.host.host_settings import read_settings
from cinatra_sdk.host.standalone_platform import standalone
from oas_compiler import compile_flow
from tests.attacks.families import Place, require_start
from tests.attacks.trust_runs import LOCAL, SECRET, Servers, everything_kept, go_on, servers
from tests.flows import api, end, flow_of, gate, port, start
from tests.platform.loopback_server import LoopbackServer

LEAKED = "canary-answer-44a1"
NAME = "CRM_KEY"


def opaque(value: Any, place: Place) -> str:
    """A run is gone on with by a process that calls its server opaque; what is kept of the answer?"""
    words = {"enum": [LEAKED]} if value.get("listed") else {}
    flow = flow_of(start(), gate("ok"), api("ask", outputs=[port("a", **words)]), end())
    with servers() as there:
        there.evil.answers({"a": LEAKED})
        said = {there.address(text): level for text, level in value.get("row", {}).items()}
        _begin(place, flow, there, {"opaque": said}, beyond=value.get("beyond", False))
        _set(place, there, value)
        with RunStore.open(place.database) as store:
            try:
                status = go_on(store, "answer")
            except FlowError as error:
                status = type(error).__name__
        if LEAKED in everything_kept(place.database).replace(json.dumps(words), ""):
            return f"{status}, kept"
        return f"{status}, nothing kept"


def variable(value: Any, place: Place) -> str:
    """A run asks for a variable, and the approver lends it; which server is it sent to?"""
    mark = "{{" + NAME + "}}"
    here: dict[str, Any] = {
        "body": {"data": {"x": mark}},
        "header": {"headers": {"x-key": mark}},
        "query": {"query_params": {"key": mark}},
        "url": {"url": "{{CINATRA_BASE_URL}}/api/" + mark},
        "another address": {"url": "https://crm.example/people", "data": {"x": mark}},
    }[value["variable"]]
    flow = flow_of(start(), gate("ok"), api("send", **here), end())
    with servers() as there:
        listed = {"allow": [there.address(text) for text in value.get("listed", [])]}
        _begin(place, flow, there, listed, beyond=value.get("beyond", False), env={NAME: "mine"})
        _set(place, there, value)
        with contextlib.ExitStack() as opened:
            own = None
            if value.get("given"):
                own = opened.enter_context(HttpPlatform(there.evil.url, retries=0))
            store = opened.enter_context(
                RunStore.open(place.database, env={NAME: SECRET}, platform=own)
            )
            try:
                status = go_on(store, value.get("how", "answer"))
            except FlowError as error:
                status = f"{type(error).__name__}, {_told(error, there.evil)}"
            kept = status.startswith("NotConfigured") and store.decisions("r1")
    return f"{status}, {'sent' if SECRET in there.heard or kept else 'nothing sent'}"


def _told(error: FlowError, evil: LoopbackServer) -> str:
    """Whether the refusal names the variable, an address, and what to do."""
    text = str(error)
    address = next((one for one in (evil.url, "https://crm.example") if one in text), "nothing")
    whole = NAME in text and f"--allow {address}" in text and SECRET not in text
    return "which is told" if whole else "which is not told"


def _begin(
    place: Place,
    flow: Any,
    there: Servers,
    bounds: dict[str, Any],
    *,
    beyond: bool,
    env: dict[str, str] | None = None,
) -> None:
    """Start `r1` with a platform at the evil server, and leave it at its gate."""
    with (
        RunStore.open(place.database) as store,
        HttpPlatform(there.evil.url, retries=0, **bounds) as http,
    ):
        local = standalone(store.database, read_settings({"kind": "local", **LOCAL}), beyond=http)
        made = compile_flow(flow, platform=local if beyond else http, env=env)
        require_start(store.start(made, run_id="r1").status == "waiting", "the run to attack")


def _set(place: Place, there: Servers, value: Any) -> None:
    for name, text in value.get("settings", {}).items():
        place.monkeypatch.setenv(name, there.listed(text))
