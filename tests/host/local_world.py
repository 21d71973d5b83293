"""A small organisation with two artifacts and two slots, and ways to ask about it."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cinatra_sdk.context import Actor, AgentContextSlot, InstalledExtensions
from cinatra_sdk.host import RunScope
from cinatra_sdk.outside.http_calls.protocol import PlatformCall
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore

PACKAGE = "@x/writer"
VOICE = "@x/voice"
NOW = 1_800_000_000.0
ANN = Actor(
    org_id="o1", principal_id="ann", team_ids=frozenset({"t1"}), project_ids=frozenset({"p1"})
)
REGISTRY = InstalledExtensions({"@x/house-voice": [VOICE]})


def slot(**changes: Any) -> AgentContextSlot:
    given = {
        "slotId": "voice",
        "acceptedArtifactExtensions": [VOICE],
        "selectionMode": "interactive",
        "resolutionMode": "accumulate",
        "minItems": 1,
        "maxItems": 2,
    }
    return AgentContextSlot.model_validate(given | changes)


SLOTS = (
    slot(),
    slot(slotId="tone", selectionMode="autonomous", resolutionMode="override"),
    slot(slotId="pick", resolutionMode="override"),
    slot(slotId="all", selectionMode="autonomous"),
)


def scope(**changes: Any) -> RunScope:
    given = {"org_id": "o1", "actor": ANN, "package_name": PACKAGE, "slots": SLOTS}
    return RunScope(**(given | changes))


def fill(store: ArtifactStore) -> None:
    """Two artifacts of the organisation and one of the project p1; the ids say which."""
    places = {"a": ("org", VOICE), "b": ("org", "@x/house-voice"), "p": ("project:p1", VOICE)}
    for id_, (visibility, extension) in places.items():
        store.add(artifact_id=id_, org_id="o1", owner_id="bob", visibility=visibility, content=id_)
        store.classify(id_, extension)


def body(**changes: Any) -> dict[str, Any]:
    given = {"parentRunId": "r1", "parentPackageName": PACKAGE, "slotId": "voice", "projectId": ""}
    return {key: value for key, value in (given | changes).items() if value is not ...}


def envelope(refs: list[dict[str, str]], **changes: Any) -> str:
    given = {"slotId": "voice", "resolutionMode": "accumulate", "selectedRefs": refs}
    return json.dumps(given | changes)


def refs_of(store: ArtifactStore, *ids: str, slot_: AgentContextSlot | None = None) -> Any:
    found = store.resolve(ANN, slot_ or slot(maxItems=None), REGISTRY).candidates
    by_id = {ref.artifact_id: ref.wire() for ref in found}
    return [by_id[id_] for id_ in ids]


def signed(node: str, *, key: str = "attest-key-0123", context: str = "c1", **changes: Any) -> Any:
    """The headers of a signed call, worked out here from the contract's words."""
    version, expiry = changes.get("version", "v2"), changes.get("expiry", int(NOW) + 300)
    text = f"{version}\n{context}\n{node}\n{expiry}"
    digest = hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()
    return {
        "X-Cinatra-A2A-Context-Id": context,
        "X-Cinatra-Context-Node": node,
        "X-Cinatra-Context-Attestation": f"{version}:{expiry}:{digest}",
    }


def ask(
    app: Any,
    route: str,
    content: Any,
    headers: dict[str, str] | None = None,
    *,
    method: str = "POST",
    parts: int = 1,
) -> tuple[int, Any]:
    """Status and body of one request to an ASGI app."""
    return asyncio.run(send(app, route, content, headers, method=method, parts=parts))


async def send(
    app: Any,
    route: str,
    content: Any,
    headers: dict[str, str] | None = None,
    *,
    method: str = "POST",
    parts: int = 1,
) -> tuple[int, Any]:
    """As `ask`, on the loop of the caller."""
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    size = len(raw) // parts + 1
    pieces = [raw[place : place + size] for place in range(0, max(len(raw), 1), size)]
    incoming = [
        {"type": "http.request", "body": piece, "more_body": place < len(pieces) - 1}
        for place, piece in enumerate(pieces)
    ]
    sent: list[Any] = []

    async def receive() -> Any:
        return incoming.pop(0)

    async def hear(message: Any) -> None:
        sent.append(message)

    asgi = {
        "type": "http", "method": method, "path": f"/api/{route}", "root_path": "",
        "query_string": b"",
        "headers": [
            (k.lower().encode(), v.encode())
            for k, v in {"Content-Type": "application/json", **(headers or {})}.items()
            if v
        ],
    }  # fmt: skip
    await app(asgi, receive, hear)
    return sent[0]["status"], json.loads(sent[1]["body"])


def call(route: str, content: Any, **changes: Any) -> PlatformCall:
    given = {
        "node": "resolve_context" if route == "context-resolve" else "finalize_interactive",
        "path": "outer/node",
        "method": "POST",
        "url": "{{CINATRA_BASE_URL}}/api/" + route,
        "body": content,
        "context_id": "c1",
        "run_id": "r1",
    }
    return PlatformCall(**(given | changes))


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The app behind a real server on a loopback port; its base url."""
    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http="h11", ws="none", lifespan="on", log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        # The socket listens already: a request that comes before the server waits in its queue.
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
