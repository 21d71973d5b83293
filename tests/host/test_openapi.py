"""The routes of the served platform, tried with whatever their own OpenAPI document allows, and more."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from local_world import ask

from cinatra_sdk.context import Actor, InstalledExtensions
from cinatra_sdk.host import FixedRuns, RunScope, local_app
from cinatra_sdk.host.bridge.model_offers import Offer, OfferedModel
from cinatra_sdk.host.model_routes import make_routes
from cinatra_sdk.host.openapi import described, make_document
from cinatra_sdk.outside.models.config import ModelConfig
from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.outside.routes import RoutedPlatform, RunOwner
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.database import Database

DOCUMENT: Any = make_document()
SCHEMAS = DOCUMENT["components"]["schemas"]
HEADERS = {"X-Cinatra-A2A-Context-Id": "c1"}
ANN = Actor(org_id="o1", principal_id="ann", team_ids=frozenset(), project_ids=frozenset())
WORDS = st.sampled_from(
    ["", " ", "r1", "gpt-5-mini", "objects_save", "objects_get", "trigger_config_set", "cinatra-mcp",
     '{"text": "hi"}', "\x00", "{{ user }}", "ü" * 40, "https://x.example/a"]
)  # fmt: skip
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 30) | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


def values_of(schema: Any) -> st.SearchStrategy[Any]:
    """Values that fit the schema, or nearly: one in some is anything else."""
    fitting = _fitting(schema)
    return st.one_of(fitting, fitting, fitting, ANY)


def _fitting(schema: Any) -> st.SearchStrategy[Any]:
    if "$ref" in schema:
        return _fitting(SCHEMAS[schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return st.one_of(*(_fitting(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "object" if "properties" in schema:
            parts = {name: values_of(one) for name, one in schema["properties"].items()}
            needed = {name: parts.pop(name) for name in schema.get("required", ())}
            return st.fixed_dictionaries(needed, optional=parts)
        case "object":
            return st.dictionaries(WORDS | st.just("type"), ANY, max_size=3)
        case "array":
            return st.lists(_fitting(schema.get("items", {})), max_size=3)
        case "string":
            return WORDS
        case "integer":
            return st.integers(-1, 30)
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
    return ANY


@pytest.fixture(scope="module")
def model() -> ScriptedModel:
    return ScriptedModel(lambda _asked: "{}")


@pytest.fixture
def app(fresh_database: str, model: ScriptedModel) -> Iterator[Any]:
    database = Database.open(fresh_database)
    config = ModelConfig(type="LlmConfig", provider="openai", model="gpt-5-mini")
    offer = Offer.of([OfferedModel(config=config, lend=lambda _call, _agent: model)])
    runs = FixedRuns(
        {"r1": RunScope(org_id="o1", actor=ANN, package_name="@x/a", slots=(), context_id="c1")}
    )
    routed = RoutedPlatform(
        make_routes(database, offer),
        identify=lambda call: RunOwner(run_id=call.run_id, tenant="o1" if call.run_id else ""),
    )
    yield described(
        local_app(
            ArtifactStore(database), InstalledExtensions({}), runs, beyond=routed,
            hands_on=routed.entries,
        )
    )  # fmt: skip
    database.close()


def body_of(path: str) -> Any:
    content = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]
    return content["application/json"]["schema"]


# Threads of the served app draw random numbers meanwhile, which Hypothesis takes for the strategy's.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@pytest.mark.parametrize("path", list(DOCUMENT["paths"]))
def test_no_body_makes_a_route_fail_and_a_refused_one_asks_no_model(
    app: Any, model: ScriptedModel, path: str
) -> None:
    seen: set[int] = set()

    @settings(
        max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    @given(values_of(body_of(path)))
    def attempt(body: Any) -> None:
        before = len(model.asked)
        status, answer = ask(app, path.removeprefix("/api/"), body, HEADERS)
        seen.add(status)
        told = json.dumps(answer)
        if status == 500:
            # A schema that "{}" does not fit: the model really failed to answer as asked.
            assert isinstance(body, dict), told
            assert body.get("output_schema") is not None, told
            assert answer["error"] == "MODEL_FAILED", told
        if status == 400:
            assert len(model.asked) == before, told
        if status != 200:
            assert str(status) in DOCUMENT["paths"][path]["post"]["responses"], told
            assert isinstance(answer["error"], str)

    attempt()
    assert 400 in seen, "the control: some bodies are refused"


def test_the_document_is_served_and_describes_every_route(app: Any) -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    for path, expected in (("/openapi.json", DOCUMENT), ("/.health", {"status": "ok"})):
        scope = {
            "type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [],
        }  # fmt: skip
        asyncio.run(app(scope, receive, send))
        assert json.loads(sent[-1]["body"]) == expected
    assert set(DOCUMENT["paths"]) == {
        "/api/llm-bridge", "/api/agents/passthrough", "/api/context-resolve",
        "/api/context-finalize",
    }  # fmt: skip
    for path in DOCUMENT["paths"]:
        reference = body_of(path)["$ref"]
        assert reference.rpartition("/")[2] in SCHEMAS
