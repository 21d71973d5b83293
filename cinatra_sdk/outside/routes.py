"""A platform made of functions: one for each named route, answered in this process and over HTTP alike.

In: a `PlatformCall`.  Out: the value of its route, which is called with a `RouteCall`, or the error that an
`HttpPlatform` would raise for it.

    platform = RoutedPlatform({"POST /api/greet": greet}, beyond=None)
    platform.call(… "{{CINATRA_BASE_URL}}/api/greet" …)       {"text": "Hello Ann"}
    platform.call(… "{{CINATRA_BASE_URL}}/api/other" …)       PlatformRefused: no such route

The functions that `HttpPlatform` uses make the request and read its answer, so that sizes, secrets
and errors are the same.  `local_app(…, beyond=platform, hands_on=platform.entries)` serves the same
routes over HTTP.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import field, replace
from typing import Any, Final, TypeAlias, TypeVar

from pydantic import JsonValue

from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.errors import FlowError
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.call_addresses import AllowEntry
from cinatra_sdk.outside.http_calls.protocol import (
    BASE_URL_PLACEHOLDER,
    Platform,
    PlatformCall,
    PlatformRefused,
)
from cinatra_sdk.outside.http_calls.wire_request import Prepared, RequestRules, prepare
from cinatra_sdk.outside.http_calls.wire_response import Decoded, Response, judge
from cinatra_sdk.threads import call_beside


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOwner:
    """Whose call it is; an empty field says that the host does not know."""

    run_id: str = ""
    tenant: str = ""
    """Organisation of the run: rows of another are never read or written."""
    person: str = ""
    """The run's owner, with whose authority a route acts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteCall:
    """One call of a route."""

    method: str
    path: str
    """Below the platform's address: `/api/llm-bridge`."""
    body: JsonValue = field(default=None, repr=False)
    owner: RunOwner = RunOwner()
    context_id: str = ""
    """The conversation."""
    idempotency_key: str = ""
    """The same for a call that is made again; empty where the caller gave none."""
    node: str = ""
    """Path of the calling node; over HTTP its id where it is signed, else empty."""
    visit: int = 0
    """How often the node was reached, from 1; 0 over HTTP, where nobody says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteReply:
    """What a route gave: a status and a JSON body, as they go over HTTP."""

    status: int
    body: JsonValue


class RouteError(Exception):
    """A route's refusal: status, code and one sentence; it must quote no value of the body.

    `more` adds members to the JSON body, `{"error": code, "message": …}`, or replaces them.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        more: Mapping[str, JsonValue] | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.more = dict(more or {})

    def reply(self) -> RouteReply:
        body: dict[str, JsonValue] = {"error": self.code, "message": self.message, **self.more}
        return RouteReply(status=self.status, body=body)


Handler: TypeAlias = "Callable[[RouteCall], JsonValue | Awaitable[JsonValue]]"
"""Answers a route, or raises `RouteError`.  An async handler runs on the loop of the platform below."""


# ----------------------------------------------------------------------------
# The event loop of routes that await: one per process, in a thread of its own.
#
#     finish(work)           waits for the coroutine without an event loop
#     await afinish(work)    waits for it on the caller's loop
#
# Clients of language models hold connections that belong to the loop which opened them.  With one loop for
# all routes and all callers, a connection is never used on another loop.
# A forked process makes a loop of its own.


_T = TypeVar("_T")
_loops: list[asyncio.AbstractEventLoop] = []
"""Empty, or the one loop."""


class _Turns:
    """Who makes the loop; a forked process starts anew."""

    lock = threading.Lock()


def finish(work: Coroutine[Any, Any, _T]) -> _T:
    """The result of `work`; cancelled where the waiting thread is interrupted."""
    future = _submit(work)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def afinish(work: Coroutine[Any, Any, _T]) -> _T:
    """As `finish`, for an event loop; a cancellation reaches the work."""
    return await asyncio.wrap_future(_submit(work))


def _submit(work: Coroutine[Any, Any, _T]) -> Future[_T]:
    # The work sees the caller's context variables: the loop copies the context of whoever submits.
    return asyncio.run_coroutine_threadsafe(work, _ensure_loop())


def _ensure_loop() -> asyncio.AbstractEventLoop:
    with _Turns.lock:
        if not _loops:
            loop = asyncio.new_event_loop()
            # A daemon: a route that hangs must not keep the process from ending.
            thread = threading.Thread(target=loop.run_forever, name="oasflow-routes", daemon=True)
            thread.start()
            _loops.append(loop)
        return _loops[0]


def _forget_after_fork() -> None:
    """The thread of the loop is gone in the child, and another thread may have held the lock."""
    _Turns.lock = threading.Lock()
    _loops.clear()


os.register_at_fork(after_in_child=_forget_after_fork)


log = logging.getLogger("oasflow.routes")

MAX_BODY: Final = 1_048_576
"""Bytes of a request body, as over HTTP."""
_ORIGIN: Final = "http://localhost"
"""Stands in for the platform's address; nothing ever connects to it."""
_RULES: Final = RequestRules(base_url=_ORIGIN, base=AllowEntry.parse(_ORIGIN))
_FAILED: Final = RouteError(500, "internal_error", "the route failed; its log says why")
_TOO_LARGE: Final = RouteError(413, "body_too_large", f"a body has at most {MAX_BODY} bytes")


def _identify_run(call: PlatformCall) -> RunOwner:
    return RunOwner(run_id=call.run_id)


class RoutedPlatform:
    """Answers its routes; safe to share between threads, if its functions are.

    routes:    `"METHOD /path"` → its function; compared exactly, with nothing decoded or folded.
    beyond:    the platform of every other call; None refuses them by name.  Whoever made it closes it.
    identify:  whose call it is, from what the host sealed into the call; by default the run alone.
    stand_in:  a chat model that answers in place of those that nodes of flows ask by themselves.
    described: `describe()`, beside the kind and `beyond`; None adds nothing, and another process
               cannot rebuild the platform.
    """

    holds_proofs_back = True
    """It has no proofs of its own; see `HoldsProofsBack`."""

    def __init__(
        self,
        routes: Mapping[str, Handler],
        *,
        beyond: Platform | None = None,
        identify: Callable[[PlatformCall], RunOwner] = _identify_run,
        described: Mapping[str, JsonValue] | None = None,
        stand_in: Any = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._routes = {_check_entry(entry): handler for entry, handler in routes.items()}
        self._beyond = beyond
        self._identify = identify
        self._described = dict(described or {})
        self.stand_in = stand_in
        self._clock = clock

    def __repr__(self) -> str:
        return f"RoutedPlatform({list(self._routes)!r}, beyond={self._beyond!r})"

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of the routes, as `hands_on` takes them."""
        return tuple(self._routes)

    @property
    def beyond(self) -> Platform | None:
        """The platform that answers every other call."""
        return self._beyond

    def describe(self) -> dict[str, JsonValue]:
        beyond = None if self._beyond is None else self._beyond.describe()
        return {"kind": "routed", **self._described, "beyond": beyond}

    def call(self, call: PlatformCall) -> JsonValue:
        made = self._find(call)
        if made is None:
            return self._require_beyond(call).call(call)
        return made.read(made.answer(), self._clock())

    async def acall(self, call: PlatformCall) -> JsonValue:
        made = self._find(call)
        if made is None:
            return await self._require_beyond(call).acall(call)
        return made.read(await made.aanswer(), self._clock())

    def reply(self, call: PlatformCall) -> RouteReply | None:
        """Status and body as they go over HTTP; None where the call is for `beyond`.

        Raises: `PlatformRefused` for a call that must not be made.
        """
        made = self._find(call)
        return None if made is None else made.answer()

    async def areply(self, call: PlatformCall) -> RouteReply | None:
        """As `reply`, for an event loop."""
        made = self._find(call)
        return None if made is None else await made.aanswer()

    def _find(self, call: PlatformCall) -> _RoutedCall | None:
        written = call.url.partition("#")[0].partition("?")[0]
        path = written.removeprefix(BASE_URL_PLACEHOLDER)
        handler = self._routes.get(f"{call.method} {path}")
        if handler is None or path == written or call.origin_by_value:
            return None
        prepared = prepare(_RULES, call, now=self._clock())
        # Errors name the url as the author wrote it, and nothing can be lost on the way.
        prepared = replace(prepared, shown_url=call.shown_url.partition("?")[0], retry=None)
        return _RoutedCall(
            handler=handler, call=call, path=path, prepared=prepared, identify=self._identify
        )

    def _require_beyond(self, call: PlatformCall) -> Platform:
        if self._beyond is not None:
            return self._beyond
        url = call.shown_url.partition("?")[0]
        raise PlatformRefused(
            f'node "{call.node}": {call.method} {url} was not called: this platform has no such '
            f"route, and no platform beyond it; it answers {', '.join(sorted(self._routes))}; give "
            "--base-url or another platform for it",
            node=call.node,
            url=url,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _RoutedCall:
    """One call that a route answers."""

    handler: Handler
    call: PlatformCall
    path: str
    prepared: Prepared
    identify: Callable[[PlatformCall], RunOwner]

    def answer(self) -> RouteReply:
        failed: Exception
        try:
            value = self.handler(self._read())
            if inspect.isawaitable(value):
                value = finish(_wait(value))
            return RouteReply(status=200, body=_require_json(value))
        except Exception as error:  # noqa: BLE001 - a host's own function
            failed = error
        return self._fail(failed)

    async def aanswer(self) -> RouteReply:
        failed: Exception
        try:
            if inspect.iscoroutinefunction(self.handler):
                value = await afinish(self.handler(self._read()))
            else:
                value = await call_beside(lambda: self.handler(self._read()))
                if inspect.isawaitable(value):
                    value = await afinish(_wait(value))
            return RouteReply(status=200, body=_require_json(value))
        except Exception as error:  # noqa: BLE001 - a host's own function
            failed = error
        return self._fail(failed)

    def _read(self) -> RouteCall:
        """Raises: `RouteError` for a body that no route takes."""
        content = self.prepared.content
        if content is not None and len(content) > MAX_BODY:
            raise _TOO_LARGE
        if self.call.query or "?" in self.call.url:
            raise RouteError(400, "invalid_body", f"{self.call.method} {self.path} takes no query")
        return RouteCall(
            method=self.call.method,
            path=self.path,
            body=None if not content else _read_json(content),
            owner=self.identify(self.call),
            context_id=self.call.context_id,
            idempotency_key=self.call.idempotency_key,
            node=self.call.path,
            visit=self.call.visit if self.call.run_id and self.call.place else 0,
        )

    def _fail(self, error: Exception) -> RouteReply:
        if isinstance(error, RouteError):
            return error.reply()
        # An error with a status of its own is made for callers; that of a store names its database.
        status = getattr(error, "status", None)
        if isinstance(error, FlowError) and isinstance(status, int):
            return RouteError(status, error.code, str(error)).reply()
        # Never its words, nor its traceback: they may quote a key, or the body.
        log.error("%s %s failed: %s", self.call.method, self.path, _describe_place(error))
        return _FAILED.reply()

    def read(self, reply: RouteReply, now: float) -> JsonValue:
        """The value, as an `HttpPlatform` reads it.  Raises: `PlatformError`."""
        body = json.dumps(reply.body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        response = Response(
            status=reply.status, headers={"content-type": "application/json"}, body=body
        )
        verdict = judge(self.prepared, response, attempt=0, retries=0, now=now)
        assert isinstance(verdict, Decoded)  # no attempt is due after the first
        return verdict.value


def _require_json(value: JsonValue) -> JsonValue:
    """What a route gives.  Raises: for what does not go over the wire."""
    json.dumps(value, allow_nan=False)
    return value


def _describe_place(error: Exception) -> str:
    """The error's class, and the function that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else f" in {trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}"
    return type(error).__name__ + where


def _read_json(content: bytes) -> JsonValue:
    """The body as it went over the wire: a route may change it.  Raises: `RouteError`."""
    problem = "it is not UTF-8"
    try:
        return read_json(content.decode("utf-8"), where="the body")
    except UnicodeDecodeError:
        pass
    except NotStrictJson as error:
        problem = str(error)
    # Raised here, not in the handler: the decoder's error holds the whole body.
    raise RouteError(400, "invalid_body", f"the body is no strict JSON: {problem}")


async def _wait(value: Any) -> JsonValue:
    found: JsonValue = await value
    return found


def _check_entry(entry: str) -> str:
    method, blank, path = entry.partition(" ")
    if not blank or not method.isupper() or not path.startswith("/") or "?" in path:
        raise ValueError(f'{entry!r}: a route is "METHOD /path", such as "POST /api/llm-bridge"')
    return entry
