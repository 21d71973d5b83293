"""An A2AAgent: spoken to, asked again, and refused where the operator does not open its address."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cinatra_sdk import HostParts
from cinatra_sdk.data.author_json import Json
from cinatra_sdk.outside.a2a.remote_agent import RemoteAgentWay
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.pipeline import check
from tests.agents.agent_flows import TEXT, agent, agent_flow
from tests.agents.test_agent import asks_for, group
from tests.flows import port

ROOT = Path(__file__).parents[2]
RESULT = [port("city"), port("nights", "integer")]


class Travel(NamedTuple):
    url: str
    log: Path

    def heard(self) -> list[dict[str, Any]]:
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
        return number


@contextmanager
def served(log: Path, *more: str) -> Iterator[Travel]:
    number = free_port()
    command = [sys.executable, "-m", "tests.a2a.travel_server", str(number), *more]
    environment = {**os.environ, "A2A_LOG": str(log)}
    with subprocess.Popen(command, cwd=ROOT, env=environment) as process:
        deadline = time.monotonic() + 60
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", number)) == 0:
                    break
            assert process.poll() is None, "the agent does not start"
            assert time.monotonic() < deadline, "the agent does not start"
            time.sleep(0.05)
        yield Travel(f"http://127.0.0.1:{number}/", log)
        process.terminate()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Travel]:
    with served(tmp_path_factory.mktemp("a2a") / "log") as found:
        yield found


@pytest.fixture
def travel(shared: Travel) -> Travel:
    shared.log.unlink(missing_ok=True)
    return shared


def remote(url: str, *inputs: Any, outputs: Any = (), **more: Any) -> dict[str, Any]:
    return {
        "component_type": "A2AAgent", "id": "travel", "name": "Travel", "agent_url": url,
        "inputs": list(inputs), "outputs": list(outputs),
        "connection_config": {
            "component_type": "A2AConnectionConfig", "id": "way", "name": "way",
            "headers": {"X-Key": "{{TRAVEL_KEY}}"},
        },
        "session_parameters": {"timeout": 20.0, "poll_interval": 0.1, "max_retries": 1}, **more,
    }  # fmt: skip


def run(travel: Travel, said: str, **more: Any) -> Any:
    """The agent alone in its file, spoken to."""
    answers = more.pop("answers", None)
    flow = compile_flow(
        {**remote(travel.url, **more), "agentspec_version": "26.1.0"},
        host=HostParts(env={"TRAVEL_KEY": "s3cret-of-travel"}, allow=[travel.url]),
    )
    return drive(flow, {"user_message": said}, answers=answers, platform=HttpPlatform(None))


def test_an_agent_is_told_and_its_answer_is_heard(travel: Travel) -> None:
    ran = run(travel, "Rome?", outputs=TEXT)
    assert (ran.status, ran.outputs) == ("completed", {"report": "Heard: Rome?"}), ran.error
    (heard,) = travel.heard()
    assert heard["text"] == "Rome?"
    assert heard["id"]
    assert "s3cret-of-travel" not in str(ran)
    assert list(ran.messages) == ["Heard: Rome?"]


@pytest.mark.parametrize(
    ("written", "kept"), [(1e-9, 0.5), (0.1, 0.5), (0.5, 0.5), (3, 3.0), (0, 2.0), (None, 2.0)]
)
def test_no_file_has_an_agent_asked_without_pause(written: Any, kept: float) -> None:
    fields = {"connection": {}, "session": {"poll_interval": written}}
    way = RemoteAgentWay(url="https://a.example", settings=Json.of(fields))
    assert way.find_agent("n", "a", {}, None).poll_interval == kept


def test_a_task_that_takes_long_is_waited_for(travel: Travel) -> None:
    ran = run(travel, "slow train", outputs=TEXT)
    assert ran.outputs == {"report": "Heard: slow train"}
    late = run(travel, "slow train", session_parameters={"timeout": 0.2, "poll_interval": 0.1})
    assert late.status == "failed"
    assert "no answer within 0.2 seconds" in str(late.error)


def test_a_question_of_the_agent_goes_to_a_person(travel: Travel) -> None:
    ran = run(travel, "ask me", outputs=TEXT, answers=["The Grand"])
    assert ran.outputs == {"report": "Heard: The Grand"}, ran.error
    assert [gate.payload["values"]["arguments"] for gate in ran.gates] == [
        {"question": "Which hotel?"}
    ]
    first, second = travel.heard()
    assert second["task"] == first["task"]  # the server names a new task before it works
    assert first["id"] != second["id"]
    assert run(travel, "ask me", answers=[False]).status == "rejected"


def test_data_give_the_outputs(travel: Travel) -> None:
    ran = run(travel, "data please", outputs=RESULT)
    assert ran.outputs == {"city": "Rome", "nights": 2}
    none = run(travel, "text please", outputs=RESULT)
    assert "no data with the outputs city, nights" in str(none.error)


def test_inputs_go_along_as_data(travel: Travel) -> None:
    flow = agent_flow(remote(travel.url, port("topic"), outputs=TEXT), TEXT)
    made = compile_flow(flow, env={"TRAVEL_KEY": "k" * 9})
    ran = drive(made, {"topic": "bees"}, platform=HttpPlatform(None, allow=[travel.url]))
    assert ran.outputs == {"report": "Heard: "}
    assert travel.heard()[0]["data"] == [{"topic": "bees"}]


def test_a_task_that_failed_fails_the_run(travel: Travel) -> None:
    ran = run(travel, "fail now")
    assert ran.status == "failed"
    assert "agent 'Travel' failed: its task is failed: no trains" in str(ran.error)


def test_an_address_that_is_not_opened_is_not_called(travel: Travel, tmp_path: Path) -> None:
    flow = compile_flow(
        {**remote(travel.url), "agentspec_version": "26.1.0"}, env={"TRAVEL_KEY": "k"}
    )
    ran = drive(flow, {"user_message": "x"}, platform=HttpPlatform(None))
    assert "does not open" in str(ran.error)
    with served(tmp_path / "log", travel.url) as elsewhere:  # its card names another address
        lured = run(elsewhere, "x")
    assert "does not open" in str(lured.error)
    assert travel.heard() == []


def test_an_agent_that_is_not_there_is_named() -> None:
    gone = Travel(f"http://127.0.0.1:{free_port()}/", Path())
    ran = run(gone, "x")
    assert ran.status == "failed"
    assert "agent 'Travel' failed" in str(ran.error)


def test_a_worker_elsewhere_is_told_by_its_manager(travel: Travel) -> None:
    own = {**group(agent(outputs=TEXT), remote(travel.url))}
    model = ScriptedModel([asks_for(("Travel", {"message": "ask around"})), "It asks back."])
    flow = compile_flow(
        agent_flow(own, TEXT), models={"*": model},
        host=HostParts(env={"TRAVEL_KEY": "k" * 9}, allow=[travel.url]),
    )  # fmt: skip
    ran = drive(flow, {"topic": "bees"}, platform=HttpPlatform(None))
    assert ran.outputs == {"report": "It asks back."}, ran.error
    assert [str(one.content) for one in model.asked[-1].messages][-1] == "Which hotel?"


def test_a_simulation_answers_for_an_agent() -> None:
    flow = {**remote("http://nowhere.invalid/", outputs=TEXT), "agentspec_version": "26.1.0"}
    ran = drive(compile_flow(flow), {"user_message": "x"})
    assert ran.status == "completed"
    assert [call.method for call in ran.calls] == ["A2A"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"agent_url": None}, "agent_url"),
        ({"connection_config": None}, "connection_config"),
        ({"connection_config": {"component_type": "VllmConfig", "id": "x"}}, "A2AConnectionConfig"),
    ],
)
def test_an_agent_that_means_nothing_is_refused(more: Any, words: str) -> None:
    flow = agent_flow({**remote("http://nowhere.invalid/"), **more})
    assert any(words in one.message for one in check(flow).errors)
