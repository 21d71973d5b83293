"""The platform of a host with language models: what it counts, and how it is made again."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import HostParts, RunStore
from cinatra_sdk.host import standalone
from cinatra_sdk.host.bridge.bridge_route import LlmBridge
from cinatra_sdk.host.bridge.model_offers import Offer, OfferedModel
from cinatra_sdk.host.bridge.toolboxes import Toolbox
from cinatra_sdk.host.host_settings import LocalSettings
from cinatra_sdk.host.model_routes import (
    make_routes,
    modelled,
    owned_by,
    read_models,
    remade_models,
)
from cinatra_sdk.host.passthrough.passthrough_route import NamedCall
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.outside.models.config import ModelConfig
from cinatra_sdk.outside.models.model_scripts import ScriptedModel, ScriptedReply
from cinatra_sdk.outside.routes import RoutedPlatform, RouteError
from cinatra_sdk.store.artifacts.object_store import SavedObjects
from cinatra_sdk.store.database import Database
from oas_compiler import compile_flow
from tests.bridge.bridge_world import ask, outcome, own
from tests.flows import api, end, flow_of, port, start

SETTINGS = LocalSettings.model_validate({"actor": {"orgId": "acme", "principalId": "ann"}})
ASKS = flow_of(
    start(),
    api(
        "ask", url="{{CINATRA_BASE_URL}}/api/llm-bridge", data={"user": "hi", "agent_id": "@x/a"},
        outputs=[port("n", "integer")],
    ),
    end(port("n", "integer")),
    edges=[("ask", "n", "end", "n")],
)  # fmt: skip


@pytest.fixture
def database(fresh_database: str) -> Iterator[Database]:
    made = Database.open(fresh_database)
    yield made
    made.close()


def test_the_totals_of_a_run_count_the_attempt_that_failed_too(fresh_database: str) -> None:
    says = ["no", ScriptedReply(text="no", input_tokens=2), ScriptedReply(text='{"n": 7}', output_tokens=3)]  # fmt: skip
    model = ScriptedModel(says)
    config = ModelConfig(type="LlmConfig", provider="openai", model="gpt-5-mini")
    offer = Offer.of([OfferedModel(config=config, lend=lambda _call, _agent: model)])
    bridge = LlmBridge(offer=offer, toolboxes={"cinatra-mcp": Toolbox()})
    routed = RoutedPlatform({"POST /api/llm-bridge": bridge})
    parts = HostParts(price=lambda _model, used: used.output_tokens)
    with RunStore.open(fresh_database, host=parts) as store:
        platform = standalone(store.database, SETTINGS, beyond=routed)
        flow = compile_flow(ASKS).with_platform(platform)
        failed = store.start(flow, {}, "r1")
        assert failed.status == "failed"
        done = store.resume("r1", flow=flow)
        assert (done.status, done.outputs) == ("completed", {"n": 7})
        (used,) = store.usage("r1")
    assert (used.model, used.calls) == ("openai/gpt-5-mini", 3)
    assert (used.input_tokens, used.output_tokens, used.cost) == (2, 3, Decimal(3))


def test_a_model_that_the_host_lends_answers_under_its_name(database: Database) -> None:
    host = HostParts(models={"Writer": ScriptedModel(["Hello"])})
    models = read_models(["Writer"], host)
    made = modelled(database, models, identify=owned_by(SETTINGS.owner), host=host)
    assert made.describe() == {
        "kind": "routed",
        "models": ["Writer"],
        "scripts": {},
        "beyond": None,
    }
    again = remade_models(made.describe(), database, SETTINGS.owner, host=host, beyond=None)
    assert again.describe() == made.describe()


def test_a_script_is_described_by_its_path_and_digest(database: Database, tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text("[]")
    made = read_models([f"scripted:{path}"]).describe()
    # sha256 of []
    digest = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
    assert made == {"models": [f"scripted:{path}"], "scripts": {str(path): digest}}


@pytest.mark.parametrize(
    ("change", "about"),
    [
        ({"models": "openai:gpt-5"}, '"models" of a stored platform is a list of names'),
        ({"models": ["scripted:/etc/passwd"]}, "lacks the digest of a script"),
        ({"scripts": []}, "gives each path its digest"),
        ({"key": "x"}, 'has no setting "key"'),
        ({"models": ["acme:x"]}, 'there is no provider "acme"'),
    ],
)
def test_a_description_that_was_tampered_with_is_refused(
    database: Database, change: Any, about: str
) -> None:
    described = {"kind": "routed", "models": [], "scripts": {}, "beyond": None} | change
    with pytest.raises(ValueError) as raised:
        remade_models(described, database, SETTINGS.owner, host=None, beyond=None)
    assert about in str(raised.value)


def test_calls_without_a_route_go_to_the_platform_beyond(database: Database) -> None:
    beyond = SimulatedPlatform()
    made = modelled(database, read_models([]), identify=owned_by(SETTINGS.owner), beyond=beyond)
    assert made.beyond is beyond
    assert made.entries[:2] == ("POST /api/llm-bridge", "POST /api/agents/passthrough")


def ask_for_tool(database: Database, host: HostParts) -> Any:
    """What a model hears that calls `objects_save`."""
    call = ScriptedReply(tool_calls=({"name": "objects_save", "args": {"typeHint": "@x/a", "rawData": {}}},))  # fmt: skip
    model = ScriptedModel([call, "done"])
    config = ModelConfig(type="LlmConfig", provider="openai", model="gpt-5-mini")
    offer = Offer.of([OfferedModel(config=config, lend=lambda _call, _agent: model)])
    routed = RoutedPlatform(make_routes(database, offer, host), identify=own)
    routed.call(ask({"user": "hi", "agent_id": "@x/a", "toolbox_ids": ["cinatra-mcp"]}))
    return model


def test_a_host_that_knows_the_size_of_a_medium_is_asked_before_a_model(database: Database) -> None:
    model, asked = ScriptedModel(["done"]), []
    config = ModelConfig(type="LlmConfig", provider="gemini", model="gemini-3")
    offer = Offer.of([OfferedModel(config=config, lend=lambda _call, _agent: model)])
    host = HostParts(media_size=lambda url: asked.append(url) or 2**30)
    routed = RoutedPlatform(make_routes(database, offer, host), identify=own)
    body = {"user": "hi", "agent_id": "@x/a", "media": {"url": "https://x.example/a.mp4"}}
    assert outcome(routed, ask(body))[:2] == (413, "MEDIA-SIZE-EXCEEDED")
    assert asked == ["https://x.example/a.mp4"]
    assert model.asked == []


async def mine(call: NamedCall) -> dict[str, Any]:
    return {"mine": call.owner.run_id}


class Mine:
    async def __call__(self, call: NamedCall) -> dict[str, Any]:
        return await mine(call)


@pytest.mark.parametrize("lent", [mine, Mine()])
def test_a_tool_that_the_host_replaces_is_replaced_for_flows_and_for_models(
    database: Database, lent: Any
) -> None:
    host = HostParts(passthrough={"objects_save": lent})
    body = {"tool": "objects_save", "agent_run_id": "r1", "input": {}}
    routed = RoutedPlatform(make_routes(database, Offer(), host), identify=own)
    flow = ask(body, url="{{CINATRA_BASE_URL}}/api/agents/passthrough")
    assert routed.call(flow) == {"mine": "r1"}
    heard = ask_for_tool(database, host).asked[-1].messages[-1]
    assert heard.content == '{"mine": "r1"}'
    assert SavedObjects(database).of_run("r1", org_id="o1") == []


def test_a_replaced_tool_that_refuses_tells_the_model(database: Database) -> None:
    async def mine(_call: NamedCall) -> dict[str, Any]:
        raise RouteError(400, "invalid_input", "not on Sundays")

    heard = ask_for_tool(database, HostParts(passthrough={"objects_save": mine}))
    assert "not on Sundays" in str(heard.asked[-1].messages[-1].content)


def test_two_tools_of_one_name_in_the_own_toolbox_are_refused_by_name(database: Database) -> None:
    def objects_save(text: str) -> str:
        return text

    host = HostParts(toolboxes={"cinatra-mcp": [objects_save]})
    with pytest.raises(ValueError, match='two tools with the name "objects_save"') as raised:
        modelled(database, read_models([]), identify=owned_by(SETTINGS.owner), host=host)
    assert 'HostParts(passthrough={"objects_save": …}) replaces' in str(raised.value)
