"""A thread's own line, told from its checkpoints."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk.errors import ForkRefused
from cinatra_sdk.langgraph_threads import lineage
from cinatra_sdk.langgraph_threads.lineage import PAGE, ThreadPlace, arequire_line, require_line


class Thread:
    """Checkpoints written by hand: ids in order, each with its parent."""

    def __init__(self) -> None:
        self.saver = InMemorySaver()
        self.listed = 0
        kept = self.saver.list

        def counted(*args: Any, **more: Any) -> Any:
            for one in kept(*args, **more):
                self.listed += 1
                yield one

        self.saver.list = counted  # type: ignore[method-assign]

    def add(self, name: str, parent: str = "") -> str:
        config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        if parent:
            config["configurable"]["checkpoint_id"] = parent
        self.saver.put(config, {**empty_checkpoint(), "id": name}, {}, {})
        return name

    def line(self, length: int) -> list[str]:
        names = [f"{number:04}" for number in range(length)]
        for before, name in zip(["", *names], names, strict=False):
            self.add(name, before)
        return names

    def look(self, at: str, since: str = "", *, kept: bool = True) -> str:
        place = ThreadPlace(saver=self.saver, thread="t", namespace="", checkpoint=at, is_kept=kept)
        return require_line(place, since=since, node="send")


@pytest.mark.parametrize("length", [1, 2, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE])
def test_the_newest_checkpoint_of_a_line_is_on_it(length: int) -> None:
    thread = Thread()
    names = thread.line(length)
    assert thread.look(names[-1]) == names[-1]


def test_an_older_checkpoint_is_not() -> None:
    thread = Thread()
    names = thread.line(4)
    with pytest.raises(ForkRefused, match="node 'send' was reached in a fork of thread 't'"):
        thread.look(names[2])


@pytest.mark.parametrize("at", [0, 1, PAGE, 2 * PAGE])
def test_a_checkpoint_that_went_on_from_an_older_one_is_not(at: int) -> None:
    thread = Thread()
    names = thread.line(2 * PAGE + 3)
    fork = thread.add("9000", names[at])
    with pytest.raises(ForkRefused):
        thread.look(fork)
    with pytest.raises(ForkRefused):
        thread.look(thread.add("9001", fork))


def test_a_fork_of_what_was_looked_at_before_is_seen() -> None:
    thread = Thread()
    names = thread.line(6)
    with pytest.raises(ForkRefused):
        thread.look(thread.add("9000", names[2]), since=names[2])


def test_what_was_looked_at_before_is_not_read_again() -> None:
    thread = Thread()
    names = thread.line(40 * PAGE)
    thread.look(names[-1], since=names[-2])
    assert thread.listed <= PAGE


def test_a_thread_without_checkpoints_has_no_fork() -> None:
    assert Thread().look("0001", kept=False) == "0001"


def test_a_checkpoint_that_is_being_written_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    thread = Thread()
    thread.line(3)
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 4:
            thread.add("0003", "0002")

    monkeypatch.setattr(lineage.time, "sleep", sleep)
    assert thread.look("0003") == "0003"
    assert len(slept) == 4


@pytest.mark.parametrize("on_a_loop", [False, True], ids=["sync", "async"])
def test_it_is_not_waited_for_longer_than_three_seconds(
    monkeypatch: pytest.MonkeyPatch, on_a_loop: bool
) -> None:
    thread = Thread()
    thread.line(3)
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(lineage.time, "sleep", slept.append)
    monkeypatch.setattr(lineage.asyncio, "sleep", sleep)
    place = ThreadPlace(saver=thread.saver, thread="t", namespace="", checkpoint="0003")

    def look() -> str:
        if on_a_loop:
            return asyncio.run(arequire_line(place, since="", node="send"))
        return require_line(place, since="", node="send")

    with pytest.raises(ForkRefused) as refused:
        look()
    assert 2.9 < sum(slept) < 3.0
    assert str(refused.value) == (
        "node 'send' acts, and the checkpoint before it was not kept within 3 seconds (nothing was "
        "called: when the checkpointer's database answers again, go on with the thread (invoke with "
        'None); durability="sync" waits for it as long as it takes)'
    )


def test_a_checkpoint_that_is_not_kept_yet_is_no_line_to_stand_on() -> None:
    thread = Thread()
    thread.line(3)
    with pytest.raises(ForkRefused, match='durability="sync"'):
        thread.look("0003", kept=False)
