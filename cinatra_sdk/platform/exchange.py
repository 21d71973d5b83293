"""One exchange over HTTP: the request for the wire, and the bounded reading of its response.

In: a `Prepared` request and the addresses of its host.  Out: an `httpx2.Request`, then an
`Response` or a `Failure`.  The loop in `http.py` does the waiting, with and without `await`.

    build_request(prepared, (93.184.215.14,), 0)
        -> POST https://93.184.215.14/x, Host: crm.example.com, TLS for crm.example.com
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

import httpx2

from cinatra_sdk.governed.secrets import redact
from cinatra_sdk.platform.origin import Address, RefusalError, read_url
from cinatra_sdk.platform.protocol import PlatformRefused
from cinatra_sdk.platform.request import Prepared
from cinatra_sdk.platform.response import Failure, Response

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
