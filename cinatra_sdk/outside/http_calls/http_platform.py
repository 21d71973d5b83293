"""The platform over HTTP: every call of a flow to the outside, under the operator's rules.

In: a `PlatformCall`.  Out: the decoded response, or one of the errors of `protocol.py`.

    platform = HttpPlatform("http://localhost:3000", allow=["https://crm.example.com/v1"])
    platform.call(PlatformCall(node="draft", …, url="{{CINATRA_BASE_URL}}/api/llm-bridge"))
        -> {"subject": "Hello", …}

`wire_request.py` builds requests and `wire_response.py` interprets responses; both are pure.  This module is
the loop around them, once with and once without `await`.
"""

from __future__ import annotations

import asyncio
import copy
import random
import ssl
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self
from weakref import WeakKeyDictionary

import httpx2
from pydantic import JsonValue

from cinatra_sdk.data.retry_policy import Backoff
from cinatra_sdk.governed.secret_values import long_enough
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.call_addresses import (
    Address,
    AllowEntry,
    RefusalError,
    parse_entry,
    read_url,
    resolve,
    shown,
)
from cinatra_sdk.outside.http_calls.call_headers import HeadersFor, read_headers_for
from cinatra_sdk.outside.http_calls.http_exchange import (
    ResponseReading,
    build_request,
    checked,
    failure_of,
    unrecorded,
)
from cinatra_sdk.outside.http_calls.model_usage import USAGE_HEADER, read_use_header, tell_use
from cinatra_sdk.outside.http_calls.opaque_responses import Opaque, read_opaque
from cinatra_sdk.outside.http_calls.protocol import (
    SECRET_NAMES,
    Credentials,
    PlatformCall,
    PlatformRefused,
)
from cinatra_sdk.outside.http_calls.wire_request import Prepared, RequestRules, prepare
from cinatra_sdk.outside.http_calls.wire_response import Decoded, Failure, Response, judge, was_sent

MAX_BYTES = 16 * 1024 * 1024
GRACE_SECONDS = 0.5
"""Seconds between the client's own timeouts and the deadline.  The client's timeouts come first
because they tell whether any byte was sent.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineServices:
    """The services of the machine that the platform uses; tests replace them."""

    sleep: Callable[[float], None] = time.sleep
    asleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[float], float] = lambda most: random.uniform(0.0, most)  # noqa: S311 - spreads retries, guards nothing
    monotonic: Callable[[], float] = time.monotonic
    resolve: Callable[[str, int], Sequence[Address]] = resolve


class HttpPlatform:
    """Calls a Cinatra platform, and the origins in `allow`; safe to share between threads.

    `base_url` may have a path.  `allow` holds `scheme://host[:port][/path-prefix]`.  `timeout` is
    in seconds and bounds one attempt (without `await`: each wait for a part of the response's head,
    and its whole body); `retries` counts the attempts after the first.  `retry_posts` repeats a
    POST or PATCH that carries an idempotency key: set it only when every receiver honours the key,
    else an effect may happen twice.  `opaque` names origins, written as in `allow`, of whose
    responses no text is kept: see `cinatra_sdk.outside.http_calls.opaque_responses`. `headers_for` gives the host's own
    headers for single origins, such as credentials; they are never stored: see
    `cinatra_sdk.outside.http_calls.call_headers`.  With `base_url` None there is no platform, and only
    origins in `allow` may be called.

    Raises: `ValueError` when `base_url` or an entry of `allow`, `opaque` or `headers_for` cannot be
    read, and for a token that is too short to be found in a response.
    """

    holds_proofs_back = True
    takes_credentials = True
    """Whether the platform's own origin gets the run's tokens."""
    unnamed: tuple[str, ...] = ()
    """For a platform rebuilt from a row: addresses that only the row names; see `description.py`."""

    def __init__(
        self,
        base_url: str | None,
        *,
        allow: Sequence[str] = (),
        timeout: float = 120.0,
        retries: int = 2,
        retry_posts: bool = False,
        max_bytes: int = MAX_BYTES,
        bridge_token: str | None = None,
        attestation_key: str | None = None,
        opaque: Sequence[str] | Mapping[str, Opaque] = (),
        headers_for: HeadersFor | None = None,
        client: httpx2.Client | None = None,
        async_client: httpx2.AsyncClient | None = None,
        clock: Callable[[], float] = time.time,
        surroundings: MachineServices | None = None,
    ) -> None:
        base = None if base_url is None else _parse_base_url(base_url)
        listed = tuple(parse_entry("allow entry", entry) for entry in allow)
        self._rules = RequestRules(
            base_url=(base_url or "").rstrip("/"),
            base=base,
            allow=listed,
            timeout=timeout,
            retry_posts=retry_posts,
            opaque=read_opaque(opaque),
            host_headers=read_headers_for(headers_for or {}, base=base, allow=listed),
            bridge_token=long_enough("bridge_token", bridge_token),
            attestation_key=long_enough("attestation_key", attestation_key),
        )
        self._opaque: JsonValue = dict(opaque) if isinstance(opaque, Mapping) else list(opaque)
        self._allow = tuple(allow)
        self._headers_for = tuple(headers_for or ())
        self._retries = retries
        self._max_bytes = max_bytes
        self._clock = clock
        self._outside = MachineServices() if surroundings is None else surroundings
        self._injected = client
        self._injected_async = async_client
        self._own: httpx2.Client | None = None
        self._own_async: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx2.AsyncClient] = (
            WeakKeyDictionary()
        )
        self._lock = threading.Lock()
        self._closed = False

    def __repr__(self) -> str:
        base_url = self._rules.base_url or None
        return f"HttpPlatform({base_url!r}, allow={list(self._allow)!r})"

    def allows(self, url: str) -> bool:
        """Whether flows may call the address: it is the platform's own, or in `allow`."""
        try:
            target = read_url(url)
        except RefusalError:
            return False
        own = self._rules.base
        if own is not None and target.origin == own.origin:
            return True
        return any(entry.covers(target) for entry in self._rules.allow)

    def describe(self) -> dict[str, JsonValue]:
        description: dict[str, JsonValue] = {
            "kind": "http",
            "base_url": self._rules.base_url or None,
            "allow": list(self._allow),
            "timeout": self._rules.timeout,
            "retries": self._retries,
        }
        if self._rules.retry_posts:
            description["retry_posts"] = True
        if self._opaque:
            description["opaque"] = copy.copy(self._opaque)
        if self._headers_for:
            description["headers_for"] = list(self._headers_for)
        held = (self._rules.bridge_token, self._rules.attestation_key)
        needs: list[JsonValue] = [n for n, secret in zip(SECRET_NAMES, held, strict=True) if secret]
        if needs:
            description["needs"] = needs
        return description

    # ------------------------------------------------------------------------ calls

    def call(self, call: PlatformCall) -> JsonValue:
        prepared = self._prepare_request(call)
        attempt, sent = 0, False
        while True:
            outcome = self._send_request(prepared, attempt)
            _tell_use(prepared, outcome)
            verdict = self._judge_outcome(prepared, outcome, attempt, sent)
            if isinstance(verdict, Decoded):
                return verdict.value
            self._outside.sleep(verdict.seconds(self._outside.jitter))
            attempt, sent = attempt + 1, sent or was_sent(outcome)

    async def acall(self, call: PlatformCall) -> JsonValue:
        # The host's function for headers may block, for instance to fetch a token.
        asks = bool(self._headers_for)
        prepared = (
            await asyncio.to_thread(self._prepare_request, call)
            if asks
            else self._prepare_request(call)
        )
        attempt, sent = 0, False
        while True:
            outcome = await self._asend_request(prepared, attempt)
            _tell_use(prepared, outcome)
            verdict = self._judge_outcome(prepared, outcome, attempt, sent)
            if isinstance(verdict, Decoded):
                return verdict.value
            await self._outside.asleep(verdict.seconds(self._outside.jitter))
            attempt, sent = attempt + 1, sent or was_sent(outcome)

    def _prepare_request(self, call: PlatformCall) -> Prepared:
        return prepare(self._rules, call, now=self._clock())

    def _judge_outcome(
        self, prepared: Prepared, outcome: Response | Failure, attempt: int, sent: bool
    ) -> Decoded | Backoff:
        now = self._clock()
        return judge(prepared, outcome, attempt=attempt, retries=self._retries, now=now, sent=sent)

    def _send_request(self, prepared: Prepared, attempt: int) -> Response | Failure:
        client = self._ensure_client(prepared)
        addresses = self._resolve_addresses(prepared)
        if isinstance(addresses, Failure):
            return addresses
        request = build_request(prepared, checked(prepared, addresses), attempt)
        reading = self._reading(prepared)
        try:
            with unrecorded():
                _read_response(client, request, reading)
        except httpx2.RequestError as error:
            return failure_of(error)
        return reading.outcome()

    async def _asend_request(self, prepared: Prepared, attempt: int) -> Response | Failure:
        client = self._async_client(prepared)
        addresses = (
            await asyncio.to_thread(self._resolve_addresses, prepared) if prepared.guard else ()
        )
        if isinstance(addresses, Failure):
            return addresses
        request = build_request(prepared, checked(prepared, addresses), attempt)
        reading = self._reading(prepared)
        try:
            with unrecorded():
                async with asyncio.timeout(prepared.timeout + GRACE_SECONDS):
                    await _aread_response(client, request, reading)
        except TimeoutError:
            return Failure(kind="timeout")
        except httpx2.RequestError as error:
            return failure_of(error)
        return reading.outcome()

    def _resolve_addresses(self, prepared: Prepared) -> Sequence[Address] | Failure:
        """Addresses of a host outside the platform's origin; empty where addresses are not
        checked.
        """
        if prepared.guard is None:
            return ()
        origin = prepared.guard.origin
        try:
            return self._outside.resolve(origin.host, origin.port)
        except (OSError, UnicodeError):
            return Failure(kind="name")

    def _reading(self, prepared: Prepared) -> ResponseReading:
        now = self._outside.monotonic
        return ResponseReading(limit=self._max_bytes, now=now, deadline=now() + prepared.timeout)

    # ---------------------------------------------------------------------- clients

    def _ensure_client(self, prepared: Prepared) -> httpx2.Client:
        with self._lock:
            client = self._injected or self._own
            if client is None and not self._closed:
                client = self._own = httpx2.Client(trust_env=False, verify=_make_ssl_context())
        if client is None or client.is_closed:
            raise _build_closed_error(prepared)
        return client

    def _async_client(self, prepared: Prepared) -> httpx2.AsyncClient:
        """One client per event loop: a connection belongs to the loop that opened it."""
        loop = asyncio.get_running_loop()
        with self._lock:
            client = self._injected_async or self._own_async.get(loop)
            if client is None and not self._closed:
                # No idle connections: they would outlive a loop that ends without `aclose`.
                limits = httpx2.Limits(max_connections=100, max_keepalive_connections=0)
                client = httpx2.AsyncClient(
                    trust_env=False, verify=_make_ssl_context(), limits=limits
                )
                self._own_async[loop] = client
        if client is None or client.is_closed:
            raise _build_closed_error(prepared)
        return client

    def close(self) -> None:
        """Close what this platform opened; an injected client stays open."""
        with self._lock:
            self._closed = True
            own, self._own = self._own, None
            self._own_async.clear()
        if own is not None:
            with unrecorded():
                own.close()

    async def aclose(self) -> None:
        """As `close`, also for the connections of the running event loop."""
        with self._lock:
            clients = list(self._own_async.values())
        self.close()
        with unrecorded():
            for client in clients:
                await client.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


def _read_response(
    client: httpx2.Client, request: httpx2.Request, reading: ResponseReading
) -> None:
    response = client.send(request, stream=True, auth=None, follow_redirects=False)
    try:
        if reading.begin(response):
            for chunk in response.iter_bytes():
                if not reading.add(chunk):
                    break
    finally:
        response.close()


async def _aread_response(
    client: httpx2.AsyncClient, request: httpx2.Request, reading: ResponseReading
) -> None:
    response = await client.send(request, stream=True, auth=None, follow_redirects=False)
    try:
        if reading.begin(response):
            async for chunk in response.aiter_bytes():
                if not reading.add(chunk):
                    break
    finally:
        await response.aclose()


def _tell_use(prepared: Prepared, outcome: Response | Failure) -> None:
    """Tell what the platform says that it used up; another origin is not believed."""
    if prepared.guard is None and prepared.opaque is None and isinstance(outcome, Response):
        tell_use(read_use_header(outcome.headers.get(USAGE_HEADER.lower(), "")))


def _parse_base_url(base_url: str) -> AllowEntry:
    problem = "a base url has no query and no fragment"
    try:
        target = read_url(base_url)
        if not target.has_query and "#" not in base_url:
            return AllowEntry(origin=target.origin, prefix=target.segments)
    except RefusalError as refusal:
        problem = str(refusal)
    raise ValueError(f"base_url {shown(base_url)!r}: {problem}")


def _make_ssl_context() -> ssl.SSLContext:
    # The client uses SSL_CERT_FILE of the environment but not its proxies, which would see the
    # tokens.
    return httpx2.create_ssl_context(trust_env=True)


def _build_closed_error(prepared: Prepared) -> PlatformRefused:
    return PlatformRefused(
        f'node "{prepared.node}": the platform is closed; make a new HttpPlatform',
        node=prepared.node,
        url=prepared.shown_url,
    )


# ----------------------------------------------------------------------------
# A platform at an address that only the run names, not this process.
#
# The address is called as the run asks, but gets nothing that proves the caller: no token and no
# conversation of the host.  Its host is resolved and checked like the host of an entry of `allow`.


class StrangersPlatform(HttpPlatform):
    """An `HttpPlatform` that never sends a credential."""

    takes_credentials = False

    def _prepare_request(self, call: PlatformCall) -> Prepared:
        # The run's own id replaces the conversation's id: the person who started the run knows it
        # already.
        bare = replace(call, credentials=Credentials(), context_id=call.run_id)
        prepared = super()._prepare_request(bare)
        return replace(prepared, guard=prepared.guard or self._rules.base)
