"""A real HTTP server on loopback whose answers a test writes down."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Seen:
    """One request as the server got it; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Reply:
    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    hang_up: bool = False
    """Close the connection without an answer."""
    once: threading.Event | None = None
    """Answer only once this is set."""


class LoopbackServer:
    """Gives its `replies` in turn; the last one repeats."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.asked = threading.Event()
        """Set once there was a request."""
        self.replies: list[Reply] = [Reply()]
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                seen = Seen(self.command, self.path, headers, self.rfile.read(length))
                reply = outer.replies[min(len(outer.seen), len(outer.replies) - 1)]
                outer.seen.append(seen)
                outer.asked.set()
                if reply.once is not None:
                    reply.once.wait()
                if reply.hang_up:
                    self.close_connection = True
                    return
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                try:
                    self.wfile.write(reply.body)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = answer

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answers(self, *replies: Reply | dict[str, object]) -> None:
        self.replies = [
            reply if isinstance(reply, Reply) else Reply(body=json.dumps(reply).encode())
            for reply in replies
        ]

    @property
    def last(self) -> Seen:
        return self.seen[-1]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


RUN_TOKEN = "canary-run-token-7f3a"
BEARER = "canary-bearer-token-91bc"
BRIDGE = "canary-bridge-token-55de"
ATTEST = "canary-attest-key-0c4f"
CANARIES = (RUN_TOKEN, BEARER, BRIDGE, ATTEST)
