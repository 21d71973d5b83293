"""One exchange over HTTP: the request for the wire, and the bounded reading of its response.

In: a `Prepared` request and the addresses of its host.  Out: an `httpx2.Request`, then a `Response` or a
`Failure`.  The loop in `http_platform.py` does the waiting, with and without `await`.

    build_request(prepared, (93.184.215.14,), 0)
        -> POST https://93.184.215.14/x, Host: crm.example.com, TLS for crm.example.com
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import Final
from urllib.parse import urlencode

import httpx2

from cinatra_sdk.governed.secret_values import redact
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.call_addresses import Address, RefusalError, read_url
from cinatra_sdk.outside.http_calls.protocol import PlatformRefused
from cinatra_sdk.outside.http_calls.wire_request import Prepared
from cinatra_sdk.outside.http_calls.wire_response import Failure, Response

CONNECT_SECONDS = 10.0
"""Limit for connecting: shorter than the limit for a slow response."""


def checked(prepared: Prepared, addresses: Sequence[Address]) -> tuple[Address, ...]:
    if prepared.guard is None:
        return ()
    try:
        return prepared.guard.checked(addresses)
    except RefusalError as refusal:
        problem = redact(str(refusal), prepared.secrets)
    raise PlatformRefused(
        f'node "{prepared.node}": {prepared.shown_url} was not called: {problem}; '
        "put the address itself into `allow` if it is meant",
        node=prepared.node,
        url=prepared.shown_url,
    )


def build_request(prepared: Prepared, addresses: Sequence[Address], attempt: int) -> httpx2.Request:
    """The request, made without a client, so that no header, cookie or login of an injected client
    is added.
    """
    headers = dict(prepared.headers)
    timeout = httpx2.Timeout(prepared.timeout, connect=min(prepared.timeout, CONNECT_SECONDS))
    extensions: dict[str, object] = {"timeout": timeout.as_dict()}
    try:
        url = httpx2.URL(prepared.url)
        if prepared.query:
            # Joined and not merged: what the author wrote in the url stays as it is.
            joined = urlencode(prepared.query).encode()
            url = url.copy_with(query=url.query + b"&" + joined if url.query else joined)
        agreed = read_url(prepared.url).origin == read_url(str(url)).origin
    except (httpx2.InvalidURL, RefusalError, UnicodeError):
        agreed = False
    if not agreed:
        raise PlatformRefused(
            f'node "{prepared.node}": {prepared.shown_url} was not called: the url cannot be parsed',
            node=prepared.node,
            url=prepared.shown_url,
        )
    if addresses:
        # The connection goes to the checked address, so a second look-up cannot change it; the
        # certificate is still checked against the host's name.  Such a connection is not kept in
        # the pool, where another host with the same address would reuse it.
        headers["host"] = url.netloc.decode("ascii")
        headers["connection"] = "close"
        extensions["sni_hostname"] = url.host
        url = url.copy_with(host=str(addresses[attempt % len(addresses)]))
    return httpx2.Request(
        prepared.method, url, headers=headers, content=prepared.content, extensions=extensions
    )


def failure_of(error: httpx2.RequestError) -> Failure:
    if _is_tls(error):
        return Failure(kind="tls")
    if isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)):
        return Failure(kind="connect")
    if isinstance(error, httpx2.TimeoutException):
        return Failure(kind="timeout")
    if isinstance(error, (httpx2.NetworkError, httpx2.RemoteProtocolError)):
        return Failure(kind="broken")
    return Failure(kind="protocol")


def _is_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False


@dataclass(slots=True, kw_only=True)
class ResponseReading:
    """Reads one response, within the bounds of size and time."""

    limit: int
    now: Callable[[], float]
    deadline: float
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    failure: Failure | None = None

    def begin(self, response: httpx2.Response) -> bool:
        """Whether the body should be read."""
        self.status = response.status_code
        self.headers = {name.lower(): value for name, value in response.headers.items()}
        if self.headers.get("content-encoding", "identity").lower() != "identity":
            self.failure = Failure(kind="protocol")
        elif self._too_long(self.headers.get("content-length", "")):
            self.failure = Failure(kind="too_large")
        return self.failure is None

    def _too_long(self, length: str) -> bool:
        return length.isdecimal() and len(length) < 20 and int(length) > self.limit

    def add(self, chunk: bytes) -> bool:
        """Whether reading should continue."""
        self.body += chunk
        if len(self.body) > self.limit:
            self.failure = Failure(kind="too_large")
        elif self.now() > self.deadline:
            self.failure = Failure(kind="timeout")
        return self.failure is None

    def outcome(self) -> Response | Failure:
        if self.failure is not None:
            return self.failure
        return Response(status=self.status, headers=self.headers, body=bytes(self.body))


# ----------------------------------------------------------------------------
# Keeps the HTTP client's log records about platform calls out of a host's log.
#
#     with unrecorded():
#         `client.send(request)`
#
# The client's loggers quote responses: `httpcore2` every header at DEBUG (Location and Set-Cookie may
# echo a token), `httpx2` the whole url and the reason phrase at INFO.  A host that logs everything
# must not store them.  A record is dropped only if a platform made the call, and if no level is set
# for its logger by name: by setting such a level a host asks for the record.


_LOGGERS: Final = (
    "httpx2", "httpcore2.connection", "httpcore2.http11", "httpcore2.http2", "httpcore2.proxy",
    "httpcore2.socks", "hpack.hpack", "hpack.table",
)  # fmt: skip
"""All loggers of the client: a filter of a logger does not apply to the loggers below it."""
_inside: ContextVar[bool] = ContextVar("oasflow_unrecorded", default=False)


class _OwnCalls(logging.Filter):
    """Drops records about platform calls, unless the host set a level for the logger by name."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not _inside.get() or _has_level(record.name)


_FILTER: Final = _OwnCalls()


@contextmanager
def unrecorded(packages: Sequence[str] = ()) -> Iterator[None]:
    """Around one exchange, in the thread or task that makes it.

    packages: whose loggers are kept out, too, with all below them that exist by now.
    """
    filter_loggers(packages)
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)


def filter_loggers(packages: Sequence[str]) -> None:
    """As `unrecorded`, for packages that were imported within it."""
    for name in (*_LOGGERS, *_list_loggers(packages)):
        # On each call, because a host may have reconfigured its log.  Adding a filter twice adds it
        # once.
        logging.getLogger(name).addFilter(_FILTER)


def _list_loggers(packages: Sequence[str]) -> list[str]:
    """The loggers of the packages that exist by now."""
    if not packages:
        return []
    known = (*logging.root.manager.loggerDict, *packages)
    return [name for name in known if name.partition(".")[0] in packages]


def _has_level(name: str) -> bool:
    """Whether the logger, or one above it that is not the root, has a level of its own."""
    parts = name.split(".")
    above = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
    return any(logging.getLogger(one).level != logging.NOTSET for one in above)
