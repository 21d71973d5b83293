"""The saver of a run's activation: the same rows as LangGraph's own, and none without the fence."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME, SCHEDULED
from langgraph.types import Interrupt, Send

from cinatra_sdk import RunStore, SimulatedPlatform
from cinatra_sdk.engine.checkpoints import STRICT
from cinatra_sdk.errors import EngineUnsupported, FenceLost
from cinatra_sdk.events.event import RunEvent
from cinatra_sdk.postgres.connection import Rows
from cinatra_sdk.store.work.events import EventBuffer
from cinatra_sdk.store.work.gathered import Gathered
from cinatra_sdk.store.work.saver import RunSaver
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.effort import tries
from tests.flows import end, flow_of, gate, start

FLOW = compile_flow(flow_of(start(), gate("ok"), end()), platform=SimulatedPlatform())


@dataclass
class Place:
    """A run with a fence, and the same thread for LangGraph's own saver, called `plain`."""

    rows: Rows
    events: EventBuffer
    saver: RunSaver

    @property
    def plain(self) -> PostgresSaver:
        return PostgresSaver(self.rows, serde=STRICT)

    def fetch(self, question: Any, *values: Any) -> list[Any]:
        return self.rows.execute(question, values).fetchall()


@pytest.fixture
def place(fresh_database: str) -> Iterator[Place]:
    with RunStore.open(fresh_database) as store:
        store.start(FLOW, run_id="r1", tenant="acme")
        store.stop("r1")
        with store.database.own_connection() as rows:
            rows.execute("insert into runs (run_id, tenant, digest, input, lowering) select 'r2', 'acme', digest, input, lowering from runs")  # fmt: skip
            rows.execute("insert into work (run_id) values ('r2')")
            rows.execute("update work set fence = 7 where run_id = 'r2'")
            events = EventBuffer()
            yield Place(rows, events, RunSaver(rows, run_id="r2", tenant="acme", fence=7, events=events))  # fmt: skip


# ------------------------------------------------------------------ the same rows

VALUES: tuple[Any, ...] = (
    None, "text", "", 7, 1.5, 1e16, True, {}, {"a": [1, {"b": None}]}, [], ["x"], b"\x00\xff", ("t", 1), {"s"},
    Send("node", {"x": 1}), "\u00e4\U0001f600", "x" * 20_000, {"big": ["y" * 500] * 50},
)  # fmt: skip
CHANNELS = ("a", "b", "messages", "__pregel_tasks", "branch:to:x", "ümlaut")
SPECIAL = (ERROR, SCHEDULED, INTERRUPT, RESUME)


class Script:
    """Writes of every shape, made up from a seed, carried out on one saver."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.steps: list[tuple[str, tuple[Any, ...]]] = []
        parent = None
        for _ in range(self.dice.randint(1, 5)):
            own = str(uuid6())
            self._put(own, parent)
            for _ in range(self.dice.randint(0, 4)):
                self._write(own)
            if self.dice.random() < 0.3:
                self._put(own, parent)  # again, as after a lost connection
            parent = own

    def _put(self, own: str, parent: str | None) -> None:
        dice = self.dice
        names = dice.sample(CHANNELS, dice.randint(0, len(CHANNELS)))
        values = {name: dice.choice(VALUES) for name in names}
        versions = {name: f"{dice.randint(1, 3):032}.{dice.random()}" for name in CHANNELS}
        checkpoint = {**empty_checkpoint(), "id": own, "channel_values": values,
                      "channel_versions": versions}  # fmt: skip
        new = {
            name: versions[name] for name in dice.sample(CHANNELS, dice.randint(0, len(CHANNELS)))
        }
        metadata = {"source": "loop", "step": dice.randint(-1, 9), "parents": {}}
        self.steps.append(("put", (parent, checkpoint, metadata, new)))

    def _write(self, own: str) -> None:
        dice = self.dice
        among: Any = dice.choice((CHANNELS, SPECIAL, CHANNELS + SPECIAL))
        writes = [(dice.choice(among), dice.choice(VALUES)) for _ in range(dice.randint(0, 6))]
        self.steps.append(("put_writes", (own, writes, f"task{dice.randint(1, 2)}", dice.choice(("", "~__pregel_pull, x")))))  # fmt: skip

    def play(self, saver: Any, thread: str, namespace: str) -> None:
        about = {"thread_id": thread, "checkpoint_ns": namespace}
        for name, (checkpoint, *rest) in self.steps:
            config = {"configurable": {**about, "checkpoint_id": checkpoint}}
            getattr(saver, name)(config, *rest)


TABLES = {
    "checkpoints": "checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata",
    "checkpoint_blobs": "checkpoint_ns, channel, version, type, blob",
    "checkpoint_writes": "checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path",
}


@pytest.mark.parametrize("seed", range(tries(25, 500)))
def test_a_run_keeps_the_rows_that_langgraphs_saver_keeps(place: Place, seed: int) -> None:
    script = Script(seed)
    namespace = "" if seed % 3 else "sub:1|inner:2"
    script.play(place.plain, "plain", namespace)
    script.play(place.saver, "r2", namespace)
    for table, columns in TABLES.items():
        question = f"select {columns} from {table} where thread_id = %s order by {columns}"
        kept = place.fetch(question, "r2")
        assert kept == place.fetch(question, "plain"), table
    read = [_read(place.plain, thread, namespace) for thread in ("plain", "r2")]
    assert read[0] == read[1]
    assert len(read[0]) >= 1


def _read(saver: PostgresSaver, thread: str, namespace: str) -> list[Any]:
    """Every checkpoint of a thread as LangGraph's own saver reads it."""
    config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": namespace}}
    return [
        (kept.checkpoint, kept.metadata, (kept.parent_config or {}).get("configurable", {}).get("checkpoint_id"),
         sorted(map(repr, kept.pending_writes or ())))
        for kept in saver.list(config)
    ]  # fmt: skip


def test_the_scripts_write_every_kind_of_row(place: Place) -> None:
    # Control: a comparison of nothing would be right, too.
    for seed in range(10):
        Script(seed).play(place.plain, f"t{seed}", "")
    for table in TABLES:
        assert place.fetch(f"select count(*) as n from {table} where thread_id ~ '^t'")[0]["n"] > 20


def test_a_statement_that_is_not_known_is_refused(place: Place) -> None:
    with pytest.raises(EngineUnsupported, match="by a statement that this version does not know"):
        Gathered().execute("insert into checkpoints_of_tomorrow values (%s)", ["x"])
    with pytest.raises(EngineUnsupported):
        place.saver.delete_thread("r2")


# ------------------------------------------------------------------ the fence

CONFIG: Any = {"configurable": {"thread_id": "r2", "checkpoint_ns": ""}}


def put(saver: Any) -> str:
    checkpoint = {**empty_checkpoint(), "channel_values": {"a": {"b": 1}}}
    saver.put(CONFIG, checkpoint, {"source": "loop", "step": 1, "parents": {}}, {"a": "1"})
    own: str = checkpoint["id"]
    return own


def writes_to(checkpoint: str) -> Any:
    return {"configurable": {**CONFIG["configurable"], "checkpoint_id": checkpoint}}


def count(place: Place) -> int:
    found = place.fetch(
        "select (select count(*) from checkpoints where thread_id = 'r2')"
        " + (select count(*) from checkpoint_blobs where thread_id = 'r2')"
        " + (select count(*) from checkpoint_writes where thread_id = 'r2')"
        " + (select count(*) from gates where run_id = 'r2')"
        " + (select count(*) from run_events where run_id = 'r2') as n"
    )
    return int(found[0]["n"])


def test_nothing_is_written_once_another_worker_has_the_run(place: Place) -> None:
    own = put(place.saver)
    before = count(place)
    place.rows.execute("update work set fence = 8 where run_id = 'r2'")
    place.events.add(RunEvent(kind="node", name="started"))
    for write in (
        lambda: put(place.saver),
        lambda: place.saver.put_writes(writes_to(own), [("a", 1)], "t"),
        lambda: place.saver.put_writes(writes_to(own), [(INTERRUPT, (asked(),))], "t"),
        lambda: place.saver.get_tuple(CONFIG),
    ):
        with pytest.raises(FenceLost, match="another worker goes on with run 'r2'"):
            write()
    assert count(place) == before


class Unfenced(RunSaver):
    """The control: a worker that takes the fence of whoever has the run."""

    @property
    def fence(self) -> int:
        row = self.conn.execute("select fence from work where run_id = 'r2'").fetchone()  # type: ignore[union-attr]
        return int(row["fence"])  # type: ignore[index,call-overload]

    @fence.setter
    def fence(self, _value: int) -> None:
        return


def test_without_the_fence_an_overtaken_worker_writes(place: Place) -> None:
    saver = Unfenced(place.rows, run_id="r2", tenant="acme", fence=7, events=place.events)
    place.rows.execute("update work set fence = 8 where run_id = 'r2'")
    before = count(place)
    put(saver)
    assert count(place) > before


# ------------------------------------------------------------------ events and gates


def asked(interrupt: str = "i1") -> Interrupt:
    (waits,) = drive(FLOW, answers={}).gates
    made = Interrupt(value=dict(waits.payload), id=interrupt)
    object.__setattr__(made, "response_schema", dict(waits.asked))
    return made


def test_events_are_stored_with_the_next_write_and_numbered_without_a_gap(place: Place) -> None:
    place.events.add(RunEvent(kind="run", name="started", data={"attempt": 1}))
    place.events.add(RunEvent(kind="node", name="finished", path="outer/inner[2]/node", visit=3))
    put(place.saver)
    put(place.saver)
    place.events.add(RunEvent(kind="message", name="said", data={"text": "\u0000 \U0001f600"}))
    put(place.saver)
    rows = place.fetch(
        "select seq, kind, name, path, visit, data from run_events where run_id = 'r2' order by seq"
    )
    assert [tuple(row.values()) for row in rows] == [
        (1, "run", "started", "", 0, {"attempt": 1}),
        (2, "node", "finished", "outer/inner[2]/node", 3, {}),
        (3, "message", "said", "", 0, {"text": "\u0000 \U0001f600"}),
    ]
    assert place.fetch("select events from work where run_id = 'r2'") == [{"events": 3}]
    assert place.events.read_all() == ()


def test_events_of_a_write_that_fails_wait_for_the_next_one(place: Place) -> None:
    place.events.add(RunEvent(kind="node", name="started"))
    own = put(place.saver)
    place.events.add(RunEvent(kind="node", name="started"))
    with pytest.raises(Exception, match="NUL"):
        place.saver.put_writes(writes_to(own), [("a\x00", 1)], "t")
    assert len(place.events.read_all()) == 1
    put(place.saver)
    assert [
        row["seq"]
        for row in place.fetch("select seq from run_events where run_id = 'r2' order by seq")
    ] == [1, 2]


def test_a_gate_is_open_as_soon_as_its_branch_parks(place: Place) -> None:
    own = put(place.saver)
    place.saver.put_writes(writes_to(own), [(INTERRUPT, (asked(),))], "t")
    (row,) = place.fetch("select * from gates where run_id = 'r2'")
    assert (row["gate_id"], row["state"], row["interrupt"], row["fence"]) == ("ok", "open", "i1", 7)
    assert (row["tenant"], row["node"], row["visit"], row["step"]) == ("acme", "ok", 1, 1)
    assert row["payload"]["xRenderer"]
    assert row["opened_at"].tzinfo is not None


def test_a_gate_that_parks_again_keeps_what_it_showed_and_its_decision(place: Place) -> None:
    own = put(place.saver)
    place.saver.put_writes(writes_to(own), [(INTERRUPT, (asked(),))], "t")
    first = place.fetch("select * from gates where run_id = 'r2'")
    place.rows.execute("update gates set state = 'closed', settled_at = clock_timestamp()")
    place.saver.put_writes(writes_to(own), [(INTERRUPT, (asked("i2"), asked("i2")))], "t")
    (again,) = place.fetch("select * from gates where run_id = 'r2'")
    assert again == {**first[0], "interrupt": "i2"}
    place.rows.execute("update gates set state = 'decided', settled_at = clock_timestamp()")
    place.saver.put_writes(writes_to(own), [(INTERRUPT, (asked("i3"),))], "t")
    (decided,) = place.fetch("select state, interrupt from gates where run_id = 'r2'")
    assert decided == {"state": "decided", "interrupt": "i3"}


def test_a_gate_of_a_run_that_has_ended_is_closed(place: Place) -> None:
    own = put(place.saver)
    place.rows.execute("update runs set status = 'stopped' where run_id = 'r2'")
    place.saver.put_writes(writes_to(own), [(INTERRUPT, (asked(),))], "t")
    assert place.fetch("select state from gates where run_id = 'r2'") == [{"state": "closed"}]
