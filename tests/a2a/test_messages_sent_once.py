"""A message to an agent elsewhere is sent once, and only the answer to it counts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from cinatra_sdk.a2a.remote import RemoteAgent
from cinatra_sdk.a2a.requesting import (
    AgentFailed,
    AgentLost,
    AgentUnreachable,
    AgentWay,
    Said,
    asay,
)
from cinatra_sdk.effects.failures import NotMade, read_failure
from tests.a2a.test_remote_agents import free_port
from tests.attacks.lying_hosts import served


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
