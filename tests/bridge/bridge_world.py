"""A bridge with scripted models, asked in this process and over HTTP by the same calls."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from cinatra_sdk.context import Actor
from cinatra_sdk.host import FixedRuns, RunScope, local_app
from cinatra_sdk.host.bridge.bridge_route import LlmBridge
from cinatra_sdk.host.bridge.model_offers import Offer, OfferedModel
from cinatra_sdk.host.bridge.toolboxes import Toolbox
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.http_calls.protocol import Platform, PlatformCall, PlatformResponseError
from cinatra_sdk.outside.models.config import ModelConfig
from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.outside.routes import RoutedPlatform, RunOwner

WAYS = ("in process", "over http")
TOKEN = "bridge-0123"
ANN = Actor(org_id="o1", principal_id="ann", team_ids=frozenset(), project_ids=frozenset())
RUNS = FixedRuns(
    {"r1": RunScope(org_id="o1", actor=ANN, package_name="@x/a", slots=(), context_id="c1")}
)


def own(call: PlatformCall) -> RunOwner:
    """The run, as the host knows it; nobody's where the call names none."""
    if call.run_id not in RUNS.runs:
        return RunOwner()
    return RunOwner(run_id=call.run_id, tenant="o1", person="ann")


def offered(provider: str, model: str, script: Any = ()) -> tuple[OfferedModel, ScriptedModel]:
    """A model of the host, and the double that answers for it."""
    double = ScriptedModel(script)
    config = ModelConfig(
        type="LlmConfig", name=f"{provider}:{model}", provider=provider, model=model
    )
    return OfferedModel(config=config, lend=lambda _call, _agent: double), double


def bridge_of(
    *models: OfferedModel, toolboxes: Mapping[str, Toolbox] | None = None, **more: Any
) -> RoutedPlatform:
    boxes = {"cinatra-mcp": Toolbox()} if toolboxes is None else toolboxes
    bridge = LlmBridge(offer=Offer.of(models), toolboxes=boxes, **more)
    return RoutedPlatform({"POST /api/llm-bridge": bridge}, identify=own)


def ask(body: Any, **changes: Any) -> PlatformCall:
    """A node's call of the bridge."""
    given = {
        "node": "ask", "path": "ask", "method": "POST", "place": "ask",
        "url": "{{CINATRA_BASE_URL}}/api/llm-bridge", "body": body,
        "run_id": "r1", "context_id": "c1", "idempotency_key": "k1",
    }  # fmt: skip
    return PlatformCall(**(given | changes))


@contextmanager
def opened(way: str, platform: RoutedPlatform) -> Iterator[Platform]:
    """The platform itself, or an `HttpPlatform` that calls it behind a real server."""
    if way == "in process":
        yield platform
        return
    nothing: Any = None  # no route about context is called
    app = local_app(
        nothing, nothing, RUNS, bridge_token=TOKEN, beyond=platform, hands_on=platform.entries
    )
    with served(app) as base, HttpPlatform(base, bridge_token=TOKEN, retries=0) as remote:
        yield remote


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


def outcome(platform: Platform, call: PlatformCall) -> Any:
    """The value; or status, code and the platform's own sentence of a refusal."""
    try:
        return platform.call(call)
    except PlatformResponseError as error:
        text = str(error)
        head, found, sentence = text.partition(f"{error.status} {error.code}: ")
        # A sentence for whoever runs the flow comes first.
        return error.status, error.code, sentence if found else head.partition(" (node")[0]
