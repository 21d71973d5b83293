"""The factory that compiles a flow file for LangGraph Studio."""

from __future__ import annotations

import asyncio
import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk.errors import FlowChanged, HostRefused, InputInvalid
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from graphs import from_oas
from graphs.from_oas import DEFAULT_FLOW, flow_path, graph_of, make_graph
from graphs.orchestrator_v1 import graph as orchestrator
from graphs.platform import platform_of
from oas_compiler import CompileError


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OASFLOW_FLOW", "OASFLOW_FLOWS", "OASFLOW_HOST", "CINATRA_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    graph_of.cache_clear()
    from_oas._lent_by_operator.cache_clear()


def made(flow: Any = None) -> Any:
    configurable = {} if flow is None else {"flow": flow}
    return asyncio.run(make_graph({"configurable": configurable}))


def test_the_default_flow_runs_over_its_gate_when_the_server_brings_a_checkpointer() -> None:
    graph = made()
    assert graph.checkpointer is None
    graph.checkpointer = InMemorySaver()
    config: Any = {"configurable": {"thread_id": "t1"}}
    parked = graph.invoke({"inputs": {"guest": "Ada"}}, config)
    (waiting,) = parked["__interrupt__"]
    assert waiting.value["values"] == {"guest": "Ada", "greeting": "simulated greeting"}
    result = graph.invoke(Command(resume={waiting.id: {"approved": True}}), config)
    assert result["status"] == "completed"
    assert result["outputs"] == {"greeting": "simulated greeting", "posted": False}


def test_a_flow_that_acts_at_most_once_runs_without_a_ledger_of_the_host() -> None:
    graph = graph_of(DEFAULT_FLOW.parents[2] / "examples" / "notify-agent")
    graph.checkpointer = InMemorySaver()
    config: Any = {"configurable": {"thread_id": "t1"}}
    given = {"inputs": {"contacts": ["a@example.org"], "news": "x"}}
    parked = graph.invoke(given, config)
    while parked.get("__interrupt__"):
        resume = {waiting.id: {"approved": True} for waiting in parked["__interrupt__"]}
        parked = graph.invoke(Command(resume=resume), config)
    assert parked["status"] == "completed"


def test_the_drawing_shows_the_nodes_inside_the_subflow() -> None:
    assert "writing:review" in made().get_graph(xray=True).nodes


def test_the_environment_names_the_flow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    flow = json.loads(DEFAULT_FLOW.read_text())
    (tmp_path / "mine.json").write_text(json.dumps({**flow, "id": "my-own-flow"}))
    monkeypatch.setenv("OASFLOW_FLOW", str(tmp_path / "mine.json"))
    assert made().name == "my-own-flow"


TOOLS = Path(__file__).resolve().parents[2] / "examples" / "tools-agent"
HOST = "from cinatra_sdk import HostParts\n\ndef lend():\n    return HostParts({parts})\n"


def lend(monkeypatch: pytest.MonkeyPatch, folder: Path, parts: str) -> None:
    """A module for `OASFLOW_HOST`, anew for each test."""
    name = f"host_of_{folder.name}".replace("-", "_")
    (folder / f"{name}.py").write_text(HOST.format(parts=parts), "utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("OASFLOW_HOST", f"{name}:lend")


def test_the_operator_lends_tools_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OASFLOW_FLOW", str(TOOLS))
    with pytest.raises(CompileError, match="not registered"):
        made()
    lend(monkeypatch, tmp_path, "tools={'look_up_order': len, 'refund_order': len}")
    from_oas._lent_by_operator.cache_clear()
    assert "look_up_order" in made().nodes


def test_a_policy_that_nobody_would_ask_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lend(monkeypatch, tmp_path, "allow_effect=len")
    with pytest.raises(HostRefused, match="allow_effect, which nobody asks in a graph server"):
        made()


def test_one_file_is_compiled_once_and_a_running_server_keeps_what_it_compiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "flow.json"
    shutil.copyfile(DEFAULT_FLOW, file)
    monkeypatch.setenv("OASFLOW_FLOW", str(file))
    first = made()
    file.write_text("{}")
    assert made() is first


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{", r"broken\.json:1:2 error OAS\d+ "),
        ('{"component_type": "Flow"}', r"broken\.json.* error OAS\d+ "),
    ],
    ids=["not JSON", "no flow"],
)
def test_a_file_that_does_not_compile_is_named_with_its_place_and_may_be_mended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, found: str
) -> None:
    file = tmp_path / "broken.json"
    file.write_text(text)
    monkeypatch.setenv("OASFLOW_FLOW", str(file))
    with pytest.raises(CompileError, match=found):
        made()
    shutil.copyfile(DEFAULT_FLOW, file)
    assert made().name == "hello-gate"


def test_a_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OASFLOW_FLOW", "no/such/flow.json")
    with pytest.raises(CompileError, match=r"cannot read no/such/flow\.json"):
        made()


def test_a_client_cannot_choose_a_file_unless_the_host_opens_a_folder() -> None:
    with pytest.raises(InputInvalid, match="OASFLOW_FLOWS"):
        made(str(DEFAULT_FLOW))


def test_a_client_chooses_inside_the_opened_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OASFLOW_FLOWS", str(DEFAULT_FLOW.parent))
    assert made("hello_gate.json").name == "hello-gate"


@pytest.mark.parametrize(
    "chosen", ["../secret.json", "/etc/hostname", "link.json", "", ".", 5, ["a"]], ids=repr
)
def test_a_client_cannot_reach_outside_the_opened_folder(tmp_path: Path, chosen: Any) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    (tmp_path / "secret.json").write_text("{}")
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(InputInvalid, match="inside the folder OASFLOW_FLOWS"):
        flow_path(chosen, {"OASFLOW_FLOWS": str(folder)})


def test_a_name_that_is_none_of_a_file_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(InputInvalid, match="inside the folder OASFLOW_FLOWS"):
        flow_path("\ud800", {"OASFLOW_FLOWS": str(tmp_path)})


def test_a_flow_that_is_not_there_names_the_nearest_and_what_there_is(tmp_path: Path) -> None:
    for name in ("newsletter", *(f"agent{number:02}" for number in range(11))):
        (tmp_path / name / "cinatra").mkdir(parents=True)
        shutil.copyfile(DEFAULT_FLOW, tmp_path / name / "cinatra" / "oas.json")
    with pytest.raises(InputInvalid) as refused:
        flow_path("newsleter", {"OASFLOW_FLOWS": str(tmp_path)})
    assert str(refused.value) == (
        "OASFLOW_FLOWS has no flow 'newsleter' (did you mean \"newsletter\"? "
        f"there are {', '.join(f'agent{number:02}' for number in range(10))} and 2 more)"
    )


def test_a_foreign_graph_writes_nothing_on_a_thread_and_its_own_goes_on() -> None:
    own, foreign, saver = made(), orchestrator, InMemorySaver()
    own, foreign = (graph.copy({"checkpointer": saver}) for graph in (own, foreign))
    config: Any = {"configurable": {"thread_id": "t1"}}
    own.invoke({"inputs": {"guest": "Ada"}}, config)
    before = list(saver.list(config))
    campaign = {"campaign_goal": "Meet", "audience": "CTOs", "sender_email": "me@example.com"}
    older = before[-1].config
    for at in (config, older, {"configurable": {"thread_id": "t1", "checkpoint_ns": "writing"}}):
        for ask in (
            lambda at: foreign.invoke(campaign, at),
            lambda at: asyncio.run(foreign.ainvoke(Command(resume={"approved": True}), at)),
            lambda at: foreign.update_state(at, {"status": "completed"}),
            lambda at: asyncio.run(foreign.aupdate_state(at, {"status": "completed"})),
        ):
            with pytest.raises(FlowChanged, match="another graph began"):
                ask(at)
    assert list(saver.list(config)) == before
    assert own.invoke(Command(resume={"approved": True}), config)["status"] == "completed"


def test_the_schemas_that_studio_reads_say_what_a_client_may_send() -> None:
    graph = made()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(graph.get_input_jsonschema()["properties"]) == ["inputs"]
        assert "properties" not in graph.get_context_jsonschema()


def test_the_platform_is_a_simulation_unless_the_base_url_is_set() -> None:
    assert isinstance(platform_of({}), SimulatedPlatform)
    assert isinstance(platform_of({"CINATRA_BASE_URL": ""}), SimulatedPlatform)
    platform = platform_of({"CINATRA_BASE_URL": "http://host.example:3000"})
    assert isinstance(platform, HttpPlatform)
    assert platform.describe()["base_url"] == "http://host.example:3000"
