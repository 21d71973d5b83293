"""The transport below the HTTP clients of the packages: bounded, and strict about responses.

    client = httpx.AsyncClient(transport=bound_transport(httpx, inner, exchange))

A response comes without compression, or not at all: its size is known while it is read.  JSON is read
strictly, whatever the status is, and the answer of a JSON-RPC request has its id.  Made for `httpx` and for `httpx2`, whose
classes have the same shape.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Any, Final, Literal, NoReturn
from urllib.parse import urlsplit

from cinatra_sdk.data.text.header_names import IDENTITY
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.http_exchange import filter_loggers, unrecorded
from cinatra_sdk.outside.remote_answers.foreign_answer import (
    BrokenOff,
    EventJudge,
    RequestId,
    count_values,
    is_foreign,
    is_json,
    judge_answer,
    judge_refusal,
    list_header_secrets,
)
from cinatra_sdk.outside.remote_answers.remote_bounds import USUAL, RemoteBounds

# ----------------------------------------------------------------------------
# One connection to a server or agent: what it counts, and why it was broken off.
#
#     `exchange = Exchange(bounds=RemoteBounds())`
#     exchange.break_off("it sent more than …")      raises, and stays known: clients swallow errors
#
# The clients of the packages catch what their transports raise, so the reason is kept here, too.


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
    answers_in: Literal["body", "typed body", "event"] = "body"
    """Where a request is answered: in the body of its response, in one that says JSON or events by its
    type, or as an event of another response (the older transport of MCP).
    """
    broken: str = ""
    """Why it was broken off; empty: it was not."""
    closed: str = ""
    """The origin of an address that the operator does not open and the server led to."""
    kept_back: bool = False
    """Whether it was broken off before a request was sent."""
    status: int = 0
    """Of the response to the last request with an id, where it is an error; 0: it is none, or none came."""
    newest_status: int = 0
    """Of the newest response, whatever it answers; 0: none came."""
    asked: RequestId = None
    """The id of the last request, for which an answer may come on another way than its response."""
    requests: int = 0
    redirects: int = 0
    is_asked: bool = False
    """Whether the question is put: what may do something is sent on once, and only by a server that
    redirected what came before it, too.
    """
    is_answered: bool = False
    """Whether an answer to the last request came: the first one counts, whatever comes after it."""
    is_refused: bool = False
    """Whether that answer is an error of the server's own."""
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

    def expect_answer(self, asked: RequestId) -> None:
        """asked: the id of the request that is sent now; nothing of one before it says anything of it."""
        self.asked, self.status = asked, 0
        self.is_answered = self.is_refused = False

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
        if not self.is_answered and isinstance(value, dict) and {"result", "error"} & set(value):
            self.is_answered = "method" not in value and not is_foreign(value, self.asked)
            self.is_refused = self.is_answered and isinstance(value.get("error"), dict)
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


SUCCESS: Final = 200
"""The one status of an answer; another success says that there is none."""
ACCEPTED: Final = 202
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_JSON: Final = "application/json"
_EVENTS: Final = "text/event-stream"
_LOGINS: Final = ("authorization", "proxy-authorization")


def bound_transport(package: Any, inner: Any, exchange: Exchange) -> Any:
    """package: `httpx` or `httpx2`; inner: its transport that speaks to the network."""
    redirected: Counter[RequestId] = Counter()

    class BoundedTransport(package.AsyncBaseTransport):  # type: ignore[misc]  # of either package
        async def handle_async_request(self, request: Any) -> Any:
            sent = request.headers
            exchange.begin_request({name: sent[name] for name in _LOGINS if name in sent})
            exchange.require_open(str(request.url))
            request.headers["accept-encoding"] = IDENTITY
            asked = await _find_id(request)
            if asked is not None:
                # A status says nothing of a request that is sent after it, such as that with a new token.
                exchange.expect_answer(asked)
            response = await inner.handle_async_request(request)
            try:
                _look_at_head(response, asked, exchange, redirected)
            except BrokenOff:
                await response.stream.aclose()
                raise
            handed = _hand_on(package, response, asked, exchange)
            if asked is not None and _is_looked_at(response, exchange):
                # Clients leave some types unread; what is an answer to another says nothing of this one.
                await _read_to_end(handed)
            return handed

        async def aclose(self) -> None:
            await inner.aclose()

    return BoundedTransport()


def _hand_on(package: Any, response: Any, asked: RequestId, exchange: Exchange) -> Any:
    """The response, which is read through the bounds."""

    class BoundedStream(package.AsyncByteStream):  # type: ignore[misc]  # of either package
        async def __aiter__(self) -> AsyncIterator[bytes]:
            is_live = _is_stream(response) and not _is_refusal(response)
            reading = read_events if is_live else read_whole
            async for chunk in reading(response, asked, exchange):
                yield chunk

        async def aclose(self) -> None:
            await response.stream.aclose()

    headers = [pair for pair in response.headers.raw if pair[0].lower() != b"content-length"]
    return package.Response(
        response.status_code,
        headers=headers,
        stream=BoundedStream(),
        extensions=response.extensions,
    )


async def read_whole(response: Any, asked: RequestId, exchange: Exchange) -> AsyncIterator[bytes]:
    """The whole body, judged before anything of it goes on, whatever the status is."""
    body = bytearray()
    async for chunk in response.stream:
        body += chunk
        exchange.require_size(len(body))
    whole = bytes(body)
    try:
        _judge_whole(response, whole, asked, exchange)
        if asked is not None and not _is_refusal(response):
            _require_answer(response, whole, exchange)
    except BrokenOff as problem:
        is_status_enough = response.status_code >= 400 and not exchange.is_asked
        if exchange.broken or not is_status_enough:
            exchange.break_off(str(problem))
        # Nothing was asked yet: the status says no, and an answer to nobody is left out.  Servers that
        # do not know a version of the protocol refuse it so, under an id of their own.
        whole = b""
    yield whole


def _judge_whole(response: Any, whole: bytes, asked: RequestId, exchange: Exchange) -> None:
    """Raises: `BrokenOff`."""
    if not whole:
        return
    if _is_refusal(response) and _is_stream(response):
        judge = EventJudge(asked, exchange.require_values, judge_refusal)
        judge.feed(whole)
        judge.end()
    elif _is_refusal(response):
        exchange.require_values(whole, judge_refusal(whole, asked))
    elif _is_meant_as_json(response, whole, asked):
        exchange.require_values(whole, judge_answer(whole, asked))


def _require_answer(response: Any, whole: bytes, exchange: Exchange) -> None:
    """Raises: `BrokenOff` for a response of a success that answers nothing: clients tell of it in words of
    their libraries, or wait for an answer until the time is over.
    """
    if exchange.answers_in == "event":
        return
    if not whole:
        raise BrokenOff(f"it answered with status {response.status_code} and an empty body")
    media = _read_media(response)
    if exchange.answers_in == "typed body" and media != _JSON:
        raise BrokenOff("the content-type of its answer says neither JSON nor events")
    if exchange.answers_in == "body" and media != _JSON and not media.endswith("+json"):
        raise BrokenOff("the content-type of its answer does not say JSON")


async def read_events(response: Any, asked: RequestId, exchange: Exchange) -> AsyncIterator[bytes]:
    """Each event when it is whole."""
    # The client takes any answer of a stream that it has opened or resumed for that to its request.
    may_answer = (lambda: exchange.asked) if asked is None else asked
    judge, size = EventJudge(may_answer, exchange.require_values), 0
    try:
        async for chunk in response.stream:
            size += len(chunk)
            exchange.require_size(size)
            whole = judge.feed(chunk)
            if whole:
                yield whole
        yield judge.end()
    except BrokenOff as problem:
        if exchange.is_answered and judge.ready:
            yield judge.ready  # an answer counts, whatever comes after it in the same piece
        exchange.break_off(str(problem))


def _look_at_head(
    response: Any, asked: RequestId, exchange: Exchange, redirected: Counter[RequestId]
) -> None:
    exchange.newest_status = response.status_code
    if asked is not None:
        exchange.status = response.status_code if response.status_code >= 400 else 0
    if _is_redirect(response):
        redirected[asked] += 1
        exchange.count_redirect(redirected[asked])
    elif (
        asked is not None
        and exchange.answers_in != "event"
        and SUCCESS < response.status_code < 400
    ):
        # Clients take each of these for a success, and read what comes with it as the answer.
        exchange.break_off(
            f"it answered with status {response.status_code}, and an answer comes with {SUCCESS}"
        )
    encoding = response.headers.get("content-encoding", IDENTITY).strip().lower()
    if encoding != IDENTITY:
        exchange.break_off("its answer is compressed, and no compression was asked for")
    length = response.headers.get("content-length", "")
    if length.isdecimal():
        exchange.require_size(int(length[:20]))


async def _read_to_end(response: Any) -> None:
    """Have the body at hand, and the connection given back."""
    try:
        await response.aread()
    finally:
        await response.stream.aclose()


def _is_refusal(response: Any) -> bool:
    """Whether nobody takes the body for the answer of a success.

    Clients take a status from 300 on that leads nowhere for a success.
    """
    return response.status_code >= 400 or _is_redirect(response)


def _is_redirect(response: Any) -> bool:
    """Whether clients follow it to its location."""
    return response.status_code in _REDIRECTS and "location" in response.headers


def _is_meant_as_json(response: Any, body: bytes, asked: RequestId) -> bool:
    """Whether somebody will read the body as JSON: clients do so whatever its type is."""
    if "json" in response.headers.get("content-type", ""):
        return True
    # The older transport only says that it has the message; the answer comes as an event.
    is_due = asked is not None and response.status_code != ACCEPTED
    return is_due or is_json(body)


def _is_looked_at(response: Any, exchange: Exchange) -> bool:
    """Whether the response to a request is read at once, whatever its client does with it."""
    if response.status_code >= 400:
        return True
    is_live = _is_refusal(response) or _is_stream(response)
    return exchange.answers_in != "event" and not is_live


def _is_stream(response: Any) -> bool:
    return _read_media(response) == _EVENTS


def _read_media(response: Any) -> str:
    """The type of a response without its parameters."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


async def _find_id(request: Any) -> RequestId:
    """The id of the JSON-RPC request that is sent; None where it is none."""
    if request.method != "POST" or "json" not in request.headers.get("content-type", ""):
        return None
    try:
        sent = json.loads(await request.aread())
    except ValueError:
        return None
    asked = sent.get("id") if isinstance(sent, dict) and "method" in sent else None
    return asked if isinstance(asked, (int, str)) else None
