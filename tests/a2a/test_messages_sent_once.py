"""A message to an agent elsewhere is sent once, and only the answer to it counts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk import HostParts, host_context
from cinatra_sdk.errors import NodeFailed
from cinatra_sdk.outside.a2a.message import (
    AgentFailed,
    AgentLost,
    AgentUnreachable,
    AgentWay,
    Said,
    asay,
)
from cinatra_sdk.outside.a2a.remote_agent import RemoteAgent
from cinatra_sdk.outside.effects.effect import NotMade, read_failure
from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.remote_answers.remote_bounds import RemoteBounds
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.a2a.test_remote_agents import free_port, remote
from tests.attacks.lying_hosts import served
from tests.flows import port


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    log = tmp_path_factory.mktemp("agents") / "log"
    with served(log) as address:
        yield address, log


def tell(url: str, *, said: Said | None = None) -> dict[str, object]:
    agent = RemoteAgent(name="a", url=url, timeout=30.0, poll_interval=0.02, retries=3)
    way = AgentWay(agent=agent, may_call=lambda _url: True)
    return dict(asyncio.run(asay(way, said or Said(text="Rome?"), "key-1")))


def sent(log: Path) -> int:
    return len(log.read_text("utf-8").splitlines())


def test_a_message_whose_answer_is_lost_is_not_sent_again(host: tuple[str, Path]) -> None:
    address, log = host
    log.write_text("", encoding="utf-8")
    with pytest.raises(AgentLost) as lost:
        tell(f"{address}/agent/dies/")
    assert sent(log) == 1
    assert read_failure(lost.value, ()).reached


@pytest.mark.parametrize(
    "lie", [*(f"status {one} at a look" for one in (401, 404, 429)), "gone at a look"]
)
def test_no_error_of_a_look_says_that_a_message_was_not_taken(lie: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with served(log) as address, pytest.raises(AgentFailed) as lost:
        tell(f"{address}/agent/{lie}/".replace(" ", "%20"))
    assert not isinstance(lost.value, NotMade)
    assert read_failure(lost.value, ()).reached
    assert sent(log) == 1


def test_a_node_whose_task_is_lost_may_have_booked(host: tuple[str, Path]) -> None:
    address, log = host
    log.write_text("", encoding="utf-8")
    url = f"{address}/agent/status%20404%20at%20a%20look/"
    own = {**remote(url), "agentspec_version": "26.1.0"}
    lent = HostParts(env={"TRAVEL_KEY": "s3cret-of-travel"}, allow=[url])
    flow = compile_flow(own, host=lent, platform=HttpPlatform(None))
    context = host_context(run_id="r1", ledger=MemoryLedger())
    with pytest.raises(NodeFailed, match="status 404") as failed:
        flow.graph(InMemorySaver()).invoke(
            flow.input({"user_message": "Rome?"}), flow.config(run_id="r1"), context=context
        )
    assert read_failure(failed.value, ()).reached
    assert sent(log) == 1


@pytest.mark.parametrize(
    ("lie", "seconds", "bound", "told"),
    [
        ("hangs at a look", 0.3, 30, "no answer about its task within 0.3 seconds (timeout of its connection_config)"),
        ("hangs at a look", 20.0, 30, "no answer within 2 seconds (timeout of its session_parameters)"),
        ("card: drips", 0.3, 30, "its card does not come within 0.3 seconds (timeout of its connection_config)"),
        ("card: drips", 20.0, 1, "its card does not come within 1 seconds: the bound is RemoteBounds(connect_seconds=…)"),
    ],
)  # fmt: skip
def test_an_answer_that_does_not_come_names_the_bound_that_was_used(
    host: tuple[str, Path], lie: str, seconds: float, bound: int, told: str
) -> None:
    url = f"{host[0]}/agent/{lie}/".replace(" ", "%20")
    agent = RemoteAgent(name="a", url=url, request_timeout=seconds, timeout=2.0, poll_interval=0.02)
    bounds = RemoteBounds(connect_seconds=bound)
    way = AgentWay(agent=agent, may_call=lambda _url: True, bounds=bounds)
    with pytest.raises(AgentLost) as lost:
        asyncio.run(asay(way, Said(text="Rome?"), "key-1"))
    assert str(lost.value) == told


def test_a_message_that_found_nobody_was_surely_not_sent() -> None:
    with pytest.raises(AgentUnreachable) as gone:
        tell(f"http://127.0.0.1:{free_port()}/")
    failure = read_failure(gone.value, ())
    assert (failure.kind, failure.reached) == ("transient", False)


def test_an_agent_that_refuses_a_message_was_not_told(host: tuple[str, Path]) -> None:
    with pytest.raises(AgentFailed) as refused:
        tell(f"{host[0]}/agent/status%20403/")
    assert isinstance(refused.value, NotMade)


def test_a_task_that_takes_long_is_looked_at(host: tuple[str, Path]) -> None:
    answer = tell(f"{host[0]}/agent/slow/")
    assert (answer["state"], answer["text"]) == ("completed", "Heard.")


@pytest.mark.parametrize(
    ("card", "version"),
    [
        ("a later version", "2.0"),
        ("an older version", "0.2.5"),
        ("a version of letters", "1.0[2J"),
    ],
)
def test_an_agent_of_another_version_is_named_and_told_nothing(
    host: tuple[str, Path], card: str, version: str
) -> None:
    address, log = host
    log.write_text("", encoding="utf-8")
    with pytest.raises(AgentFailed) as refused:
        tell(f"{address}/agent/card: {card}/".replace(" ", "%20"))
    assert str(refused.value) == (
        f"its card offers A2A in version {version}; spoken are 0.3 and 1.x"
    )
    assert isinstance(refused.value, NotMade)
    assert sent(log) == 0


@pytest.mark.parametrize("card", ["no version", "a version to speak among others"])
def test_an_agent_that_offers_a_version_to_speak_is_told(host: tuple[str, Path], card: str) -> None:
    address, log = host
    log.write_text("", encoding="utf-8")
    answer = tell(f"{address}/agent/card: {card}/".replace(" ", "%20"))
    assert (answer["state"], sent(log)) == ("completed", 1)


def run(url: str, *results: Any) -> Any:
    """The agent alone in its file."""
    own = {**remote(url, outputs=results), "agentspec_version": "26.1.0"}
    flow = compile_flow(own, host=HostParts(env={"TRAVEL_KEY": "s3cret-of-travel"}, allow=[url]))
    return drive(flow, {"user_message": "Rome?"}, platform=HttpPlatform(None))


@pytest.mark.parametrize(
    "result", [port("said"), port("nights", "integer"), port("found", "array", items={})]
)
def test_a_task_that_is_done_and_gave_nothing_fails_the_run_where_outputs_are_declared(
    host: tuple[str, Path], result: Any
) -> None:
    address, log = host
    log.write_text("", encoding="utf-8")
    ran = run(f"{address}/agent/done,%20and%20nothing/", result)
    assert ran.status == "failed"
    assert "agent 'Travel' failed: its task is completed, and it gave nothing" in str(ran.error)
    assert sent(log) == 1


def test_a_task_that_is_done_and_gave_nothing_is_done_where_no_output_is_declared(
    host: tuple[str, Path],
) -> None:
    ran = run(f"{host[0]}/agent/done,%20and%20nothing/")
    assert (ran.status, ran.outputs) == ("completed", {}), ran.error
