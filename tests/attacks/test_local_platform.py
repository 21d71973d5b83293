"""A served local platform: what a caller gets beyond the local routes, and as whom.

A host serves two people.  Behind its app stands a platform over HTTP that holds the host's bridge
token and its signing key; what that one sends is what the attacker wants.  Eve attacks; Ann's run,
her conversation and her run token are known to Eve.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast
from urllib.parse import parse_qsl, unquote

import httpx2

from cinatra_sdk.context import Actor, ContextError
from cinatra_sdk.context.candidates import InstalledExtensions
from cinatra_sdk.host import (
    BearerIdentity,
    FixedRuns,
    LocalPlatform,
    RunScope,
    forward_routes,
    local_app,
    proof,
)
from cinatra_sdk.host import asgi_app as app_module
from cinatra_sdk.host import local_platform as platform_module
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.http_calls.protocol import PlatformCall, PlatformError
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from tests.attacks import families
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place

NOW = 1_800_000_000.0
TOKEN, KEY = "hosts-bridge-token-0123", "hosts-signing-key-0123"
PEOPLE = {"eve-token": "eve", "ann-token": "ann"}
LISTED = ("POST /api/llm-bridge", "GET /api/models?family", "POST /api/agents/passthrough")
NO_TABLES = cast("ArtifactStore", None)
"""Nothing in this family may come as far as a table."""
PLAIN_HEADERS = {
    "host", "accept", "accept-encoding", "user-agent", "connection", "content-type",
    "content-length",
}  # fmt: skip


def person(name: str) -> RunScope:
    return RunScope(
        org_id="o1",
        actor=Actor(org_id="o1", principal_id=name),
        package_name="@x/writer",
        slots=(),
        context_id=f"c-{name}",
        run_token=f"run-token-{name}-0123",
    )


class Runs(FixedRuns):
    """A directory in which one of Ann's runs cannot be read."""

    def scope(self, run_id: str) -> RunScope | None:
        if run_id == "r-ann-broken":
            raise ContextError("oas_missing", "Ann's secret slot has no file")
        return super().scope(run_id)


RUNS = Runs({f"r-{name}": person(name) for name in ("eve", "ann")})


class Wire:
    """The platform beyond, and what came to it."""

    def __init__(self) -> None:
        self.sent: list[httpx2.Request] = []
        client = httpx2.Client(transport=httpx2.MockTransport(self._answer))
        self.platform = HttpPlatform(
            "http://beyond.test", bridge_token=TOKEN, attestation_key=KEY, client=client,
            clock=lambda: NOW,
        )  # fmt: skip

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.sent.append(request)
        return httpx2.Response(200, json={"text": "Hello"})

    def told(self) -> str:
        """What was sent, with whose proofs, and every header that should not be there."""
        if not self.sent:
            return "nothing sent"
        return "sent " + ", ".join(_told(request) for request in self.sent)


def _told(request: httpx2.Request) -> str:
    proofs = []
    for name, value in request.headers.items():
        if name == "x-cinatra-bridge-token":
            proofs.append("the host's token")
        elif name == "authorization":
            proofs.append(PEOPLE.get(value.removeprefix("Bearer "), value))
        elif name == "x-cinatra-step-attestation":
            proofs.append(f"signed for {request.headers['x-cinatra-step-node']}")
        elif name == "x-cinatra-a2a-context-id":
            proofs.append(value)
        elif name == "x-cinatra-run-token":
            proofs.append("a run token")
        elif name not in {*PLAIN_HEADERS, "x-cinatra-step-node", "idempotency-key"}:
            proofs.append(name)
    query = f"?{request.url.query.decode()}" if request.url.query else ""
    return f"{request.method} {request.url.path}{query} as {' + '.join(proofs) or 'nobody'}"


def attempt(attack: Attack, place: Place) -> str:
    wire = Wire()
    tried = attack.value if isinstance(attack.value, dict) else {"path": attack.value}
    if "list" in tried or "call" in tried:
        try:
            return _in_process(wire, tried)
        except ValueError:
            return "refused as a list"
    return asyncio.run(_asked(wire, tried))


def _in_process(wire: Wire, tried: dict[str, Any]) -> str:
    platform = LocalPlatform(
        NO_TABLES, InstalledExtensions(), RUNS, beyond=wire.platform, hands_on=tried.get("list")
    )
    if "call" not in tried:
        return "taken as a list"
    call = PlatformCall(
        node="step", path="step", method=tried.get("method", "POST"), run_id="r-eve",
        url=tried["call"], query=tried.get("query", {}), body={},
    )  # fmt: skip
    try:
        platform.call(call)
    except PlatformError as error:
        return f"{error.code}; {wire.told()}"
    return f"answered; {wire.told()}"


class Careless:
    """A platform of a host's own, which has its authority in itself."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    def call(self, call: PlatformCall) -> Any:
        self.wire.sent.append(httpx2.Request("POST", "http://beyond.test/careless"))
        return {}

    async def acall(self, call: PlatformCall) -> Any:
        return self.call(call)

    def describe(self) -> dict[str, Any]:
        return {}


def _served(wire: Wire, tried: dict[str, Any]) -> Any:
    return local_app(
        NO_TABLES,
        InstalledExtensions(),
        RUNS,
        bridge_token=tried.get("bridge", TOKEN),
        verify_bearer=None if tried.get("open") else _verify,
        attestation_key=tried.get("key", KEY),
        beyond=Careless(wire) if tried.get("careless") else wire.platform,
        hands_on=tried.get("lists", LISTED),
        clock=lambda: NOW,
        in_thread=False,
    )


def _verify(token: str) -> BearerIdentity | None:
    name = PEOPLE.get(token)
    return None if name is None else BearerIdentity(org_id="o1", principal_id=name)


async def _asked(wire: Wire, tried: dict[str, Any]) -> str:
    sent: list[Any] = []
    parts = _parts(tried)
    taken = 0

    async def receive() -> Any:
        nonlocal taken
        taken += 1
        assert taken < 100, "the app reads without end"
        return next(parts)

    async def send(message: Any) -> None:
        sent.append(message)

    await _served(wire, tried)(_scope(tried), receive, send)
    if not sent or sent[0]["type"] != "http.response.start":
        return f"{sent[0]['type'] if sent else 'no answer'}; {wire.told()}"
    answer = json.loads(sent[1]["body"])
    told = f"{sent[0]['status']} {answer.get('error', 'answered')}; {wire.told()}"
    return told + ("; Ann's file told" if "secret slot" in json.dumps(answer) else "")


def _scope(tried: dict[str, Any]) -> dict[str, Any]:
    written = tried.get("path", "/api/llm-bridge")
    path, _, query = written.partition("?")
    scope: dict[str, Any] = {
        "type": tried.get("type", "http"),
        "method": tried.get("method", "POST"),
        "path": tried.get("decoded", unquote(path, "latin-1")),
        "root_path": tried.get("root", ""),
        "query_string": query.encode(),
        "headers": list(_headers(tried)),
    }
    if tried.get("raw", True) is not False:
        scope["raw_path"] = (path if tried.get("raw", True) is True else tried["raw"]).encode()
    return scope


def _headers(tried: dict[str, Any]) -> Iterator[tuple[bytes, bytes]]:
    who = tried.get("as", "eve")
    if who in ("eve", "ann"):
        yield b"authorization", f"Bearer {who}-token".encode()
    if who == "bridge":
        yield b"x-cinatra-bridge-token", TOKEN.encode()
    if not any(line.lower().startswith("content-type:") for line in tried.get("headers", [])):
        yield b"content-type", b"application/json"
    for line in tried.get("headers", []):
        name, _, value = line.partition(": ")
        yield name.encode(), value.encode("latin-1")
    if "long" in tried:
        yield tried["long"].encode(), b"k" * 1025
    if "signs" in tried:
        node, context, key, version, ago = (
            {"node": "draft", "context": "c-ann", "key": KEY, "version": "s1", "ago": -300}
            | tried["signs"]
        ).values()
        expiry = int(NOW) - ago
        text = f"{version}\n{context}\n{node}\n{expiry}"
        digest = hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()
        yield b"x-cinatra-step-attestation", f"{version}:{expiry}:{digest}".encode()


def _parts(tried: dict[str, Any]) -> Iterator[dict[str, Any]]:
    body = tried.get("body", {"user": "hi"})
    content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    if "bytes" in tried:
        content = bytes.fromhex(tried["bytes"])
    if "repeat" in tried:
        content = content * tried["repeat"]
    if tried.get("encoding"):
        content = json.dumps(body).encode(tried["encoding"])
    while tried.get("endless"):
        yield {"type": "http.request", "body": b"0" * 1_000_000, "more_body": True}
    yield {"type": "http.request", "body": content, "more_body": False}


# ---------------------------------------------------------------------------- controls


def _instead(where: Any, name: str, value: Any) -> Any:
    @contextmanager
    def opened(place: Place) -> Iterator[None]:
        with place.monkeypatch.context() as patch:
            patch.setattr(where, name, value)
            yield

    def door(place: Place) -> AbstractContextManager[Any]:
        return opened(place)

    return door


def _by_prefix(routes: Any, method: str, path: str) -> Any:
    found = next((r for r in routes if r.method == method and path.startswith(r.path)), None)
    return found and forward_routes.ForwardedRoute(method=method, path=path)


def _decoded_only(scope: Any) -> tuple[str, str]:
    return scope["path"], scope["path"]


def _whole_authority(**given: Any) -> forward_routes.Caller:
    return forward_routes.Caller(**given | {"has_authority": True})


def _any_query(self: forward_routes.ForwardedRoute, text: str) -> dict[str, str]:
    return dict(parse_qsl(text))


CONTROLS = {
    "a listed path stands for all below it": Control(
        open=_instead(app_module, "matched", _by_prefix), row="another_spelling-a segment more"
    ),
    "only the decoded path is compared": Control(
        open=_instead(app_module, "path_in", _decoded_only),
        row="another_spelling-an encoded letter",
    ),
    "a bearer has the host's authority": Control(
        open=_instead(app_module, "Caller", _whole_authority), row="the_host's_token-a plain call"
    ),
    "a bearer names whom it likes": Control(
        open=_instead(forward_routes, "_check_claims", lambda *given: None),
        row="another's_conversation-in the header",
    ),
    "every step is signed": Control(
        open=_instead(forward_routes, "signed_step", lambda *given, **more: True),
        row="a_signed_step-with the bridge token and any node",
    ),
    "signatures are not compared": Control(
        open=_instead(proof, "_check_signature", lambda *given, **more: None),
        row="a_signed_step-with another key",
    ),
    "a header may come twice": Control(
        open=_instead(app_module, "_proves_twice", lambda pairs: False),
        row="headers-two conversations",
    ),
    "a query is handed on as it is": Control(
        open=_instead(forward_routes.ForwardedRoute, "fields", _any_query),
        row="query-a name that is not listed",
    ),
    "everybody owns every run": Control(
        open=_instead(proof, "check_bearer", lambda *given: None), row="a_local_route-Ann's run"
    ),
    "a run in process spells as it likes": Control(
        open=_instead(platform_module, "_finds_local", lambda url: False),
        row="a_run_in_process-finalize in capitals",
    ),
}
CONTROLS = {
    name: Control(open=control.open, row=control.row.replace(" ", "_"))
    for name, control in CONTROLS.items()
}

test_attack, test_twin, test_control = families.tests_of("local_platform", attempt, CONTROLS)
