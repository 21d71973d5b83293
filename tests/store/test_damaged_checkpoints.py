"""Checkpoint rows damaged in 60 ways: the run goes on as if nothing had been, or says by its code why not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from cinatra_sdk import Decision, RunStore, errors
from cinatra_sdk.errors import FlowError
from cinatra_sdk.store.runs import activation
from oas_compiler import compile_flow
from tests.effort import spread
from tests.store.test_rebuilt_runs import SHAPES, Counting, owner, platform

__all__ = ["owner", "platform"]
ANN = Decision.approve(by="ann")
NEWEST = "and {0} = (select max({0}) from {1} where thread_id = %(run)s)"

_BLOBS = {
    "garbled": "update checkpoint_blobs set blob = '\\xc1ff' where {where}",
    "cut": "update checkpoint_blobs set blob = substr(blob, 1, 2) where {where}",
    "empty": "update checkpoint_blobs set blob = '' where {where}",
    "gone": "delete from checkpoint_blobs where {where}",
    "of another type": "update checkpoint_blobs set type = 'json' where {where}",
    "of an unknown type": "update checkpoint_blobs set type = 'pickle' where {where}",
    "another value": "update checkpoint_blobs set blob = '\\x01', type = 'msgpack' where {where}",
    "of another version": "update checkpoint_blobs set version = 'x' || version where {where}",
}
_WHICH_BLOBS = {
    "every value": "thread_id = %(run)s",
    "the values of nodes": "thread_id = %(run)s and channel like 'node.%%'",
    "the cursor": "thread_id = %(run)s and channel = 'cursor'",
    "the identity": "thread_id = %(run)s and channel = 'run'",
}
_CHECKPOINTS = {
    "empty": "update checkpoints set checkpoint = '{{}}' where {where}",
    "a list": "update checkpoints set checkpoint = '[1]' where {where}",
    "a text": "update checkpoints set checkpoint = '\"x\"' where {where}",
    "gone": "delete from checkpoints where {where}",
    "without versions": "update checkpoints set checkpoint = checkpoint - 'channel_versions' where {where}",
    "without its id": "update checkpoints set checkpoint = checkpoint - 'id' where {where}",
    "with metadata of another form": "update checkpoints set metadata = '[1]' where {where}",
    "of nobody": "update checkpoints set parent_checkpoint_id = 'x' where {where}",
}
_WHICH_CHECKPOINTS = {
    "every checkpoint": "thread_id = %(run)s",
    "the newest checkpoint": "thread_id = %(run)s " + NEWEST.format("checkpoint_id", "checkpoints"),
}
_WRITES = {
    "garbled": "update checkpoint_writes set blob = '\\xc1ff' where {where}",
    "empty": "update checkpoint_writes set blob = '' where {where}",
    "gone": "delete from checkpoint_writes where {where}",
    "of another type": "update checkpoint_writes set type = 'json' where {where}",
    "of another channel": "update checkpoint_writes set channel = 'x' where {where}",
    "of another task": "update checkpoint_writes set task_id = 'x' || task_id where {where}",
}
_WHICH_WRITES = {
    "every write": "thread_id = %(run)s",
    "the writes of the newest checkpoint": "thread_id = %(run)s "
    + NEWEST.format("checkpoint_id", "checkpoint_writes"),
}


def list_ways() -> Iterator[tuple[str, str]]:
    for kinds, places in (
        (_BLOBS, _WHICH_BLOBS), (_CHECKPOINTS, _WHICH_CHECKPOINTS), (_WRITES, _WHICH_WRITES),
    ):  # fmt: skip
        for place, where in places.items():
            for name, statement in kinds.items():
                yield f"{place} {name}", statement.format(where=where)


WAYS = dict(list_ways())
CODES = {one.code for one in vars(errors).values() if isinstance(one, type) and issubclass(one, FlowError)}  # fmt: skip


@pytest.fixture
def store(fresh_database: str, platform: Counting) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, platform=platform) as opened:
        yield opened


def go_on_damaged(
    store: RunStore, platform: Counting, owner: Callable[..., None], shape: str, way: str
) -> str:
    """What became of a run whose rows were damaged between its gates: `repaired`, or the code of its error.

    Raises: `AssertionError` where the run comes to something else; whatever is raised raw.
    """
    flow = compile_flow(SHAPES[shape], platform=platform)
    run_id = f"{shape}-{len(platform.keys)}-{way}"[:190].replace("/", "")
    run = store.start(flow, {}, run_id=run_id)
    run = store.answer(run_id, run.waiting[0], ANN)
    store.decide(run_id, run.waiting[0], ANN)
    owner(WAYS[way].replace("%(run)s", "'" + run_id + "'"))
    try:
        run = store.work(run_id)
        while run.status == "waiting":
            run = store.answer(run_id, run.waiting[0], ANN)
    except FlowError as error:
        return error.code
    assert len(set(platform.keys)) == len(platform.keys), "a call was made again"
    if run.status == "failed":
        assert run.error is not None
        return str(run.error["code"])
    whole = store.start(flow, {}, run_id=f"{run_id}-whole")
    while whole.status == "waiting":
        whole = store.answer(whole.id, whole.waiting[0], ANN)
    assert (run.status, run.outputs) == (whole.status, whole.outputs)
    assert store.verify(run_id).differences == ()
    return "repaired"


def test_there_are_60_ways() -> None:
    assert len(WAYS) == 60


@pytest.mark.parametrize("way", spread(list(WAYS), family=lambda way: way.split()[1], every=5))
@pytest.mark.parametrize("shape", ["plain", pytest.param("nested", marks=pytest.mark.long)])
def test_a_run_goes_on_or_says_why_not(
    store: RunStore, platform: Counting, owner: Callable[..., None], shape: str, way: str
) -> None:
    came_to = go_on_damaged(store, platform, owner, shape, way)
    assert came_to == "repaired" or came_to in CODES


def test_without_the_look_for_damage_some_end_raw(
    store: RunStore, platform: Counting, owner: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: it is the look for damage that repairs them."""
    monkeypatch.setattr(activation, "find_damage", lambda _saver, _run: "")
    way = "every value garbled"
    try:
        came_to = go_on_damaged(store, platform, owner, "plain", way)
    except Exception as error:  # raw, which is what the look prevents
        came_to = type(error).__name__
    assert came_to != "repaired"
    assert came_to not in CODES
