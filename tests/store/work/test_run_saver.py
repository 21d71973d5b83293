"""The saver of a run's activation: the same rows as LangGraph's own, and none without the fence."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME, SCHEDULED
from langgraph.types import Interrupt, Send

from cinatra_sdk import Decision, RunStore, SimulatedPlatform
from cinatra_sdk.errors import EngineUnsupported, FenceLost, ValueRefused
from cinatra_sdk.events import RunEvent
from cinatra_sdk.langgraph_internals import postgres_saver
from cinatra_sdk.langgraph_internals.checkpoint_ids import read_links
from cinatra_sdk.langgraph_threads.serializer import STRICT_SERIALIZER
from cinatra_sdk.postgres.connection import Rows
from cinatra_sdk.store.work import checkpoint_cache, saver
from cinatra_sdk.store.work.claims import PAUSE, Flushing
from cinatra_sdk.store.work.event_rows import EventBuffer
from cinatra_sdk.store.work.saver import RunSaver
from cinatra_sdk.store.work.statement import Gathered
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.effort import tries
from tests.flows import end, flow_of, gate, start
from tests.store.work.statements import counted

FLOW = compile_flow(flow_of(start(), gate("ok"), end()), platform=SimulatedPlatform())


@dataclass
class Place:
    """A run with a fence, and the same thread for LangGraph's own saver, called `plain`."""

    rows: Rows
    events: EventBuffer
    saver: RunSaver

    @property
    def plain(self) -> PostgresSaver:
        return PostgresSaver(self.rows, serde=STRICT_SERIALIZER)

    def new_saver(self) -> RunSaver:
        """Of a worker that goes on now."""
        return RunSaver(self.rows, run_id="r2", tenant="acme", fence=7, events=self.events)

    def fetch(self, question: Any, *values: Any) -> list[Any]:
        return self.rows.execute(question, values).fetchall()


@pytest.fixture
def place(fresh_database: str) -> Iterator[Place]:
    with RunStore.open(fresh_database) as store:
        store.start(FLOW, run_id="r1", tenant="acme")
        store.stop("r1")
        with store.database.own_connection() as rows:
            rows.execute("insert into runs (run_id, tenant, digest, input, lowering) select 'r2', 'acme', digest, input, lowering from runs")  # fmt: skip
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
        self._values: dict[str, Any] = {}
        self._versions: dict[str, str] = {}
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
        # As the engine does: what has a value was written with this checkpoint or an earlier one.
        new = {
            name: f"{dice.randint(1, 3):032}.{dice.random()}"
            for name in dice.sample(CHANNELS, dice.randint(0, len(CHANNELS)))
        }
        self._versions |= new
        for name in new:
            self._values.pop(name, None)
            if dice.random() < 0.7:
                self._values[name] = dice.choice(VALUES)
        # As the engine's own, of version 4: those of before are read from the database.
        checkpoint: Any = {**empty_checkpoint(), "v": 4, "id": own, "channel_values": {**self._values},
                      "channel_versions": {**self._versions}}  # fmt: skip
        metadata = {"source": "loop", "step": dice.randint(-1, 9), "parents": {}}
        self.steps.append(("put", (parent, checkpoint, metadata, new)))

    def _write(self, own: str) -> None:
        dice = self.dice
        among: Any = dice.choice((CHANNELS, SPECIAL, CHANNELS + SPECIAL))
        writes = [(dice.choice(among), dice.choice(VALUES)) for _ in range(dice.randint(0, 6))]
        self.steps.append(("put_writes", (own, writes, f"task{dice.randint(1, 2)}", dice.choice(("", "~__pregel_pull, x")))))  # fmt: skip

    def play(self, saver: Any, thread: str, namespace: str) -> Iterator[None]:
        about = {"thread_id": thread, "checkpoint_ns": namespace}
        for name, (checkpoint, *rest) in self.steps:
            config = {"configurable": {**about, "checkpoint_id": checkpoint}}
            getattr(saver, name)(config, *rest)
            yield


TABLES = {
    # Without the number of values, which a run's own saver adds.
    "checkpoints": "checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, "
    "metadata - 'values'",
    "checkpoint_blobs": "checkpoint_ns, channel, version, type, blob",
    "checkpoint_writes": "checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path",
}


@pytest.mark.parametrize("seed", range(tries(10, 500)))
def test_a_run_keeps_the_rows_that_langgraphs_saver_keeps(place: Place, seed: int) -> None:
    script = Script(seed)
    namespace = "" if seed % 3 else "sub:1|inner:2"
    for _ in script.play(place.plain, "plain", namespace):
        pass
    for _ in script.play(place.saver, "r2", namespace):
        if script.dice.random() < 0.3:
            place.saver.flush()
    place.saver.flush()
    for table, columns in TABLES.items():
        question = f"select {columns} from {table} where thread_id = %s order by {columns}"
        kept = place.fetch(question, "r2")
        assert kept == place.fetch(question, "plain"), table
    read = [_read(place.plain, thread, namespace) for thread in ("plain", "r2")]
    assert read[0] == read[1]
    assert len(read[0]) >= 1


@pytest.mark.parametrize("forgets", [False, True])
@pytest.mark.parametrize("seed", range(tries(10, 500)))
def test_a_worker_reads_what_waits_as_if_it_were_stored(
    place: Place, seed: int, forgets: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if forgets:
        monkeypatch.setattr(
            checkpoint_cache, "MOST_BYTES", random.Random(seed).choice((0, 5_000, 30_000))
        )
        monkeypatch.setattr(checkpoint_cache, "MOST_GRAPHS", 0)
    script = Script(seed)
    namespace = "" if seed % 3 else "sub:1|inner:2"
    seen = 0
    for _ in script.play(_Both(place), "", namespace):
        if script.dice.random() < 0.2:
            place.saver.flush()
        if script.dice.random() < 0.2:  # another worker goes on
            place.saver.flush()
            place.saver = RunSaver(place.rows, run_id="r2", tenant="acme", fence=7, events=place.events, is_new=False)  # fmt: skip
        put = [step[1][1]["id"] for step in script.steps if step[0] == "put"]
        for own in (None, script.dice.choice(put)):
            asked = [_about(thread, namespace, own) for thread in ("plain", "r2")]
            found = [
                read and _spell(read)
                for read in (place.plain.get_tuple(asked[0]), place.saver.get_tuple(asked[1]))
            ]
            assert found[0] == found[1]
            seen += found[0] is not None
        before, limit = script.dice.choice(["", *put]), script.dice.randint(1, 4)
        assert read_links(place.saver, "r2", namespace, before=before, limit=limit) == read_links(
            place.plain, "plain", namespace, before=before, limit=limit
        )
    assert seen


class _Both:
    """Writes on both threads alike."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def put(self, config: Any, *rest: Any) -> None:
        self.place.plain.put(_renamed(config, "plain"), *rest)
        self.place.saver.put(_renamed(config, "r2"), *rest)

    def put_writes(self, config: Any, *rest: Any) -> None:
        self.place.plain.put_writes(_renamed(config, "plain"), *rest)
        self.place.saver.put_writes(_renamed(config, "r2"), *rest)


def _renamed(config: Any, thread: str) -> Any:
    return {"configurable": {**config["configurable"], "thread_id": thread}}


def _about(thread: str, namespace: str, own: str | None) -> Any:
    about = {"thread_id": thread, "checkpoint_ns": namespace}
    return {"configurable": about if own is None else {**about, "checkpoint_id": own}}


def test_a_run_without_checkpoints_asks_the_database_for_none(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = RunSaver(
        place.rows, run_id="r2", tenant="acme", fence=7, events=place.events, is_new=True
    )
    with counted(monkeypatch) as seen:
        put(new)
        assert new.get_tuple(CONFIG) is not None
        for namespace in ("a", "a|b"):
            assert new.get_tuple(_about("r2", namespace, None)) is None
        assert len(read_links(new, "r2", "", before="", limit=2)) == 1
    assert seen == []


def test_much_that_waits_is_stored_at_once(place: Place) -> None:
    own = put(place.saver)
    assert count(place) == 0
    place.saver.put_writes(writes_to(own), [("a", "x" * saver.MOST_BYTES)], "t")
    assert count(place) > 0


def _spell(kept: Any) -> tuple[Any, ...]:
    parent = (kept.parent_config or {}).get("configurable", {}).get("checkpoint_id")
    metadata = {name: value for name, value in kept.metadata.items() if name != "values"}
    return kept.checkpoint, metadata, parent, sorted(map(repr, kept.pending_writes or ()))


def _read(saver: PostgresSaver, thread: str, namespace: str) -> list[Any]:
    """Every checkpoint of a thread as LangGraph's own saver reads it."""
    return [_spell(kept) for kept in saver.list(_about(thread, namespace, None))]


def test_the_scripts_write_every_kind_of_row(place: Place) -> None:
    # Control: a comparison of nothing would be right, too.
    for seed in range(10):
        list(Script(seed).play(place.plain, f"t{seed}", ""))
    for table in TABLES:
        assert place.fetch(f"select count(*) as n from {table} where thread_id ~ '^t'")[0]["n"] > 20


def test_a_statement_that_is_not_known_is_refused(place: Place) -> None:
    with pytest.raises(EngineUnsupported, match="by a statement that this version does not know"):
        Gathered().execute("insert into checkpoints_of_tomorrow values (%s)", ["x"])
    with pytest.raises(EngineUnsupported):
        place.saver.delete_thread("r2")


# ------------------------------------------------------------------ the fence


def test_a_write_that_comes_before_its_checkpoint_is_read_with_it(place: Place) -> None:
    """The engine stores both in threads of its own, where it is not told to wait."""
    saver = RunSaver(place.rows, run_id="r2", tenant="acme", fence=7, events=place.events, is_new=True)  # fmt: skip
    own = put(saver)
    checkpoint: Any = {**empty_checkpoint(), "v": 4}
    saver.put_writes(writes_to(checkpoint["id"]), [(INTERRUPT, "x")], "t")
    saver.put(writes_to(own), checkpoint, {}, {})
    found = saver.get_tuple(CONFIG)
    assert found is not None
    assert found.pending_writes == [("t", INTERRUPT, "x")]


@pytest.mark.parametrize("text", ["a\x00b", "a\\\x00", "\ud800", "x\udc00\U0001f600"])
def test_a_text_that_no_database_takes_does_not_wait_with_the_rest(place: Place, text: str) -> None:
    put(place.saver)
    checkpoint: Any = {**empty_checkpoint(), "channel_values": {"a": text}}
    with pytest.raises(ValueRefused, match="the state of the run holds a"):
        place.saver.put(CONFIG, checkpoint, {}, {"a": "2"})
    place.saver.flush()
    assert count(place) > 0


def test_texts_that_only_look_as_if_they_could_not_be_stored_are_stored(place: Place) -> None:
    text = "a\\u0000 \\\\u0000 \\ud800 \U0001f600"
    checkpoint: Any = {**empty_checkpoint(), "channel_values": {"a": text}}
    place.saver.put(CONFIG, checkpoint, {}, {"a": "2"})
    place.saver.flush()
    found = place.plain.get_tuple(CONFIG)
    assert found is not None
    assert found.checkpoint["channel_values"] == {"a": text}


def test_a_flush_that_fails_in_an_unknown_way_leaves_the_thread_to_other_runs() -> None:
    stored = threading.Event()

    class Broken:
        run_id = "r1"

        def flush(self) -> None:
            raise TypeError("what nobody thought of")

        def close(self) -> None:
            pass

    class Sound(Broken):
        def flush(self) -> None:
            stored.set()

    flushing: Any = Flushing()
    with flushing.watching(Broken()):
        time.sleep(3 * PAUSE)
        with flushing.watching(Broken()), flushing.watching(Sound()):
            threads = list(flushing._threads)
            assert stored.wait(5)
            stored.clear()
            assert stored.wait(5)
            assert all(thread.is_alive() for thread in threads)
    flushing.close()


def test_values_of_graphs_that_have_ended_do_not_pile_up(place: Place) -> None:
    tuples = []
    for number in range(60):
        about = _about("r2", f"sub:{number}", None)
        checkpoint: Any = {**empty_checkpoint(), "channel_values": {"a": {"b": "x" * 400_000}}}
        checkpoint["channel_versions"] = {"a": "1"}
        place.saver.put(about, checkpoint, {"source": "loop", "step": 1, "parents": {}}, {"a": "1"})
        tuples.append((about, checkpoint["id"]))
    kept = place.saver._known._graphs.values()
    known = sum(len(blob or b"") for graph in kept for _, _, blob in graph.blobs.values())
    assert known < checkpoint_cache.MOST_BYTES + (checkpoint_cache.MOST_GRAPHS + 1) * 400_100
    for about, own in tuples:
        found = place.saver.get_tuple(about)
        assert found is not None
        assert (found.checkpoint["id"], len(found.checkpoint["channel_values"]["a"]["b"])) == (
            own, 400_000,
        )  # fmt: skip


CONFIG: Any = {"configurable": {"thread_id": "r2", "checkpoint_ns": ""}}


def put(saver: Any) -> str:
    """A checkpoint that waits to be stored."""
    checkpoint: Any = {**empty_checkpoint(), "channel_values": {"a": {"b": 1}}}
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
    place.saver.flush()
    before = count(place)
    place.rows.execute("update work set fence = 8 where run_id = 'r2'")
    place.events.add(RunEvent(kind="node", name="started"))
    for write in (
        lambda: put(place.saver),
        lambda: place.saver.put_writes(writes_to(own), [("a", 1)], "t"),
        lambda: place.saver.put_writes(writes_to(own), [(INTERRUPT, (asked(),))], "t"),
        lambda: place.saver.get_tuple(CONFIG),
        lambda: read_links(place.saver, "r2", "", limit=2),
    ):
        with pytest.raises(FenceLost, match="another worker goes on with run 'r2'"):
            _write_and_store(place.saver, write)
    assert count(place) == before


def _write_and_store(saver: RunSaver, write: Callable[[], Any]) -> None:
    write()
    saver.flush()


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
    zombie = Unfenced(place.rows, run_id="r2", tenant="acme", fence=7, events=place.events)
    place.rows.execute("update work set fence = 8 where run_id = 'r2'")
    before = count(place)
    put(zombie)
    zombie.flush()
    assert count(place) > before


# ------------------------------------------------------------------ events and gates


def asked(interrupt: str = "i1") -> Interrupt:
    (waits,) = drive(FLOW, answers={}).gates
    made = Interrupt(value=dict(waits.payload), id=interrupt)
    object.__setattr__(made, "response_schema", dict(waits.asked))
    return made


def test_events_are_stored_with_the_next_flush_and_numbered_without_a_gap(place: Place) -> None:
    place.events.add(RunEvent(kind="run", name="started", data={"attempt": 1}))
    place.events.add(RunEvent(kind="node", name="finished", path="outer/inner[2]/node", visit=3))
    place.saver.flush()
    put(place.saver)
    place.saver.flush()
    place.events.add(RunEvent(kind="message", name="said", data={"text": "\u0000 \U0001f600"}))
    place.saver.flush()
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


@pytest.mark.own_session("gives its connection a time limit")
def test_what_waits_for_a_flush_that_fails_waits_for_the_next_one(place: Place) -> None:
    place.events.add(RunEvent(kind="node", name="started"))
    put(place.saver)
    place.rows.execute("set statement_timeout = 1")
    with RunStore.open(place.rows.info.dsn + f" password={place.rows.info.password}") as other, other.database.own_connection() as held:  # fmt: skip
        held.execute("begin")
        held.execute("select from work where run_id = 'r2' for update")
        with pytest.raises(psycopg.errors.QueryCanceled):
            place.saver.flush()
        held.execute("rollback")
    place.rows.execute("set statement_timeout = 0")
    assert count(place) == 0
    assert len(place.events.read_all()) == 1
    place.saver.flush()
    assert count(place) == 3


def test_a_gate_is_open_with_the_first_flush_after_its_branch_parked(place: Place) -> None:
    own = put(place.saver)
    place.saver.put_writes(writes_to(own), [(INTERRUPT, (asked(),))], "t")
    place.saver.flush()
    (row,) = place.fetch("select * from gates where run_id = 'r2'")
    assert (row["gate_id"], row["state"], row["interrupt"], row["fence"]) == ("ok", "open", "i1", 7)
    assert (row["tenant"], row["node"], row["visit"], row["step"]) == ("acme", "ok", 1, 1)
    assert row["payload"]["xRenderer"]
    assert row["opened_at"].tzinfo is not None


DECIDE = """
insert into decisions (run_id, gate_id, tenant, node, visit, step, kind, answer, decided_by,
                       payload_sha256, policy_sha256)
select run_id, gate_id, tenant, node, visit, step, 'approved', '{}', 'ann', payload_sha256, 'p' from gates where run_id = 'r2'
"""


def test_a_gate_that_parks_again_keeps_what_it_showed_and_its_decision(place: Place) -> None:
    own = put(place.saver)
    place.saver.put_writes(writes_to(own), [(INTERRUPT, (asked(),))], "t")
    place.saver.flush()
    first = place.fetch("select * from gates where run_id = 'r2'")
    place.rows.execute("update gates set state = 'closed' where run_id = 'r2'")
    place.saver.put_writes(writes_to(own), [(INTERRUPT, (asked("i2"), asked("i2")))], "t")
    place.saver.flush()
    (again,) = place.fetch("select * from gates where run_id = 'r2'")
    assert again == {**first[0], "interrupt": "i2"}
    place.rows.execute(DECIDE)
    place.saver.put_writes(writes_to(own), [(INTERRUPT, (asked("i3"),))], "t")
    place.saver.flush()
    (decided,) = place.fetch("select state, interrupt from gates where run_id = 'r2'")
    assert decided == {"state": "decided", "interrupt": "i2"}  # the one under which it was decided


def test_a_run_that_was_stopped_while_its_process_has_it_parks_no_gate(place: Place) -> None:
    own = put(place.saver)
    place.rows.execute(
        "update work set worker = 'w', lease_until = now() + interval '1 minute' where run_id = 'r2'"
    )
    place.rows.execute("update runs set status = 'stopped' where run_id = 'r2'")
    place.saver.put_writes(writes_to(own), [(INTERRUPT, (asked(),))], "t")
    place.saver.flush()
    assert place.fetch("select state from gates where run_id = 'r2'") == []


# ------------------------------------------------------------------ a LangGraph of tomorrow


@pytest.fixture
def other_statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed saver that writes the same rows by statements of other texts."""
    for name in ("UPSERT_CHECKPOINTS_SQL", "UPSERT_CHECKPOINT_BLOBS_SQL",
                 "UPSERT_CHECKPOINT_WRITES_SQL", "INSERT_CHECKPOINT_WRITES_SQL"):  # fmt: skip
        text = getattr(PostgresSaver, name).replace("INSERT INTO", "INSERT /* anew */ INTO")
        monkeypatch.setattr(PostgresSaver, name, text)
    postgres_saver.knows_statements.cache_clear()
    yield
    monkeypatch.undo()
    postgres_saver.knows_statements.cache_clear()


@pytest.mark.usefixtures("other_statements")
@pytest.mark.parametrize("seed", range(tries(4, 100)))
def test_unknown_statements_are_carried_out_as_they_are(place: Place, seed: int) -> None:
    assert not postgres_saver.knows_statements()
    script = Script(seed)
    namespace = "" if seed % 2 else "sub:1|inner:2"
    for thread, writer in (("plain", place.plain), ("r2", place.new_saver())):
        for _ in script.play(writer, thread, namespace):
            pass
    for table, columns in TABLES.items():
        question = f"select {columns} from {table} where thread_id = %s order by {columns}"
        assert place.fetch(question, "r2") == place.fetch(question, "plain"), table
    read = [_read(writer, thread, namespace) for writer, thread in ((place.plain, "plain"), (place.new_saver(), "r2"))]  # fmt: skip
    assert read[0] == read[1]


def _count_rows(place: Place) -> list[int]:
    asked = "select count(*) as n from {table} where thread_id = 'r2'"
    return [place.fetch(asked.format(table=table))[0]["n"] for table in TABLES]


@pytest.mark.usefixtures("other_statements")
def test_unknown_statements_of_a_worker_that_lost_the_run_write_nothing(place: Place) -> None:
    saver = place.new_saver()
    put(saver)
    place.rows.execute("update work set fence = 8 where run_id = 'r2'")
    before = _count_rows(place)
    with pytest.raises(FenceLost):
        put(saver)
    after = _count_rows(place)
    assert after == before
    assert before[0] == 1, "control: the first one was written"


@pytest.mark.usefixtures("other_statements")
def test_a_run_parks_and_goes_on_by_unknown_statements(fresh_database: str) -> None:
    with RunStore.open(fresh_database) as store:
        assert store.start(FLOW, run_id="r").status == "waiting"
        assert store.start(FLOW, run_id="other").status == "waiting"
    with RunStore.open(fresh_database) as store:
        assert {need.run_id for need in store.needs().items} == {"r", "other"}
        done = store.answer("r", "ok", Decision.approve(by="ann"), flow=FLOW)
        assert done.status == "completed"
        ended = store.answer("other", "ok", Decision.reject(by="ann", reason="no"), flow=FLOW)
        assert ended.status == "rejected"


@pytest.mark.usefixtures("other_statements")
def test_unknown_statements_that_hold_what_no_database_takes_are_refused(place: Place) -> None:
    saver = place.new_saver()
    checkpoint: Any = {**empty_checkpoint(), "v": 4, "channel_values": {"a": "\x00"}}
    with pytest.raises(ValueRefused, match="a NUL character"):
        saver.put({"configurable": {"thread_id": "r2", "checkpoint_ns": ""}}, checkpoint, {}, {})
