"""A real server on loopback that speaks the chat completions protocol of OpenAI."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ChatServer:
    """Answers with its `replies` in turn, the last one again and again.

    A reply is a text, an object (sent as JSON text), or a status with the body of an error.
    """

    def __init__(self, replies: list[Any]) -> None:
        self.replies = replies
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""

    def next_reply(self) -> Any:
        number = len(self.bodies) - 1
        return self.replies[min(number, len(self.replies) - 1)]


@contextmanager
def serving(*replies: Any) -> Iterator[ChatServer]:
    server = ChatServer(list(replies))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", "0"))
            body = json.loads(self.rfile.read(length))
            server.bodies.append(body)
            server.headers.append({k.lower(): v for k, v in self.headers.items()})
            reply = server.next_reply()
            if isinstance(reply, tuple):
                self.send(reply[0], "application/json", json.dumps(reply[1]).encode())
                return
            text = reply if isinstance(reply, str) else json.dumps(reply)
            if body.get("stream"):
                self.send(200, "text/event-stream", streamed(text))
            else:
                self.send(200, "application/json", json.dumps(completion(text)).encode())

        def send(self, status: int, kind: str, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_args: Any) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


USAGE = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}


def completion(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {
        "id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice],
        "usage": USAGE,
    }  # fmt: skip


def streamed(text: str) -> bytes:
    """The text in two chunks, then what was used up."""
    half = len(text) // 2
    deltas = [{"role": "assistant", "content": text[:half]}, {"content": text[half:]}]
    chunks = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    chunks.append({"choices": [], "usage": USAGE})
    about = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    lines = [f"data: {json.dumps({**about, **chunk})}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()
