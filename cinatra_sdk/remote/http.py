"""The transport below the HTTP clients of the packages: bounded, and strict about what comes.

    client = httpx.AsyncClient(transport=bound_transport(httpx, inner, exchange))

A response comes without compression, or not at all: its size is known while it is read.  JSON is read
strictly, and the answer of a JSON-RPC request has its id.  Made for `httpx` and for `httpx2`, whose
classes have the same shape.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from cinatra_sdk.remote.exchange import Exchange
from cinatra_sdk.remote.messages import BrokenOff, EventJudge, RequestId, judge_answer
from cinatra_sdk.text.header_names import IDENTITY


def bound_transport(package: Any, inner: Any, exchange: Exchange) -> Any:
    """package: `httpx` or `httpx2`; inner: its transport that speaks to the network."""

    class BoundedStream(package.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, response: Any, asked: RequestId) -> None:
            self._response, self._asked = response, asked

        async def __aiter__(self) -> AsyncIterator[bytes]:
            reading = read_events if _is_stream(self._response) else read_whole
            async for chunk in reading(self._response, self._asked, exchange):
                yield chunk

        async def aclose(self) -> None:
            await self._response.stream.aclose()

    redirected: dict[RequestId, int] = {}

    class BoundedTransport(package.AsyncBaseTransport):  # type: ignore[misc]
        async def handle_async_request(self, request: Any) -> Any:
            exchange.begin_request()
            exchange.require_open(str(request.url))
            request.headers["accept-encoding"] = IDENTITY
            asked = await _find_id(request)
            response = await inner.handle_async_request(request)
            try:
                _look_at_head(response, asked, exchange)
                if "location" in response.headers and 300 <= response.status_code < 400:
                    redirected[asked] = redirected.get(asked, 0) + 1
                    exchange.count_redirect(redirected[asked])
            except BrokenOff:
                await response.stream.aclose()
                raise
            headers = [
                pair for pair in response.headers.raw if pair[0].lower() != b"content-length"
            ]
            return package.Response(
                response.status_code,
                headers=headers,
                stream=BoundedStream(response, asked),
                extensions=response.extensions,
            )

        async def aclose(self) -> None:
            await inner.aclose()

    return BoundedTransport()


async def read_whole(response: Any, asked: RequestId, exchange: Exchange) -> AsyncIterator[bytes]:
    """The whole body, judged before anything of it goes on."""
    body = bytearray()
    async for chunk in response.stream:
        body += chunk
        exchange.require_size(len(body))
    is_json = asked is not None or "json" in response.headers.get("content-type", "")
    if body and is_json and response.status_code < 400:
        try:
            judge_answer(bytes(body), asked)
        except BrokenOff as problem:
            exchange.break_off(str(problem))
    yield bytes(body)


async def read_events(response: Any, asked: RequestId, exchange: Exchange) -> AsyncIterator[bytes]:
    """Each event when it is whole."""
    judge, size = EventJudge(asked), 0
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


def _look_at_head(response: Any, asked: RequestId, exchange: Exchange) -> None:
    if asked is not None:
        exchange.status = response.status_code if response.status_code >= 400 else 0
    encoding = response.headers.get("content-encoding", IDENTITY).strip().lower()
    if encoding != IDENTITY:
        exchange.break_off("its answer is compressed, and no compression was asked for")
    length = response.headers.get("content-length", "")
    if length.isdecimal():
        exchange.require_size(int(length[:20]))


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
