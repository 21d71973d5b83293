"""One connection to a server or agent: what it counts, and why it was broken off.

    exchange = Exchange(bounds=RemoteBounds())
    exchange.break_off("it sent more than …")      raises, and stays known: clients swallow errors

The clients of the packages catch what their transports raise, so the reason is kept here, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import urlsplit

from cinatra_sdk.platform.unrecorded import filter_loggers, unrecorded
from cinatra_sdk.remote.bounds import USUAL, RemoteBounds
from cinatra_sdk.remote.messages import BrokenOff, RequestId, count_values
from cinatra_sdk.remote.words import list_header_secrets

_PACKAGES = ("mcp", "client", "a2a", "httpx", "httpcore")
"""Loggers of the clients; they quote whatever a server sends."""


@dataclass(slots=True, kw_only=True)
class Exchange:
    """What is known of one connection."""

    bounds: RemoteBounds = USUAL
    may_call: Callable[[str], bool] = field(default=lambda _address: True, repr=False)
    """Whether a request may go to an address."""
    only_origin: str = ""
    """The one origin that the declared headers are for; empty: there are none."""
    most_requests: int | None = None
    broken: str = ""
    """Why it was broken off; empty: it was not."""
    closed: str = ""
    """The origin of an address that the operator does not open and the server led to."""
    kept_back: bool = False
    """Whether it was broken off before a request was sent."""
    status: int = 0
    """Of the response to the last request with an id, where it is an error; 0: it is none, or none came."""
    asked: RequestId = None
    """The id of the last request, for which an answer may come on another way than its response."""
    requests: int = 0
    redirects: int = 0
    is_asked: bool = False
    """Whether the question is put: what may do something is sent on once, and only by a server that
    redirected what came before it, too.
    """
    held: list[str] = field(default_factory=list, repr=False)
    """Secrets that came up on the way, such as the token of a login, and the logins that were sent."""

    def break_off(self, why: str) -> NoReturn:
        """Raises: `BrokenOff`."""
        self.broken = self.broken or why
        raise BrokenOff(self.broken)

    def require_open(self, address: str) -> None:
        """Raises: `BrokenOff` for an address that the operator does not open, and for one to which the
        declared headers do not go.
        """
        origin = read_origin(address)
        if not self.may_call(address):
            self.closed = origin
            self.break_off(f"it leads to {origin}, which this process does not open")
        if self.only_origin and origin != self.only_origin:
            self.kept_back = True
            self.break_off(
                f"it leads to {origin}, and the headers that the file declares are for "
                f"{self.only_origin}: name the other address in the file, or leave out the headers"
            )

    def begin_request(self, logins: Mapping[str, str]) -> None:
        """logins: the headers of the request that log in, as they are sent: a server may repeat them."""
        self.held += [one for one in list_header_secrets(logins) if one not in self.held]
        self.requests += 1
        if self.most_requests is not None and self.requests > self.most_requests:
            self.break_off(
                self.bounds.describe("requests", "it led to more than {} requests for one question")
            )

    def begin_question(self) -> None:
        """What comes now is the question itself."""
        self.is_asked, self.status = True, 0

    def count_redirect(self, number: int) -> None:
        """number: of the redirects of one request."""
        self.redirects += not self.is_asked
        if self.is_asked and number > min(self.redirects, 1):
            self.break_off("it redirected what it was asked")
        if number > self.bounds.redirects:
            self.break_off(self.bounds.describe("redirects", "it redirected more than {} times"))

    def require_size(self, size: int) -> None:
        if size > self.bounds.answer_bytes:
            self.break_off(self.bounds.describe("answer_bytes", "it sent more than {} bytes"))

    def require_values(self, text: bytes, value: Any) -> None:
        """text: of the message, value: what was read from it."""
        if count_values(text, value, self.bounds.values) > self.bounds.values:
            self.break_off(self.bounds.describe("values", "its answer has more than {} values"))


def read_origin(address: str) -> str:
    """Scheme, host and port of an address, as `https://crm.example`."""
    parts = urlsplit(address)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    is_usual = parts.port in (None, {"http": 80, "https": 443}.get(parts.scheme))
    return f"{parts.scheme}://{host}" + ("" if is_usual else f":{parts.port}")


@contextmanager
def unlogged() -> Iterator[None]:
    """Around all that is done with a client of the packages, in its thread or task."""
    with unrecorded(_PACKAGES):
        yield


def hide_logs() -> None:
    """Within `unlogged`, after the packages were imported: their loggers exist now."""
    filter_loggers(_PACKAGES)
