"""The local platform as a plain ASGI app: any ASGI server can serve it, and no server is needed.

    local_app(artifacts, registry, runs, bridge_token=os.environ.get("CINATRA_BRIDGE_TOKEN", ""))

    POST /api/context-resolve     200 {"candidates": …}    403 {"error": "forbidden", "message": …}
    POST /api/context-finalize    200 {"contextSlotBindings": …}
    routes in `hands_on`          the platform `beyond`, under the caller's own identity
    anything else                 404 {"error": "not_found", …}

`in_thread=False` answers on the thread of the caller, for `LocalPlatform`.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any, Final, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.context.candidates import ExtensionRegistry
from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.errors import FlowError
from cinatra_sdk.host.context_routes import ContextRoutes
from cinatra_sdk.host.forward_routes import (
    RESOLVE,
    Caller,
    ForwardedRoute,
    Forwarding,
    forwarded,
    is_local,
    list_methods,
    matched,
    path_in,
    read_routes,
)
from cinatra_sdk.host.proof import VerifyBearer, bearer_token, check_caller
from cinatra_sdk.host.run_directory import RunDirectory
from cinatra_sdk.outside.http_calls.call_addresses import decoded_segments
from cinatra_sdk.outside.http_calls.model_usage import USAGE_HEADER, ModelUse, collect_use
from cinatra_sdk.outside.http_calls.protocol import Platform
from cinatra_sdk.outside.http_calls.wire_response import safe_line
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore

# ----------------------------------------------------------------------------
# Keeps web pages away from a platform on this machine that asks its callers for no proof.
#
#     check_no_page({"host": "127.0.0.1:3000"})                                         nothing
#     check_no_page({"host": "127.0.0.1:3000", "origin": "https://shop.example"})       403 forbidden
#     check_no_page({"host": "shop.example:3000"})                                      403 forbidden
#
# A browser sends a page's request to any address, and a name of the page's own can point to this
# machine (DNS rebinding).  So the request must name a loopback host, and come from no other page.


JSON: Final = "application/json"
_LOOPBACK: Final = re.compile(
    r"(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE
)


def check_no_page(headers: Mapping[str, str]) -> None:
    """headers: by lower-case name.  A request without a Host is none of a browser.

    Raises: `ContextError` `forbidden`.
    """
    host, origin = headers.get("host"), headers.get("origin")
    if host is not None and not _LOOPBACK.fullmatch(host):
        problem = "the request names a host that is not this machine's own address"
    elif origin is not None and not _is_same(origin, host):
        problem = "the request comes from a web page of another origin"
    elif headers.get("sec-fetch-site", "").strip().lower() == "cross-site":
        problem = "the request comes from a web page of another site"
    else:
        return
    raise ContextError(
        "forbidden", problem, hint="a platform with a bridge token answers whoever sends the token"
    )


def is_json(headers: Mapping[str, str]) -> bool:
    """Whether the body is said to be JSON, which no page of another site sends unasked."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() == JSON


def _is_same(origin: str, host: str | None) -> bool:
    scheme, _, authority = origin.partition("://")
    return host is not None and scheme in ("http", "https") and authority.lower() == host.lower()


Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]
"""ASGI 3."""

MAX_BODY: Final = 1_048_576
"""Bytes of a request body; a longer body is refused."""
MOST_READ: Final = 8 * MAX_BODY
"""Bytes that are read of a body that is too large, so that its sender can read the error answer."""
_PROOFS: Final = (b"authorization", b"idempotency-key")

Reply: TypeAlias = tuple[int, JsonValue]
Asked: TypeAlias = tuple[Message, bytes | None]
Ask: TypeAlias = Callable[[Message, bytes | None], Reply | Forwarding]

_NOT_FOUND: Final[Reply] = (
    404, {"error": "not_found", "message": "the local platform has no such route"},
)  # fmt: skip
_TOO_LARGE: Final[Reply] = (
    413, {"error": "body_too_large", "message": f"a body has at most {MAX_BODY} bytes"},
)  # fmt: skip
_NOT_JSON: Final[Reply] = (
    415, {"error": "unsupported_media_type", "message": "send the body as application/json"},
)  # fmt: skip


def local_app(
    artifacts: ArtifactStore,
    registry: ExtensionRegistry,
    runs: RunDirectory,
    *,
    bridge_token: str | None = None,
    verify_bearer: VerifyBearer | None = None,
    attestation_key: str | None = None,
    beyond: Platform | None = None,
    hands_on: Iterable[str] = (),
    holds_offers: bool = False,
    clock: Callable[[], float] = time.time,
    in_thread: bool = True,
) -> App:
    """The ASGI app.

    bridge_token:    the host's shared token.  None demands no token, for a process that only calls
                     itself; without `verify_bearer` only requests to a loopback host are answered
                     then, none of other web pages, and forwarded bodies are `application/json`.
                     The empty string refuses every call.  The token carries the authority
                     of the whole platform: its holder resolves and finalizes for every run of every
                     organisation in `runs`.  If more than one caller has the token, `runs` should
                     give every scope a `run_token`, known to that run alone; `StoredRuns` gives no
                     run tokens.
    verify_bearer:   returns the `BearerIdentity` of a bearer token, or None to refuse the token.  A
                     valid bearer token replaces the bridge token, but only for the runs of its person
                     in its organisation (else 403 `run_mismatch`).  Called on the thread that
                     answers.  Without this function every bearer token is refused.
    attestation_key: as bridge_token, for the signature of the calling node.
    beyond:          the platform that answers the routes in `hands_on`, for callers with a valid
                     bridge token or bearer token.  A bearer's call carries that bearer token and no
                     credential of the host.
    hands_on:        routes that are forwarded, as `"POST /api/llm-bridge"`: a method, a path and the
                     allowed names of a query, each compared exactly.  Every other route is 404;
                     without entries nothing is forwarded.
    holds_offers:    True: a finalize without an `allocationToken` may choose from the last offer that
                     this run got for the slot, as far as the artifacts still exist.  False:
                     only from the candidates of that moment, which is Cinatra's rule.
    """
    routes = ContextRoutes(
        artifacts=artifacts,
        registry=registry,
        runs=runs,
        bridge_token=bridge_token,
        verify_bearer=verify_bearer,
        attestation_key=attestation_key,
        holds_offers=holds_offers,
    )
    listed = read_routes(hands_on)

    def reply(scope: Message, content: bytes | None) -> Reply | Forwarding:
        headers = _decode_headers(scope["headers"])
        secrets = [
            bridge_token, attestation_key, headers.get("x-cinatra-run-token"), bearer_token(headers),
        ]  # fmt: skip
        try:
            if _asks_for_no_proof(routes):
                check_no_page(headers)
            path, _ = path_in(scope)
            if listed and beyond is not None and not is_local(path):
                return _forward_request(
                    routes, scope, headers, content, beyond=beyond, listed=listed, now=clock()
                )
            return _route_local_request(routes, scope, headers, content, clock())
        except FlowError as error:
            status = error.status if isinstance(error, ContextError) else 500
            message = safe_line(str(error), [secret for secret in secrets if secret])
            return status, {"error": error.code, "message": message}

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _answer_lifespan(receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1003})
        elif scope["type"] == "http":
            gone, content = await _receive_body(receive, scope["headers"])
            if gone:
                return
            asked = (scope, content)
            with collect_use() as used:
                status, value = await (
                    _answer(reply, asked) if in_thread else _answer_here(reply, asked)
                )
            allowed = list_methods(listed, path_in(scope)[0]) if status == 405 else ()
            await send_json(send, status, value, used.total(), allowed=allowed)

    return app


async def _answer(ask: Ask, asked: Asked) -> Reply:
    answer = await asyncio.to_thread(ask, *asked)
    # A model may take minutes, and threads are few.
    return await answer.areply() if isinstance(answer, Forwarding) else answer


async def _answer_here(ask: Ask, asked: Asked) -> Reply:
    """On the thread of the caller."""
    answer = ask(*asked)
    return answer.reply() if isinstance(answer, Forwarding) else answer


def _forward_request(
    routes: ContextRoutes,
    scope: Message,
    headers: Mapping[str, str],
    content: bytes | None,
    *,
    beyond: Platform,
    listed: Iterable[ForwardedRoute],
    now: float,
) -> Reply | Forwarding:
    identity = check_caller(headers, routes.bridge_token, routes.verify_bearer)
    path, sent = path_in(scope)
    route = matched(listed, scope["method"], path)
    if sent != path:
        return _NOT_FOUND
    if route is None:
        return _refuse_method(listed, path)
    if content is None:
        return _TOO_LARGE
    if _proves_twice(scope["headers"]):
        raise ContextError("invalid_body", "a header that proves who is calling comes twice")
    asker = Caller(
        identity=identity,
        has_authority=identity is None and bool(routes.bridge_token),
        runs=routes.runs,
        attestation_key=routes.attestation_key,
    )
    if content and _asks_for_no_proof(routes) and not is_json(headers):
        return _NOT_JSON
    query = scope["query_string"].decode("latin-1")
    return forwarded(beyond, route, query, headers, content, asker=asker, now=now)


def _refuse_method(listed: Iterable[ForwardedRoute], path: str) -> Reply:
    """The answer where no route has the method and the path; it names no method for an unknown path."""
    methods = list_methods(listed, path)
    if not methods:
        return _NOT_FOUND
    message = f"the route takes {' and '.join(methods)}"
    return 405, {"error": "method_not_allowed", "message": message}


def _asks_for_no_proof(routes: ContextRoutes) -> bool:
    """Whether anybody who reaches the app is answered."""
    return routes.bridge_token is None and routes.verify_bearer is None


def _proves_twice(pairs: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether two servers could read different values of a header that proves the caller."""
    names = [name.lower().replace(b"_", b"-") for name, _ in pairs]
    proofs = [name for name in names if name in _PROOFS or name.startswith(b"x-cinatra-")]
    return len(set(proofs)) < len(proofs)


def _route_local_request(
    routes: ContextRoutes,
    scope: Message,
    headers: Mapping[str, str],
    content: bytes | None,
    now: float,
) -> Reply:
    path, _ = path_in(scope)
    if not is_local(path):
        return _NOT_FOUND
    if scope["method"] != "POST":
        return _refuse_method((), path)
    if content is None:
        return _TOO_LARGE
    route = routes.resolve if decoded_segments(path) == RESOLVE else routes.finalize
    return 200, route(headers, content, now=now)


def _decode_headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by lower-case name; the values of a repeated header are joined, and so match no
    secret.
    """
    headers: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


async def _receive_body(
    receive: Receive, headers: Iterable[tuple[bytes, bytes]]
) -> tuple[bool, bytes | None]:
    """Whether the client is gone, and the body; `None` when it is too large to keep."""
    said = next((value for name, value in headers if name.lower() == b"content-length"), b"0")
    if said.isdigit() and len(said) > len(str(MOST_READ)):
        return False, None  # no caller waits for its result
    content, more, read = bytearray(), True, 0
    while more and read <= MOST_READ:
        message = await receive()
        if message["type"] == "http.disconnect":
            return True, None
        part = message.get("body", b"")
        read += len(part)
        if read <= MAX_BODY:
            content += part
        more = bool(message.get("more_body", False))
    return False, bytes(content) if read <= MAX_BODY else None


async def send_json(
    send: Send,
    status: int,
    value: JsonValue,
    used: ModelUse | None = None,
    *,
    allowed: Iterable[str] = (),
) -> None:
    """used: what the answer took of a language model, told in a header of ours.  allowed: methods."""
    content = json.dumps(value, separators=(",", ":")).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(content)).encode()),
        (b"cache-control", b"no-store"),
    ]
    if used is not None:
        headers.append((USAGE_HEADER.lower().encode(), used.write_header().encode()))
    if methods := ", ".join(allowed):
        headers.append((b"allow", methods.encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


async def _answer_lifespan(receive: Receive, send: Send) -> None:
    while True:
        event = (await receive())["type"]
        await send({"type": f"{event}.complete"})
        if event == "lifespan.shutdown":
            return
