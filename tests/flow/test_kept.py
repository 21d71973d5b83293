"""The journal of a node: what it kept is there when the node runs again, with few tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from cinatra_sdk.flow.branches.journal import Journal


class State(TypedDict):
    told: str


class Stopped(Exception):
    pass


def never() -> bool:
    return False


def run_until_stopped(saver: InMemorySaver, run: Any, *, loops: bool) -> None:
    """Run, or go on with, a graph of one node that fails."""
    graph: Any = StateGraph(State)
    graph.add_node("n", run)
    graph.add_edge(START, "n")
    graph.add_edge("n", END)
    compiled: Any = graph.compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}}
    given = None if saver.storage else {"told": ""}
    if loops:
        running = compiled.ainvoke(given, config, durability="sync")
        with pytest.raises(Stopped):
            asyncio.run(running)
    else:
        with pytest.raises(Stopped):
            compiled.invoke(given, config, durability="sync")


def run_node(saver: InMemorySaver, work: Callable[[Journal], Any], *, loops: bool) -> None:
    """A run of the node that keeps, at each `yield` of `work`, what was added."""

    def run(_state: State) -> State:
        journal = Journal(is_kept=True, is_bounded=False)
        for _ in work(journal):
            journal.keep()
        journal.settle()
        raise Stopped

    async def arun(_state: State) -> State:
        journal = Journal(is_kept=True, is_bounded=False)
        for _ in work(journal):
            await journal.akeep()
        raise Stopped

    run_until_stopped(saver, arun if loops else run, loops=loops)


def read_node(saver: InMemorySaver, *, loops: bool) -> tuple[dict[str, Any], list[str]]:
    """What a further run of the node reads: results, and the branches that go on as tasks."""
    found: list[Any] = []

    def run(_state: State) -> State:
        journal = Journal(is_kept=True, is_bounded=False)
        found.extend([journal.read(never), journal.notes.results])
        raise Stopped

    async def arun(_state: State) -> State:
        journal = Journal(is_kept=True, is_bounded=False)
        found.extend([await journal.aread(never), journal.notes.results])
        raise Stopped

    run_until_stopped(saver, arun if loops else run, loops=loops)
    return found[1], found[0]


def list_entries(saver: InMemorySaver) -> list[dict[str, Any]]:
    return [
        saver.serde.loads_typed(write[2])
        for writes in saver.writes.values()
        for write in writes.values()
        if write[1] == "__return__"
    ]


def lose_entry(saver: InMemorySaver, place: str) -> None:
    """Take away the entry that has the result of this branch."""
    for writes in saver.writes.values():
        for key, write in list(writes.items()):
            if write[1] == "__return__" and place in saver.serde.loads_typed(write[2])["results"]:
                del writes[key]


both = pytest.mark.parametrize("loops", [False, True], ids=["threads", "event loop"])


@both
def test_many_results_are_one_entry(*, loops: bool) -> None:
    def work(journal: Journal) -> Any:
        for number in range(100):
            journal.add(f"each[{number}]", number)
        yield

    saver = InMemorySaver()
    run_node(saver, work, loops=loops)
    assert len(list_entries(saver)) == 1
    results, apart = read_node(saver, loops=loops)
    assert results == {f"each[{number}]": number for number in range(100)}
    assert apart == []


@both
def test_nothing_added_is_no_entry(*, loops: bool) -> None:
    saver = InMemorySaver()
    run_node(saver, lambda _journal: iter([None]), loops=loops)
    assert list_entries(saver) == []


@both
def test_an_entry_whose_place_is_taken_goes_behind_it_and_learns_what_is_there(
    *, loops: bool
) -> None:
    # A write overtook the one before it, which died with the process.
    def work(journal: Journal) -> Any:
        for number in range(2):
            journal.add(f"each[{number}]", number)
            yield

    saver = InMemorySaver()
    run_node(saver, work, loops=loops)
    lose_entry(saver, "each[0]")
    known = []

    def go_on(journal: Journal) -> Any:
        journal.add("each[2]", 2)
        yield
        journal.add("each[3]", 3)
        yield
        known.append(dict(journal.notes.results))

    run_node(saver, go_on, loops=loops)
    assert known == [{"each[1]": 1, "each[2]": 2, "each[3]": 3}]
    assert read_node(saver, loops=loops)[0] == {"each[1]": 1, "each[2]": 2, "each[3]": 3}


def test_without_checkpoints_nothing_is_begun() -> None:
    journal = Journal(is_kept=False, is_bounded=False)
    with journal.keeping():
        journal.add("each[0]", 0)
        journal.keep(["each[1]"])  # outside of any graph, where the engine has no tasks
    journal.settle()
    assert journal.read(never) == []


def test_the_branches_inside_one_that_has_ended_are_known_no_more() -> None:
    journal = Journal(is_kept=False, is_bounded=False)
    for place in ("each[0]/inner/each[0]", "each[1]/inner/each[0]"):
        journal.add(place, 0)
    journal.add("each[0]", 1, ["each[0]/inner/each[0]"])
    assert journal.notes.results == {"each[0]": 1, "each[1]/inner/each[0]": 0}
