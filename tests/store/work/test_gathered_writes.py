"""What is gathered in two parts is stored as if it had come in one."""

from __future__ import annotations

from cinatra_sdk.store.work.statement import Blob, Gathered, StoredCheckpoint, TaskWrite


def _checkpoint(text: str, parent: str | None) -> StoredCheckpoint:
    return StoredCheckpoint("r1", "", "c1", parent, text, "{}")


def _blob(kind: str, blob: bytes) -> Blob:
    return Blob("r1", "", "note", "1", kind, blob)


def test_of_two_parts_the_last_checkpoint_is_kept_under_the_first_parent() -> None:
    first, later = Gathered(), Gathered()
    first._add_checkpoint(_checkpoint('{"v": 1}', "c0"))
    later._add_checkpoint(_checkpoint('{"v": 2}', "other"))
    first.add(later)
    assert list(first.checkpoints.values()) == [_checkpoint('{"v": 2}', "c0")]


def test_a_version_of_a_channel_has_the_value_that_came_first() -> None:
    first, later = Gathered(), Gathered()
    first._add_blob(_blob("json", b"1"))
    later._add_blob(_blob("msgpack", b"22"))
    first.add(later)
    assert list(first.blobs.values()) == [_blob("json", b"1")]
    assert first.bytes == 1


def test_a_write_is_kept_once_unless_it_replaces_the_one_before() -> None:
    one = TaskWrite("r1", "", "c1", "t1", "path", 0, "note", "json", b"1")
    two = one._replace(blob=b"22", task_path="other")
    first, later = Gathered(), Gathered()
    first._add_write(one, replaces=False)
    later._add_write(two, replaces=False)
    first.add(later)
    assert list(first.writes.values()) == [one]
    again = Gathered()
    again._add_write(two, replaces=True)
    first.add(again)
    assert list(first.writes.values()) == [two._replace(task_path="path")]
    assert first.replaced == {one.key}
