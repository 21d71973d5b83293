"""The transport below the HTTP clients of the packages: bounded, and strict about what comes.

    client = httpx.AsyncClient(transport=bound_transport(httpx, inner, exchange))

A response comes without compression, or not at all: its size is known while it is read.  JSON is read
strictly, and the answer of a JSON-RPC request has its id.  Made for `httpx` and for `httpx2`, whose
classes have the same shape.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, Final

from cinatra_sdk.remote.exchange import Exchange
from cinatra_sdk.remote.messages import BrokenOff, EventJudge, RequestId, is_json, judge_answer
from cinatra_sdk.text.header_names import IDENTITY

ACCEPTED: Final = 202
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
                exchange.status, exchange.asked = 0, asked
            response = await inner.handle_async_request(request)
            try:
                _look_at_head(response, asked, exchange, redirected)
            except BrokenOff:
                await response.stream.aclose()
                raise
            return _hand_on(package, response, asked, exchange)

        async def aclose(self) -> None:
            await inner.aclose()

    return BoundedTransport()


def _hand_on(package: Any, response: Any, asked: RequestId, exchange: Exchange) -> Any:
    """The response, which is read through the bounds."""

    class BoundedStream(package.AsyncByteStream):  # type: ignore[misc]  # of either package
        async def __aiter__(self) -> AsyncIterator[bytes]:
            reading = read_events if _is_stream(response) else read_whole
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
    """The whole body, judged before anything of it goes on."""
    body = bytearray()
    async for chunk in response.stream:
        body += chunk
        exchange.require_size(len(body))
    if body and response.status_code < 400 and _is_meant_as_json(response, body, asked):
        try:
            whole = bytes(body)
            exchange.require_values(whole, judge_answer(whole, asked))
        except BrokenOff as problem:
            exchange.break_off(str(problem))
    yield bytes(body)


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
        exchange.break_off(str(problem))


def _look_at_head(
    response: Any, asked: RequestId, exchange: Exchange, redirected: Counter[RequestId]
) -> None:
    if asked is not None:
        exchange.status = response.status_code if response.status_code >= 400 else 0
    if "location" in response.headers and 300 <= response.status_code < 400:
        redirected[asked] += 1
        exchange.count_redirect(redirected[asked])
    encoding = response.headers.get("content-encoding", IDENTITY).strip().lower()
    if encoding != IDENTITY:
        exchange.break_off("its answer is compressed, and no compression was asked for")
    length = response.headers.get("content-length", "")
    if length.isdecimal():
        exchange.require_size(int(length[:20]))


def _is_meant_as_json(response: Any, body: bytes | bytearray, asked: RequestId) -> bool:
    """Whether somebody will read the body as JSON: clients do so whatever its type is."""
    if "json" in response.headers.get("content-type", ""):
        return True
    # The older transport only says that it has the message; the answer comes as an event.
    return asked is not None and (response.status_code != ACCEPTED or is_json(bytes(body)))


def _is_stream(response: Any) -> bool:
    return str(response.headers.get("content-type", "")).lower().startswith("text/event-stream")


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
