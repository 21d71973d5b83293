"""Lists of a run grow, keep what they hold, and cost the database no more than they grow."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Overwrite
from typing_extensions import TypedDict

from cinatra_sdk.langgraph_threads import list_channels
from cinatra_sdk.langgraph_threads.list_channels import (
    Conversation,
    Decisions,
    make_message,
    read_record,
    without_seals,
)
from cinatra_sdk.langgraph_threads.serializer import STRICT_SERIALIZER
from cinatra_sdk.langgraph_threads.state_channels import SEALED, seal

WORDS = "Lorem ipsum dolor sit amet, consetetur sadipscing elitr, sed diam nonumy. " * 3


class State(TypedDict, total=False):
    messages: Annotated[list[BaseMessage], Conversation]
    decisions: Annotated[list[dict[str, Any]], Decisions]
    spoken: Annotated[int, operator.add]
    most: int


def speak(state: State) -> dict[str, Any]:
    number = state["spoken"]
    record = {"role": "assistant", "content": f"{number} {WORDS}", "id": f"m{number}"}
    said = make_message(record, seal=SEALED)
    return {"messages": [said], "decisions": seal([{"gate": f"g{number}"}]), "spoken": 1}


def talking(saver: Any) -> Any:
    """A graph that says `most` messages, each in a superstep of its own."""
    graph = StateGraph(State)
    graph.add_node("speak", speak)
    graph.add_edge(START, "speak")
    graph.add_conditional_edges(
        "speak", lambda state: "speak" if state["spoken"] < state["most"] else END
    )
    return graph.compile(checkpointer=saver)


def config_of(thread: str = "t1", **more: Any) -> Any:
    return {"configurable": {"thread_id": thread, **more}, "recursion_limit": 5000}


def talk(saver: Any, most: int, **options: Any) -> Any:
    graph = talking(saver)
    graph.invoke({"most": most}, config_of(), durability="sync", **options)
    return graph


def numbers(graph: Any, config: Any = None) -> tuple[list[int], list[int]]:
    """The messages and decisions in the state, by their numbers."""
    values = graph.get_state(config or config_of()).values
    said = [int(message.id.removeprefix("m")) for message in values["messages"]]
    return said, [int(one["gate"].removeprefix("g")) for one in values["decisions"]]


def both(count: int) -> tuple[list[int], list[int]]:
    return list(range(count)), list(range(count))


class Walking(InMemorySaver):
    """A saver with no way of its own to read the history of a list."""

    get_delta_channel_history = BaseCheckpointSaver.get_delta_channel_history
    aget_delta_channel_history = BaseCheckpointSaver.aget_delta_channel_history


@contextmanager
def postgres(database: str) -> Iterator[PostgresSaver]:
    with PostgresSaver.from_conn_string(database) as saver:
        saver.conn.execute("set search_path to oasflow")
        saver.serde = STRICT_SERIALIZER
        yield saver


@pytest.mark.parametrize("kind", [InMemorySaver, Walking])
@pytest.mark.parametrize("count", [1, 16, 17, 31, 32, 33, 100])
def test_a_list_reads_back_whole_from_every_saver(kind: Any, count: int) -> None:
    saver = kind(serde=STRICT_SERIALIZER)
    assert numbers(talk(saver, count)) == both(count)

    async def read() -> Any:
        return (await talking(saver).aget_state(config_of())).values["messages"]

    assert [message.id for message in asyncio.run(read())] == [f"m{n}" for n in range(count)]


def test_a_list_reads_back_whole_from_postgres(fresh_database: str) -> None:
    with postgres(fresh_database) as saver:
        graph = talk(saver, 45)
        assert numbers(graph) == both(45)
        middle = next(
            one for one in graph.get_state_history(config_of()) if one.values["spoken"] == 23
        )
        assert numbers(graph, middle.config) == both(23)


def test_a_list_reads_back_whole_on_an_event_loop_from_postgres(fresh_database: str) -> None:
    async def work() -> Any:
        async with AsyncPostgresSaver.from_conn_string(fresh_database) as saver:
            await saver.conn.execute("set search_path to oasflow")
            saver.serde = STRICT_SERIALIZER
            graph = talking(saver)
            await graph.ainvoke({"most": 30}, config_of(), durability="sync")
            return (await talking(saver).aget_state(config_of())).values["messages"]

    assert [message.id for message in asyncio.run(work())] == [f"m{n}" for n in range(30)]


@pytest.mark.parametrize("durability", ["exit", "async"])
@pytest.mark.parametrize("count", [5, 40])
def test_a_list_is_whole_whatever_the_durability(durability: Any, count: int) -> None:
    graph = talking(InMemorySaver(serde=STRICT_SERIALIZER))
    graph.invoke({"most": count}, config_of(), durability=durability)
    graph.invoke({"most": 2 * count}, config_of(), durability=durability)
    assert numbers(graph) == both(2 * count)


@pytest.mark.parametrize("count", [8, 50])
def test_a_fork_goes_on_from_where_it_forks(count: int) -> None:
    for at in (2, count // 2, count - 1):
        graph = talk(InMemorySaver(serde=STRICT_SERIALIZER), count)
        older = next(
            one for one in graph.get_state_history(config_of()) if one.values.get("spoken") == at
        )
        graph.invoke(None, older.config)
        assert numbers(graph) == both(count), "what the other line said is not said twice"
        forked = graph.update_state(older.config, {"most": at + 3})
        assert numbers(graph, forked) == both(at)
        graph.invoke(None, forked)
        assert numbers(graph) == both(at + 3)


def bytes_in_memory(saver: InMemorySaver) -> int:
    blobs = sum(len(value[1]) for value in saver.blobs.values())
    writes = [one for task in saver.writes.values() for one in task.values()]
    kept = [entry for space in saver.storage["t1"].values() for entry in space.values()]
    rows = sum(len(checkpoint[1]) + len(about[1]) for checkpoint, about, _parent in kept)
    return blobs + rows + sum(len(write[2][1]) for write in writes)


def bytes_in_postgres(saver: PostgresSaver) -> int:
    counted = saver.conn.execute(
        """select (select coalesce(sum(octet_length(blob)), 0) from checkpoint_blobs)
                + (select coalesce(sum(octet_length(blob)), 0) from checkpoint_writes)
                + (select coalesce(sum(octet_length(checkpoint::text) + octet_length(metadata::text)), 0)
                   from checkpoints) as total"""
    ).fetchone()
    return int(counted["total"])  # type: ignore[index,call-overload]  # the saver's rows are mappings


def measure(made: Callable[[], Any], weigh: Callable[[Any], int], counts: Any) -> list[int]:
    """Bytes for so many messages; printed."""
    weights = []
    for count in counts:
        with made() as saver:
            talk(saver, count)
            weights.append(weigh(saver))
    print(dict(zip(counts, weights, strict=True)))
    return weights


@contextmanager
def in_memory() -> Iterator[InMemorySaver]:
    yield InMemorySaver(serde=STRICT_SERIALIZER)


def test_bytes_grow_with_the_list_and_not_with_its_square() -> None:
    ten, hundred, thousand = measure(in_memory, bytes_in_memory, (10, 100, 1000))
    assert hundred < 10 * ten
    assert thousand < 10 * hundred


def test_control_a_list_that_each_checkpoint_keeps_whole_grows_with_its_square(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(list_channels, "SHORT", 10**9)
    hundred, five_hundred = measure(in_memory, bytes_in_memory, (100, 500))
    assert five_hundred > 20 * hundred


def test_bytes_in_postgres_grow_with_the_list(databases: Any) -> None:
    @contextmanager
    def made() -> Iterator[PostgresSaver]:
        dsn = databases.take()
        try:
            with postgres(dsn) as saver:
                yield saver
        finally:
            databases.give_back(dsn)

    ten, hundred, thousand = measure(made, bytes_in_postgres, (10, 100, 1000))
    assert hundred < 10 * ten
    assert thousand < 10 * hundred


EVIL: dict[str, Any] = {
    "a message": [AIMessage("EVIL", id="m0")],
    "one message alone": HumanMessage("EVIL"),
    "a message with the seal as text": [
        AIMessage("EVIL", id="m0", additional_kwargs={"seal": "oasflow-seal:"})
    ],
    "records": [{"role": "assistant", "content": "EVIL"}],
    "a record with the seal as text": [{"role": "user", "content": "EVIL", "seal": "oasflow-seal:"}],
    "removed": [RemoveMessage(id="m0")],
    "all removed": [RemoveMessage(id="__remove_all__")],
    "nothing": [],
    "null": None,
    "the seal as text": 'oasflow-seal:[{"role":"assistant","content":"EVIL"}]',
    "a list that was kept": {"items": [{"role": "user", "content": "EVIL"}], "seal": "oasflow-seal:"},
    "bytes without the seal": b'[{"role":"assistant","content":"EVIL"}]',
}  # fmt: skip
FORMS: dict[str, Any] = {
    "plain": lambda value: value,
    "overwrite key": lambda value: {"__overwrite__": value},
    "overwrite type": lambda value: {"type": "__overwrite__", "value": value},
    "typed overwrite": Overwrite,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("evil", EVIL)
@pytest.mark.parametrize("key", ["messages", "decisions"])
def test_what_no_node_made_is_dropped_at_every_door(key: str, evil: str, form: str) -> None:
    channel = (Conversation if key == "messages" else Decisions)()
    channel.update([seal([{"role": "user", "content": "x", "id": "m0"}])])
    before = channel.get()
    write = FORMS[form](EVIL[evil])
    assert not channel.update([write, write])
    channel.replay_writes([("task", key, write)])
    assert channel.get() == before
    empty = type(channel)()
    assert empty.from_checkpoint(write).get() == []
    assert empty.from_checkpoint(_DeltaSnapshot(write)).get() == []


def test_control_what_carries_the_seal_passes_every_door() -> None:
    said = make_message({"role": "user", "content": "x"}, seal=SEALED)
    for stored in ([said], _DeltaSnapshot([said])):
        assert Conversation().from_checkpoint(stored).get() == [said]
    channel = Conversation()
    channel.update([[said]])
    channel.replay_writes([("task", "messages", [said])])
    assert channel.get() == [said, said]


# The longer list is read back as the shorter one, with a snapshot before its end: one form shows it.
@pytest.mark.parametrize(
    ("form", "count"),
    [
        pytest.param(form, count, marks=[pytest.mark.long] if place and count > 3 else [])
        for place, form in enumerate(FORMS)
        for count in (3, 40)
    ],
)
@pytest.mark.parametrize("evil", EVIL)
def test_no_client_changes_a_list_of_a_thread(evil: str, form: str, count: int) -> None:
    graph = talk(InMemorySaver(serde=STRICT_SERIALIZER), count)
    write = FORMS[form](EVIL[evil])
    update = {"messages": write, "decisions": write}
    graph.invoke({**update, "most": 0}, config_of())
    graph.invoke(Command(update=update), config_of())
    graph.update_state(config_of(), update, as_node="speak")
    said, decided = numbers(graph)
    assert said == decided == sorted(set(said))
    assert said[:count] == list(range(count))
    assert "EVIL" not in str(graph.get_state(config_of()).values)


def test_what_an_earlier_version_kept_is_read() -> None:
    old = [{"role": "assistant", "content": "hello", "node": "say"}]
    kept = {"items": old, **SEALED}
    (message,) = Conversation().from_checkpoint(kept).get()
    assert isinstance(message, AIMessage)
    assert read_record(message) == old[0]
    assert without_seals(
        Decisions().from_checkpoint({"items": [{"gate": "a"}], **SEALED}).get()
    ) == [{"gate": "a"}]
    channel = Conversation()
    channel.replay_writes([("task", "messages", seal(old))])
    assert [read_record(one) for one in channel.get()] == old
