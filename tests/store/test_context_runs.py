"""Selections that outlive their processes, and two processes that finalize one at once."""

from __future__ import annotations

import importlib.util
import itertools
import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import RunStore
from cinatra_sdk.host import local_app
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.database import Database
from tests.host.local_world import served
from tests.lower.context_shelf import Shelf, audit, registry
from tests.slot_flows import declared
from tests.store import selecting
from tests.store.selecting import (
    BRAND,
    PACKAGE,
    PICKED,
    SLOT,
    AnyRun,
    Racer,
    World,
    envelope,
    meet_before_writing,
)
from tests.warm import FORKED
from tests.wired_flows import GATE, wired

ROUNDS = 20
needs_server = pytest.mark.skipif(
    importlib.util.find_spec("uvicorn") is None, reason="the extra `server` is not installed"
)
# Children are forked from a server that has imported everything and holds no connection.


@pytest.fixture
def world(fresh_database: str, tmp_path: Path) -> World:
    file = tmp_path / "oas.json"
    file.write_text(json.dumps(wired(declared())))
    return World(dsn=fresh_database, file=str(file), record=str(tmp_path / "calls.jsonl"))


@pytest.fixture
def shelf(world: World) -> Iterator[Shelf]:
    database = Database.open(world.dsn)
    yield Shelf(ArtifactStore(database)).fill(BRAND, BRAND)
    database.close()


# ------------------------------------------------------------------------------- killed


def killed_at(point: str | int, world: World, run_id: str = "r1") -> bool:
    """Whether the process died there, as it was to."""
    child = FORKED.Process(target=selecting.until, args=(point, world, run_id))
    child.start()
    child.join()
    assert child.exitcode in (0, -signal.SIGKILL)
    return child.exitcode != 0


def gone_on(world: World, run_id: str = "r1", **how: Any) -> tuple[str, str | None, str | None]:
    """Status and error of the run after another process has gone on with it."""
    here, there = FORKED.Pipe(duplex=False)
    child = FORKED.Process(target=selecting.on, args=(world, run_id, there), kwargs=how)
    child.start()
    there.close()
    try:
        said: tuple[str, str | None, str | None] = here.recv()
    finally:
        child.join()
    return said


def move_on(shelf: Shelf) -> None:
    """Of the two that are picked one is revised and reclassified, the other deleted."""
    first, second = PICKED
    shelf.store.revise(first, "quite another text")
    shelf.store.archive(shelf.refs[first]["semanticAssertionId"])
    shelf.store.classify(first, "@acme/other-artifact")
    shelf.store.delete(second)


def bindings(shelf: Shelf) -> Any:
    return [{"slotId": SLOT, "refs": shelf.of(*PICKED)}]


def batch(shelf: Shelf, run_id: str = "r1") -> Any:
    about = {"run": run_id, "package": PACKAGE, "slot": SLOT, "by": "user", "mode": "interactive"}
    return shelf.rows(*PICKED, about=about)


def check_pinned(world: World, shelf: Shelf, *, calls: int) -> None:
    """The consumer got what was picked as it was then, and that is the one batch."""
    consumed = world.consumed("r1")
    assert len(consumed) == calls
    for call in consumed:
        assert call["body"]["contextSlotBindings"] == bindings(shelf)
    assert len({call["idempotency_key"] for call in consumed}) == 1
    assert audit(world.dsn) == (batch(shelf), [["0", "1"]])


@pytest.mark.parametrize(("point", "calls_before"), [("finalized", 0), ("consuming", 1)])
def test_a_run_killed_after_its_selection_gives_the_consumer_the_refs_as_they_were_pinned(
    world: World, shelf: Shelf, point: str, calls_before: int
) -> None:
    assert killed_at(point, world)
    assert audit(world.dsn)[0] == batch(shelf)
    assert len(world.consumed("r1")) == calls_before
    move_on(shelf)
    assert gone_on(world) == ("completed", None, None)
    check_pinned(world, shelf, calls=calls_before + 1)


def test_a_platform_that_forgets_what_was_pinned_is_noticed(world: World, shelf: Shelf) -> None:
    # Control: with it the run completes as well, and the consumer gets the new revision.
    assert killed_at("finalized", world)
    shelf.store.revise(PICKED[0], "quite another text")
    assert gone_on(world, forgetful=True) == ("completed", None, None)
    with pytest.raises(AssertionError, match=r"contextSlotBindings|representationRevisionId"):
        check_pinned(world, shelf, calls=1)


def test_a_run_killed_before_the_commit_of_its_selection_selects_once_when_it_goes_on(
    world: World, shelf: Shelf
) -> None:
    assert killed_at("committing", world)
    assert audit(world.dsn) == ([], [])
    assert gone_on(world) == ("completed", None, None)
    check_pinned(world, shelf, calls=1)


def test_a_choice_that_was_never_recorded_is_asked_again_once_its_artifacts_have_changed(
    world: World, shelf: Shelf
) -> None:
    assert killed_at("committing", world)
    shelf.store.revise(PICKED[0], "quite another text")
    for _ in range(2):  # another process that goes on changes nothing: a person is waited for
        assert gone_on(world) == ("waiting", None, None)
        assert audit(world.dsn) == ([], [])
    assert world.consumed("r1") == []
    with RunStore.open(world.dsn) as store:
        (gate,) = store.get("r1").waiting
        assert gate.id == f"{GATE}#2"
        assert [row["gate_id"] for row in store.decisions("r1")] == [GATE]
        assert len(gate.values["refused"]["selectedRefs"]) == len(PICKED)


def test_a_process_that_nothing_kills_completes_its_run(world: World, shelf: Shelf) -> None:
    # Control: the points are what ends the processes above.
    assert not killed_at(10_000, world)
    check_pinned(world, shelf, calls=1)


@pytest.mark.long
def test_at_every_kill_the_consumer_gets_the_one_batch_or_nothing_is_recorded(
    world: World, shelf: Shelf
) -> None:
    outcomes = set()
    for point in itertools.count(1):
        run_id = f"r{point}"
        if not killed_at(point, world, run_id):
            break
        shown = {id_: dict(shelf.refs[id_]) for id_ in PICKED}
        shelf.refs[PICKED[0]]["representationRevisionId"] = shelf.store.revise(PICKED[0], run_id)
        kept = [row for row in audit(world.dsn)[0] if row[1] == run_id]
        status, code, _ = gone_on(world, run_id)
        outcomes.add((status, asked(world, run_id)))
        now = [row for row in audit(world.dsn)[0] if row[1] == run_id]
        consumed = [call["body"]["contextSlotBindings"] for call in world.consumed(run_id)]
        if status == "completed":
            assert len(now) == len(PICKED), point
            assert kept in ([], now), point
            pinned = [[row[4], row[5], row[6]] for row in now]
            for (binding,) in consumed:
                got = [list(ref.values())[:3] for ref in binding["refs"]]
                assert sorted(got) == pinned, point
            assert consumed, point
            assert [ref["artifactId"] for ref in consumed[0][0]["refs"]] == list(shown), point
        else:
            # Waiting where the gate was not answered yet, or where it asks again.
            assert (status, code) == ("waiting", None), point
            assert (kept, now, consumed) == ([], [], []), point
    # Before the gate's answer, between it and the commit of the selection, after that.
    assert outcomes == {("waiting", (1,)), ("waiting", (2,)), ("completed", ())}
    assert point > 20


def asked(world: World, run_id: str) -> tuple[int, ...]:
    """Which visit each waiting gate of a run is."""
    with RunStore.open(world.dsn) as store:
        return tuple(gate.visit for gate in store.get(run_id).waiting)


# ------------------------------------------------------------------------------- at once


@contextmanager
def routes(world: World, how: str) -> Iterator[str]:
    """Where two processes send to: one server, or each to itself."""
    if how == "in process":
        yield ""
        return
    database = Database.open(world.dsn)
    with pytest.MonkeyPatch.context() as patch:
        meet_before_writing(threading.Barrier(2, timeout=60), patch.setattr)
        with served(local_app(ArtifactStore(database), registry(BRAND), AnyRun())) as base:
            yield base
    database.close()


def raced(world: World, base: str, *rounds: list[str], salted: bool = False) -> list[list[Any]]:
    """What each of the processes was answered, round by round."""
    barrier = FORKED.Barrier(len(rounds), timeout=60)
    running = []
    for number, texts in enumerate(rounds):
        here, there = FORKED.Pipe(duplex=False)
        salt = str(number) if salted else ""
        racer = Racer(world=world, base_url=base, rounds=tuple(texts), salt=salt)
        child = FORKED.Process(target=selecting.race, args=(racer, barrier, there))
        child.start()
        there.close()
        running.append((child, here))
    answers = [here.recv() for _, here in running]
    for child, _ in running:
        child.join()
    return answers


def choices(shelf: Shelf) -> list[list[Any]]:
    """Twenty different selections of one to five refs."""
    ids = ("own", "team", "brief", "style", "all-1")
    some = itertools.chain.from_iterable(
        itertools.combinations(ids, number) for number in (2, 3, 1, 5)
    )
    return [shelf.of(*chosen) for chosen in itertools.islice(some, ROUNDS)]


def check_one_batch_each(world: World, chosen: list[Any], first: Any, second: Any) -> None:
    for refs, *answers in zip(chosen, first, second, strict=True):
        for answer in answers:
            assert answer["contextSlotBindings"] == [{"slotId": SLOT, "refs": refs}]
        assert sorted(answer["wrote"] for answer in answers) == [False, True]
    rows, batches = audit(world.dsn)
    assert len(rows) == sum(len(refs) for refs in chosen)
    places = [[str(place) for place in range(len(refs))] for refs in chosen]
    assert sorted(batches) == sorted(places)


HOW = pytest.mark.parametrize("how", ["in process", pytest.param("over HTTP", marks=needs_server)])


@HOW
def test_two_processes_that_finalize_one_selection_at_once_record_one_batch(
    world: World, shelf: Shelf, how: str
) -> None:
    chosen = choices(shelf)
    assert len({envelope(refs) for refs in chosen}) == ROUNDS
    texts = [envelope(refs) for refs in chosen]
    with routes(world, how) as base:
        first, second = raced(world, base, texts, texts)
    check_one_batch_each(world, chosen, first, second)


@HOW
def test_the_order_in_which_two_processes_choose_makes_no_second_batch(
    world: World, shelf: Shelf, how: str
) -> None:
    forth = shelf.of("own", "style")
    with routes(world, how) as base:
        (first,), (second,) = raced(world, base, [envelope(forth)], [envelope(forth[::-1])])
    assert first["contextSlotBindings"] == [{"slotId": SLOT, "refs": forth}]
    assert second["contextSlotBindings"] == [{"slotId": SLOT, "refs": forth[::-1]}]
    assert {first["wrote"], second["wrote"]} == {True, False}
    assert audit(world.dsn)[1] == [["0", "1"]]


@HOW
def test_two_processes_that_finalize_different_selections_at_once_record_both(
    world: World, shelf: Shelf, how: str
) -> None:
    these, those = shelf.of("own", "style"), shelf.of("own", "team", "brief")
    with routes(world, how) as base:
        (first,), (second,) = raced(world, base, [envelope(these)], [envelope(those)])
    assert first == {"contextSlotBindings": [{"slotId": SLOT, "refs": these}], "wrote": True}
    assert second == {"contextSlotBindings": [{"slotId": SLOT, "refs": those}], "wrote": True}
    assert sorted(audit(world.dsn)[1]) == [["0", "1"], ["0", "1", "2"]]


def test_two_batches_of_one_selection_would_be_noticed(world: World, shelf: Shelf) -> None:
    # Control: processes that do not agree on the key write a batch each.
    chosen = choices(shelf)[:1]
    texts = [envelope(refs) for refs in chosen]
    first, second = raced(world, "", texts, texts, salted=True)
    assert audit(world.dsn)[1] == [["0", "1"]] * 2
    with pytest.raises(AssertionError):
        check_one_batch_each(world, chosen, first, second)
