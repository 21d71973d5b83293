"""A served local platform: what it has no route for goes on to the platform beyond."""

from __future__ import annotations

import asyncio
import importlib.util
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from local_world import ANN, REGISTRY, ask, fill, send, served

from cinatra_sdk.context import read_slots
from cinatra_sdk.host import FixedRuns, RunScope, local_app
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.http_calls.protocol import PlatformRefused, PlatformResponseError
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.outside.routes import RouteCall, RoutedPlatform, RouteError
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.database import Database
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.slot_flows import declared
from tests.wired_flows import wired

TOKEN = {"X-Cinatra-Bridge-Token": "bridge-0123"}
needs_server = pytest.mark.skipif(
    importlib.util.find_spec("uvicorn") is None, reason="the extra `server` is not installed"
)


@pytest.fixture
def artifacts(fresh_database: str):
    database = Database.open(fresh_database)
    store = ArtifactStore(database)
    fill(store)
    yield store
    database.close()


def app(store: ArtifactStore, beyond: Any, **runs: RunScope) -> Any:
    return local_app(
        store, REGISTRY, FixedRuns(runs), bridge_token="bridge-0123", beyond=beyond,
        hands_on=["POST /api/llm-bridge"],
    )  # fmt: skip


class Failing(SimulatedPlatform):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def call(self, call: Any) -> Any:
        raise self.error


def test_a_call_without_a_route_is_answered_beyond_and_only_for_who_may_ask(artifacts):
    beyond = SimulatedPlatform({"/api/llm-bridge": {"text": "Hello"}})
    local = app(artifacts, beyond)
    status, answer = ask(local, "llm-bridge", {"user": "hi"})
    assert (status, answer["error"]) == (403, "forbidden")
    assert beyond.calls == []
    headers = {**TOKEN, "X-Cinatra-A2A-Context-Id": "c1", "Idempotency-Key": "k1"}
    assert ask(local, "llm-bridge", {"user": "hi"}, headers) == (200, {"text": "Hello"})
    (made,) = beyond.calls
    assert (made.url, made.body) == ("{{CINATRA_BASE_URL}}/api/llm-bridge", {"user": "hi"})
    assert ask(app(artifacts, None), "llm-bridge", {}, TOKEN)[0] == 404


def test_a_context_route_is_never_answered_beyond(artifacts):
    beyond = SimulatedPlatform({"/api/context-resolve": {"candidates": []}})
    status, answer = ask(app(artifacts, beyond), "context-resolve", {}, TOKEN)
    assert (status, answer["error"]) == (400, "invalid_body")
    assert beyond.calls == []


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (PlatformResponseError("no model", node="", status=503, code="NO_LLM_PROVIDER"), 503, "NO_LLM_PROVIDER"),
        (PlatformRefused("not allowed", node=""), 502, "platform_refused"),
    ],
)  # fmt: skip
def test_an_error_beyond_keeps_its_status_and_code(artifacts, error, status, code):
    answer = ask(app(artifacts, Failing(error)), "llm-bridge", {}, TOKEN)
    assert (answer[0], answer[1]["error"]) == (status, code)


def test_a_body_that_is_not_json_goes_no_further(artifacts):
    beyond = SimulatedPlatform()
    assert ask(app(artifacts, beyond), "llm-bridge", b"{", TOKEN)[0] == 400
    assert beyond.calls == []


def test_a_route_that_awaits_holds_no_thread_of_the_server():
    came, everybody = [], asyncio.Event()

    async def meet(call: RouteCall) -> Any:
        came.append(call.body)
        if len(came) == 5:
            everybody.set()
        # With a thread for each call, the third one would never come.
        await asyncio.wait_for(everybody.wait(), timeout=20)
        return call.body

    routed = RoutedPlatform({"POST /api/llm-bridge": meet})
    nothing: Any = None  # no route about context is called
    open_app = local_app(nothing, nothing, FixedRuns({}), beyond=routed, hands_on=routed.entries)

    async def ask_all() -> list[Any]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(max_workers=2))
        calls = [send(open_app, "llm-bridge", {"n": number}) for number in range(5)]
        return list(await asyncio.gather(*calls))

    assert asyncio.run(ask_all()) == [(200, {"n": number}) for number in range(5)]


def test_a_refusal_of_a_route_keeps_all_its_members(artifacts):
    def refuse(_call: RouteCall) -> Any:
        raise RouteError(400, "invalid_body", "no", more={"issues": ["a"]})

    local = app(artifacts, RoutedPlatform({"POST /api/llm-bridge": refuse}))
    status, answer = ask(local, "llm-bridge", {}, TOKEN)
    assert status == 400
    assert answer["issues"] == ["a"]


@needs_server
def test_a_whole_flow_runs_over_http_with_its_other_calls_simulated(artifacts):
    slot = {
        "slotId": "brand", "acceptedArtifactExtensions": ["@x/voice"],
        "selectionMode": "autonomous", "resolutionMode": "override",
    }  # fmt: skip
    flow = declared()
    flow["metadata"]["cinatra"]["contextSlots"] = [slot]
    compiled = compile_flow(wired(flow))
    beyond = SimulatedPlatform({"/api/write": {"text": "Hello"}})

    class Runs:
        def scope(self, run_id: str) -> RunScope:
            return RunScope(
                org_id="o1", actor=ANN, package_name="@test/agent", slots=read_slots([slot])
            )

    served_app = local_app(
        artifacts, REGISTRY, Runs(), bridge_token="bridge-0123", beyond=beyond,
        hands_on=["POST /api/write"],
    )  # fmt: skip
    with served(served_app) as base, HttpPlatform(base, bridge_token="bridge-0123") as platform:
        result = drive(compiled, {"topic": "bees"}, platform=platform)
    assert result.status == "completed", result.error
    assert result.outputs == {"text": "Hello"}
    (write,) = beyond.calls
    bindings: Any = write.body["contextSlotBindings"]
    assert [ref["artifactId"] for ref in bindings[0]["refs"]] == ["a"]
