"""Objects that runs save: versions, tenants, keys, and nothing that is overwritten."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import psycopg
import pytest

from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.store.artifacts import object_store
from cinatra_sdk.store.artifacts.object_store import (
    MOST_BYTES,
    KeyReused,
    ObjectContent,
    SavedObjects,
)
from cinatra_sdk.store.database import Database

NOTE = ObjectContent.of_json("@x/note", {"b": 1, "a": [True, None]})


@pytest.fixture
def objects(fresh_database: str) -> Iterator[SavedObjects]:
    database = Database.open(fresh_database)
    yield SavedObjects(database)
    database.close()


def test_an_object_comes_back_as_it_was_saved(objects: SavedObjects) -> None:
    made = objects.save(NOTE, org_id="acme", run_id="r1")
    assert objects.get(made.id, org_id="acme") == made
    assert (made.version, made.run_id, made.held.value()) == (1, "r1", {"b": 1, "a": [True, None]})
    # sha256 of {"a":[true,null],"b":1}: names in order, no blanks
    assert made.held.sha256 == "51705a2c9eb3e7e410a58f696a770c3ac3885a0cf43eb7fc88f5e47c11d4d30d"


def test_bytes_are_kept_too(objects: SavedObjects) -> None:
    content = ObjectContent(type="@x/photo", mime="image/png", content=b"\x89PNG\x00")
    made = objects.save(content, org_id="acme", run_id="r1")
    found = objects.get(made.id, org_id="acme")
    assert found is not None
    assert (found.held, found.held.value()) == (content, None)


def test_each_update_is_a_version_and_the_ones_before_stay(objects: SavedObjects) -> None:
    made = objects.save(NOTE, org_id="acme", run_id="r1")
    newer = ObjectContent.of_json("@x/note", {"c": 2})
    changed = objects.update(made.id, newer, org_id="acme", run_id="r2")
    assert changed is not None
    assert (changed.version, changed.run_id, changed.held) == (2, "r1", newer)
    assert objects.get(made.id, org_id="acme", version=1) == made
    assert objects.get(made.id, org_id="acme", version=3) is None


def test_what_is_saved_under_a_name_that_is_there_is_its_next_version(
    objects: SavedObjects,
) -> None:
    newer = ObjectContent.of_json("@x/note", {"c": 2})
    first = objects.save(NOTE, org_id="acme", run_id="r1", key="k1", object_id="named")
    second = objects.save(newer, org_id="acme", run_id="r1", key="k2", object_id="named")
    assert (second.version, second.held) == (2, newer), "what two calls save at once is both kept"
    assert objects.save(NOTE, org_id="acme", run_id="r1", key="k1", object_id="named") == first
    with pytest.raises(KeyReused):
        objects.save(newer, org_id="acme", run_id="r1", key="k1", object_id="named")


def test_another_organisation_sees_and_changes_nothing(objects: SavedObjects) -> None:
    made = objects.save(NOTE, org_id="acme", run_id="r1", key="k1")
    assert objects.get(made.id, org_id="other") is None
    assert objects.update(made.id, NOTE, org_id="other", run_id="r1") is None
    assert objects.of_run("r1", org_id="other") == []
    theirs = objects.save(NOTE, org_id="other", run_id="r1", key="k1")
    assert theirs.id != made.id, "a key of one organisation means nothing in another"
    with pytest.raises(ValueRefused, match="belongs to somebody else"):
        objects.save(NOTE, org_id="other", run_id="r1", object_id=made.id)


def test_one_key_saves_once_also_at_one_moment(objects: SavedObjects) -> None:
    made: list[str] = []
    start = threading.Barrier(4)

    def save() -> None:
        start.wait()
        made.append(objects.save(NOTE, org_id="acme", run_id="r1", key="k1").id)

    threads = [threading.Thread(target=save) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4
    assert len(set(made)) == 1
    assert len(objects.of_run("r1", org_id="acme")) == 1


def test_one_key_updates_once(objects: SavedObjects) -> None:
    made = objects.save(NOTE, org_id="acme", run_id="r1")
    newer = ObjectContent.of_json("@x/note", {"c": 2})
    first = objects.update(made.id, newer, org_id="acme", run_id="r1", key="k2")
    objects.update(made.id, NOTE, org_id="acme", run_id="r1", key="k3")
    assert objects.update(made.id, newer, org_id="acme", run_id="r1", key="k2") == first


def test_what_a_run_saved_is_listed_by_type_the_last_first(objects: SavedObjects) -> None:
    first = objects.save(NOTE, org_id="acme", run_id="r1")
    other = objects.save(ObjectContent.of_json("@x/other", {}), org_id="acme", run_id="r1")
    assert objects.of_run("r1", org_id="acme") == [other, first]
    assert objects.of_run("r1", org_id="acme", kind="@x/note") == [first]


def test_an_object_that_was_saved_again_is_the_last_saved(objects: SavedObjects) -> None:
    first = objects.save(NOTE, org_id="acme", run_id="r1")
    other = objects.save(NOTE, org_id="acme", run_id="r1")
    again = objects.update(first.id, NOTE, org_id="acme", run_id="r1")
    assert objects.of_run("r1", org_id="acme") == [again, other]
    assert objects.of_run("r1", org_id="acme", most=1) == [again]


def test_a_list_has_a_bound_of_bytes_and_keeps_the_last_saved(
    objects: SavedObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "MOST_LISTED_BYTES", 10)
    made = [
        objects.save(
            ObjectContent(type="@x/a", mime="text/plain", content=b"x" * size),
            org_id="acme",
            run_id="r1",
        )
        for size in (1, 5, 6, 4)
    ]
    assert objects.of_run("r1", org_id="acme") == [made[3], made[2]]
    assert objects.count_of_run("r1", org_id="acme") == 4
    assert objects.count_of_run("r1", org_id="acme", kind="@x/b") == 0
    assert objects.count_of_run("r1", org_id="other") == 0
    large = ObjectContent(type="@x/a", mime="text/plain", content=b"x" * 11)
    last = objects.save(large, org_id="acme", run_id="r1")
    assert objects.of_run("r1", org_id="acme") == [last], "the last one, whatever it has"


def test_an_object_has_a_bound(objects: SavedObjects) -> None:
    large = ObjectContent(type="@x/a", mime="text/plain", content=b"x" * (MOST_BYTES + 1))
    with pytest.raises(ValueRefused, match="at most 33554432 bytes"):
        objects.save(large, org_id="acme", run_id="r1")
    assert objects.of_run("r1", org_id="acme") == []


@pytest.mark.parametrize(
    "statement",
    ["delete from {t}", "update {t} set key = 'other'", "truncate {t} cascade"],
)
@pytest.mark.parametrize("table", ["saved_objects", "saved_object_versions"])
def test_not_even_the_owner_of_the_tables_overwrites_one(
    objects: SavedObjects, owner_database: str, statement: str, table: str
) -> None:
    made = objects.save(NOTE, org_id="acme", run_id="r1")
    with (
        psycopg.connect(owner_database, options="-c search_path=oasflow") as connection,
        pytest.raises(psycopg.errors.Error),
    ):
        connection.execute(statement.format(t=table))  # type: ignore[arg-type]  # words of this test
    assert objects.get(made.id, org_id="acme") == made


def test_a_key_saves_one_content_and_refuses_another(objects: SavedObjects) -> None:
    other = ObjectContent.of_json("@x/note", {"b": 2})
    made = objects.save(NOTE, org_id="acme", run_id="r1", key="k1")
    objects.update(made.id, other, org_id="acme", run_id="r1", key="k2")
    assert objects.save(NOTE, org_id="acme", run_id="r1", key="k1") == made, (
        "the version of its key"
    )
    with pytest.raises(KeyReused):
        objects.save(other, org_id="acme", run_id="r1", key="k1")
    with pytest.raises(KeyReused):
        objects.update(made.id, NOTE, org_id="acme", run_id="r1", key="k2")
    newest = objects.get(made.id, org_id="acme")
    assert newest is not None
    assert (newest.version, newest.held) == (2, other)
