"""A lying MCP server and a lying agent over HTTP, on loopback, in a thread: the lie is part of the path.

with served(log) as address:
    f"{address}/mcp/nan"    f"{address}/events/twice"    f"{address}/agent/another%20task/"
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.attacks.lies import DIE, HANG, answer, fault, repeat, result
from tests.attacks.lying_agent import answer_agent, make_card, repeat_as_agent

BOMB = b" " * 20_000_000
JSON = "application/json"


class Request:
    """One request as it came."""

    def __init__(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        self.method, self.headers, self.body = method, headers, body
        parts = unquote(urlsplit(path).path).strip("/").split("/")
        self.kind, self.lie = parts[0], parts[1] if len(parts) > 1 else ""
        self.status = 200
        """Of the lie `400: another id`: what is said with it."""
        if self.lie[:3].isdecimal():
            number, _, self.lie = self.lie.partition(": ")
            self.status = int(number)
        self.rest = "/".join(parts[2:])
        scheme, _, user = self.headers.get("authorization", "").partition(" ")
        told = base64.b64decode(user).decode() if scheme == "Basic" else ""
        self.sent = [path, headers, told]
        """What logs in, also as whoever serves reads it."""


class LyingHost:
    """Answers each connection once, and closes it."""

    def __init__(self, log: Path) -> None:
        self.log, self.address = log, ""
        self.looks: dict[str, int] = {}
        """Looks at the task of each lie."""
        self.asked = 0
        """The id of the last request."""
        self.streams: dict[str, asyncio.StreamWriter] = {}
        """The open streams of the older transport."""
        self.leave: Callable[[], None] = lambda: None
        """Nobody is reached any more."""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            request = await self._read(reader)
            await self._respond(request, writer)
        with suppress(ConnectionError, asyncio.CancelledError):
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Request:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        return Request(method, path, headers, body)

    async def _respond(self, request: Request, writer: asyncio.StreamWriter) -> None:
        if request.kind == "agent":
            await self._respond_as_agent(request, writer)
        elif request.kind == "sse" and request.lie.startswith("answers: "):
            await self._open_older(request, writer)
        elif request.kind == "older":
            await send(writer, 202, b"")
            lie = request.lie.removeprefix("answers: ")
            for text in answer(lie, json.loads(request.body), self.log):
                self.streams[request.lie].write(event(text))
        elif request.kind == "sse":
            await send_stream(request.lie, writer, self.address)
        elif request.lie in RESUMED and request.method == "GET":
            told = RESUMED[request.lie](self.asked)
            body = event(told) if told else b"id: 1\nretry: 1\ndata:\n\n"
            await send(writer, 200, body, "text/event-stream")
        elif request.method != "POST":
            await send(writer, 405, b"")
        else:
            await self._respond_as_server(request, writer)

    async def _open_older(self, request: Request, writer: asyncio.StreamWriter) -> None:
        """The older transport at work: what is answered comes as events of the first response."""
        self.streams[request.lie] = writer
        writer.write(b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n\r\n")
        path = f"/older/{request.lie}".replace(" ", "%20")
        writer.write(f"event: endpoint\ndata: {path}\n\n".encode())
        await writer.drain()
        await asyncio.sleep(600)

    async def _respond_as_server(self, request: Request, writer: asyncio.StreamWriter) -> None:
        message = json.loads(request.body)
        if "id" not in message or "method" not in message:
            return await send(writer, 202, b"")
        is_call = message["method"] == "tools/call"
        is_probe = not is_call and message["method"] != "initialize"
        if request.lie == "an id of its own before the question" and is_probe:
            told = fault("server-error", "Unsupported version")
            return await send(writer, 400, told.encode())
        self.asked = message["id"]
        texts = answer(request.lie, message, self.log)
        if is_call and request.lie.startswith("repeats: "):
            texts = [repeat(request.lie.removeprefix("repeats: "), message["id"], request.sent)]
        if is_call and await send_lie(request.lie, message["id"], writer, self.address):
            return None
        if DIE in texts and texts.index(DIE) == 0:
            return None
        if texts[0] == HANG:
            await asyncio.sleep(600)
        kept = [text for text in texts if text not in (HANG, DIE)]
        if request.kind == "events":
            body = b"".join(event(text) for text in kept)
            return await send(writer, request.status if is_call else 200, body, "text/event-stream")
        body = kept[-1 if is_call and request.lie != "twice" else 0].encode()
        return await send(writer, request.status if is_call else 200, body)

    async def _respond_as_agent(self, request: Request, writer: asyncio.StreamWriter) -> None:
        said = request.lie if request.status == 200 else f"{request.status}: {request.lie}"
        own = f"{self.address}/agent/{said.replace(' ', '%20')}/"
        if request.method == "GET":
            if await send_lie(
                request.lie.removeprefix("card: "),
                None,
                writer,
                self.address,
                request.lie.startswith("card: "),
            ):
                return None
            status = request.status if request.lie.startswith("card: ") else 200
            return await send(writer, status, make_card(request.lie, own).encode())
        message = json.loads(request.body)
        if message["method"] != "GetTask":
            with self.log.open("a", encoding="utf-8") as file:
                file.write(message["params"]["message"]["messageId"] + "\n")
            self.looks[request.lie] = 0
        else:
            self.looks[request.lie] += 1
        is_look, lie = message["method"] == "GetTask", request.lie.removesuffix(" at a look")
        if request.lie == "gone at a look":
            self.leave()
        applies = is_look or lie == request.lie
        if await send_lie(lie, message["id"], writer, self.address, applies):
            return None
        text = answer_agent(request.lie, message, self.looks[request.lie])
        if request.lie.startswith("repeats: "):
            text = repeat_as_agent(
                request.lie.removeprefix("repeats: "), message["id"], request.sent
            )
        if text == DIE:
            return None
        if text == HANG:
            await asyncio.sleep(600)
        return await send(writer, request.status, text.encode())


async def send_stream(lie: str, writer: asyncio.StreamWriter, address: str) -> None:
    """The beginning of the older transport: where messages go comes as an event, or does not."""
    if await send_lie(lie, 1, writer, address):
        return
    writer.write(b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n\r\n")
    sent = {
        "the address elsewhere": b"event: endpoint\ndata: http://127.0.0.2:1/messages\n\n",
        "another scheme": b"event: endpoint\ndata: file:///etc/passwd\n\n",
        "a huge address": b"event: endpoint\ndata: /" + b"x" * 300_000 + b"\n\n",
    }
    writer.write(sent.get(lie, b""))
    await writer.drain()
    if lie == "closes":
        return
    while True:
        if lie == "comments":
            writer.write(b": soon\n")
            await writer.drain()
        await asyncio.sleep(0.05)


def event(text: str) -> bytes:
    return f"event: message\ndata: {text}\n\n".encode()


async def send(
    writer: asyncio.StreamWriter, status: int, body: bytes, kind: str = JSON, **headers: str
) -> None:
    lines = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}", "connection: close"]
    lines += [f"content-type: {kind}"] if body else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    await writer.drain()


async def send_lie(
    lie: str, id_: Any, writer: asyncio.StreamWriter, address: str, applies: bool = True
) -> bool:
    """Sends what only HTTP can say; whether the lie is one of these."""
    right = result(id_, {"content": [{"type": "text", "text": "sent"}]}).encode()
    if not applies:
        return False
    if lie.startswith("status "):
        await send(writer, int(lie.split()[1]), b"")
    elif lie in PACKED:
        await send(
            writer, 200, PACKED[lie](BOMB + right), content_encoding=lie.rsplit(maxsplit=1)[-1]
        )
    elif lie == "a small gzip":
        await send(writer, 200, gzip.compress(right), content_encoding="gzip")
    elif lie == "says that it is huge":
        writer.write(
            b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 999999999999\r\n\r\n{"
        )
        await writer.drain()
    elif lie == "huge":
        await send(writer, 200, b" " * 300_000 + right)
    elif lie == "drips":
        writer.write(b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.05)
    elif lie in RAW:
        head = b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\n"
        writer.write(RAW[lie](head, right))
        await writer.drain()
    elif lie in WITHOUT_END:
        writer.write(b"HTTP/1.1 401 X\r\n\r\n" if "401" in lie else b"")
        while True:
            writer.write(WITHOUT_END[lie])
            await writer.drain()
    elif lie == "encoded twice":
        await send(writer, 200, gzip.compress(gzip.compress(right)), content_encoding="gzip, gzip")
    elif lie == "encoded by another name":
        await send(writer, 200, gzip.compress(right), content_encoding="x-gzip")
    elif lie == "in other letters":
        await send(writer, 200, right.decode().encode("utf-16"))
    elif lie == "leads elsewhere by a GET":
        await send(writer, 303, b"", location=f"{address}/closed/right")
    elif lie == "half of it":
        writer.write(
            b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n"
            + right[:20]
        )
        await writer.drain()
    elif lie == "leads elsewhere":
        await send(writer, 307, b"", location=f"{address}/closed/right")
    elif lie == "leads to another host":
        await send(writer, 307, b"", location="http://127.0.0.2:1/mcp")
    elif lie == "leads in a circle":
        await send(
            writer, 307, b"", location=f"{address}/mcp/leads in a circle".replace(" ", "%20")
        )
    elif lie == "a page":
        await send(writer, 200, b"<html>sent</html>", "text/html")
    elif lie == "taken, no answer":
        await send(writer, 202, b"")
    elif lie == "no JSON":
        await send(writer, 200, b"sent")
    elif lie in EVENTS:
        await send(
            writer,
            200,
            EVENTS[lie](result(id_, {"content": []}), right.decode()),
            "text/event-stream",
        )
    else:
        return False
    return True


RAW: dict[str, Callable[[bytes, bytes], bytes]] = {
    "a length too short": lambda head, right: head + b"content-length: 20\r\n\r\n" + right,
    "two lengths": lambda head, right: (
        head + b"content-length: 5\r\ncontent-length: 500\r\n\r\n" + right
    ),
    "a length below zero": lambda head, right: head + b"content-length: -1\r\n\r\n" + right,
    "a huge chunk": lambda head, right: (
        head + b"transfer-encoding: chunked\r\n\r\n%x\r\n" % 300_000 + b" " * 300_000
    ),
    "a chunk of no number": lambda head, right: (
        head + b"transfer-encoding: chunked\r\n\r\n-5\r\n" + right
    ),
    "a huge header": lambda head, right: head + b"x: " + b"y" * 200_000 + b"\r\n\r\n" + right,
}
WITHOUT_END = {
    "hints without end": b"HTTP/1.1 103 X\r\n\r\n" * 100,
    "status 401 without end": b"no" * 1000,
}
RESUMED: dict[str, Callable[[int], str]] = {
    "resumed by another": lambda _id: result(4711, {"content": []}),
    "resumed by the beginning": lambda id_: result(id_ - 1, {"content": []}),
    "resumed by the id as a text": lambda id_: result(str(id_), {"content": []}),
    "resumed by an error for another": lambda _id: fault(4711, "no"),
    "resumed again and again": lambda _id: "",
    "resumed": lambda id_: result(id_, {"content": [{"type": "text", "text": "sent"}]}),
}
"""What comes where a client goes on with a stream that ended."""
PACKED = {
    "a bomb of gzip": gzip.compress,
    "a bomb of deflate": zlib.compress,
    "a bomb of br": lambda b: b[:50],
    "a bomb of zstd": lambda b: b[:50],
}
EVENTS = {
    "another id in an event": lambda _r, _t: event(result(4711, {"content": []})),
    "no end of an event": lambda _r, _t: b"data: " + b"x" * 300_000,
    "comments without end": lambda _r, _t: b": soon\n" * 60_000,
    "ends too early": lambda _r, _t: b"event: message\ndata: {",
    "ends with a mark": lambda _r, _t: b"id: 1\nretry: 1\ndata:\n\n",
    **{lie: lambda _r, _t: b"id: 1\nretry: 1\ndata:\n\n" for lie in RESUMED},
    "events of another kind": lambda _r, t: f"event: result\ndata: {t}\n\n".encode() * 50,
    "nan in lines": lambda _r, _t: (
        b'data: {"jsonrpc": "2.0",\ndata: "id": 1, "result": {"content": [], "structuredContent": {"n": NaN}}}\n\n'
    ),
    "other ends of lines": lambda _r, t: f"event: message\r\ndata: {t}\r\n\r\n".encode(),
    "old ends of lines": lambda _r, t: f"event: message\rdata: {t}\r\r".encode(),
}


@contextmanager
def served(log: Path) -> Iterator[str]:
    """The address of a host."""
    host, loop, ready = LyingHost(log), asyncio.new_event_loop(), threading.Event()

    servers: list[asyncio.Server] = []

    async def run() -> None:
        server = await asyncio.start_server(host.handle, "127.0.0.1", 0, limit=2**20)
        number = server.sockets[0].getsockname()[1]
        servers.append(server)
        host.leave = server.close
        host.address = f"http://127.0.0.1:{number}"
        ready.set()

    def work() -> None:
        asyncio.set_event_loop(loop)
        loop.create_task(run())
        loop.run_forever()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield host.address
    finally:
        asyncio.run_coroutine_threadsafe(_end_all(servers), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def _end_all(servers: list[asyncio.Server]) -> None:
    for server in servers:
        server.close()
    others = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
    for one in others:
        one.cancel()
    await asyncio.gather(*others, return_exceptions=True)
