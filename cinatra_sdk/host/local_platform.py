"""`LocalPlatform`: answers the calls of a flow in this process, without a network.

In: a `PlatformCall`.  Out: the decoded response of the local app; of `beyond` for other calls.

    platform = LocalPlatform(artifacts, registry, runs, beyond=SimulatedPlatform())
    platform.call(… "{{CINATRA_BASE_URL}}/api/context-resolve" …)     the local app
    platform.call(… "{{CINATRA_BASE_URL}}/api/llm-bridge" …)          the simulation

The functions that `HttpPlatform` uses make the request and read its answer.
"""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from pydantic import JsonValue

from cinatra_sdk.context.artifact_refs import PinnedTriple
from cinatra_sdk.context.candidates import ExtensionRegistry
from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.host.asgi_app import App, Message, local_app
from cinatra_sdk.host.forward_routes import is_local, matched, read_routes, resembles_local
from cinatra_sdk.host.host_settings import HANDS_ON
from cinatra_sdk.host.run_directory import RunDirectory
from cinatra_sdk.outside.http_calls.call_addresses import AllowEntry, RefusalError, decoded_segments
from cinatra_sdk.outside.http_calls.protocol import (
    BASE_URL_PLACEHOLDER,
    Platform,
    PlatformCall,
    PlatformRefused,
)
from cinatra_sdk.outside.http_calls.wire_request import Prepared, RequestRules, prepare
from cinatra_sdk.outside.http_calls.wire_response import Decoded, Response, judge
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore

_ORIGIN = "http://localhost"
"""Stands in for the platform's address; nothing ever connects to it."""


class LocalPlatform:
    """Answers the context routes from `artifacts`; safe to share between threads.

    beyond:          the platform for every other call; None refuses them.  The caller who made
                     `beyond` closes it.  A call in this process is the run's own call, made with
                     the credentials of `beyond`.
    hands_on:        routes that `beyond` answers, as in `local_app`; None: all routes, because in this
                     process only the flows of the host call.
    seen_by:         calling run's id → the runs that its calls may concern; None: every run of
                     `runs`.
    described:       further members of `describe()`, beside the kind and `beyond`; None adds no
                     member, and another process cannot rebuild such a platform.
    attestation_key: signs each call with its node, and demands that signature; None does neither.
    holds_offers:    see `local_app`.
    """

    def __init__(
        self,
        artifacts: ArtifactStore,
        registry: ExtensionRegistry,
        runs: RunDirectory,
        *,
        beyond: Platform | None,
        hands_on: Iterable[str] | None = None,
        attestation_key: str | None = None,
        holds_offers: bool = False,
        clock: Callable[[], float] = time.time,
        seen_by: Callable[[str], RunDirectory] | None = None,
        described: Mapping[str, JsonValue] | None = None,
    ) -> None:
        def app(directory: RunDirectory) -> App:
            return local_app(
                artifacts,
                registry,
                directory,
                attestation_key=attestation_key,
                holds_offers=holds_offers,
                clock=clock,
                in_thread=False,
            )

        self._artifacts = artifacts
        self._runs_of: Callable[[str], RunDirectory] = seen_by or (lambda _caller: runs)
        everyone = app(runs)
        self._app_for: Callable[[str], App] = (
            (lambda _caller: everyone) if seen_by is None else (lambda caller: app(seen_by(caller)))
        )
        self._beyond = beyond
        self._hands_on = None if hands_on is None else tuple(hands_on)
        self._listed = read_routes(self._hands_on or ())
        self._described = dict(described or {})
        self._clock = clock
        self._rules = RequestRules(
            base_url=_ORIGIN,
            base=AllowEntry.parse(_ORIGIN),
            attestation_key=attestation_key or "",
        )

    def __repr__(self) -> str:
        return f"LocalPlatform(beyond={self._beyond!r})"

    def describe(self) -> dict[str, JsonValue]:
        beyond = None if self._beyond is None else self._beyond.describe()
        listed: dict[str, JsonValue] = (
            {} if self._hands_on is None else {HANDS_ON: list[JsonValue](self._hands_on)}
        )
        return {"kind": "local", **copy.deepcopy(self._described), **listed, "beyond": beyond}

    @property
    def beyond(self) -> Platform | None:
        """The platform that answers every other call."""
        return self._beyond

    def call(self, call: PlatformCall) -> JsonValue:
        if not answers(call.url):
            return self._require_beyond(call).call(call)
        prepared = prepare(self._rules, call, now=self._clock())
        # An error names the url as the flow's author wrote it, because no other address exists.
        # There is one attempt, whatever policy the author wrote: nothing can be lost on the way.
        prepared = replace(prepared, shown_url=call.shown_url.partition("?")[0], retry=None)
        answer = _exchange_in_process(self._app_for(call.run_id), prepared)
        verdict = judge(prepared, answer, attempt=0, retries=0, now=self._clock())
        assert isinstance(verdict, Decoded)
        return verdict.value

    async def acall(self, call: PlatformCall) -> JsonValue:
        if not answers(call.url):
            return await self._require_beyond(call).acall(call)
        return await asyncio.to_thread(self.call, call)

    def withdrawn(self, run_id: str, triples: Sequence[PinnedTriple]) -> tuple[str, ...]:
        """See `KeepsArtifacts`: artifacts that the run was offered and that are gone now."""
        try:
            scope = self._runs_of(run_id).scope(run_id)
        except ContextError:
            return ()  # the finalize call reports what is wrong with the run
        if scope is None or scope.actor is None or scope.actor.org_id != scope.org_id:
            return ()
        return self._artifacts.withdrawn(scope.actor, run_id, triples)

    def _require_beyond(self, call: PlatformCall) -> Platform:
        url = call.shown_url.partition("?")[0]
        if self._beyond is None:
            problem, fix = "the local platform has no such route", "give it a platform `beyond`"
        elif _finds_local(call.url):
            problem = "it is another spelling of a route that the local platform answers itself"
            fix = "write {{CINATRA_BASE_URL}}/api/context-resolve or …/context-finalize"
        elif not self._may_hand_on(call):
            problem, fix = "the host's list of forwarded routes does not have it", "add it there"
        else:
            return self._beyond
        raise PlatformRefused(
            f'node "{call.node}": {url} was not called: {problem}; {fix} for such calls',
            node=call.node,
            url=url,
        )

    def _may_hand_on(self, call: PlatformCall) -> bool:
        """Whether the host allows this call to be forwarded to `beyond`."""
        if self._hands_on is None:
            return True
        written, _, query = call.url.partition("#")[0].partition("?")
        route = matched(self._listed, call.method, written.removeprefix(BASE_URL_PLACEHOLDER))
        if route is None or not written.startswith(BASE_URL_PLACEHOLDER):
            return False
        try:
            named = set(route.fields(query))
        except ContextError:
            return False
        return route.query.issuperset(call.query) and named.isdisjoint(call.query)


def _finds_local(url: str) -> bool:
    """Whether some server could read an address of the platform as one of the local routes."""
    if not url.startswith(BASE_URL_PLACEHOLDER):
        return False
    path = url.removeprefix(BASE_URL_PLACEHOLDER).partition("?")[0].partition("#")[0]
    try:
        decoded_segments(path)
    except RefusalError:
        return False  # an `HttpPlatform` reports the malformed url and does not call it
    return resembles_local(path)


def answers(url: str) -> bool:
    """Whether a local platform itself answers calls of `url`, written as in the flow."""
    if not url.startswith(BASE_URL_PLACEHOLDER):
        return False
    rest = url.removeprefix(BASE_URL_PLACEHOLDER)
    return rest.startswith("/") and is_local(rest.partition("?")[0].partition("#")[0])


def _exchange_in_process(app: Callable[..., Any], prepared: Prepared) -> Response:
    """One request to an app that answers on this thread, and the answer."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": prepared.content or b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    _finish_coroutine(app(_build_asgi_scope(prepared), receive, send))
    start, *parts = sent
    return Response(
        status=int(start["status"]),
        headers={name.decode(): value.decode() for name, value in start["headers"]},
        body=b"".join(part.get("body", b"") for part in parts),
    )


def _finish_coroutine(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that never waits to its end, without an event loop."""
    try:
        work.send(None)
    except StopIteration:
        return
    work.close()
    raise RuntimeError("the local app waited for something, and must not in process")


def _build_asgi_scope(prepared: Prepared) -> Message:
    url = urlsplit(prepared.url)
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": prepared.method,
        "scheme": url.scheme,
        "path": url.path,
        "raw_path": url.path.encode(),
        "query_string": url.query.encode(),
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in prepared.headers],
        "client": None,
        "server": None,
    }
