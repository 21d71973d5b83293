"""Loading artifacts that a host declares: once, again, changed, and from two processes at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from cinatra_sdk.context import Actor, AgentContextSlot, ContextError, InstalledExtensions
from cinatra_sdk.postgres.connection import connect
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore, LoadedArtifact, load
from cinatra_sdk.store.database import Database

KIND = "@cinatra-ai/artifact:object"
VOICE = LoadedArtifact(
    id="voice", org_id="o1", owner_id="bob", name="Voice", visibility="org",
    extensions=("@x/voice",), content="Plain words.",
)  # fmt: skip
TONE = LoadedArtifact(
    id="tone", org_id="o1", owner_id="ann", visibility="private", extensions=("@x/tone", "@x/voice"),
    content="",
)  # fmt: skip


@pytest.fixture
def database(fresh_database: str) -> Iterator[Database]:
    opened = Database.open(fresh_database)
    yield opened
    opened.close()


@pytest.fixture
def store(database: Database) -> ArtifactStore:
    return ArtifactStore(database)


def rows(database: Database, table: str, columns: str) -> list[tuple[Any, ...]]:
    with database.connection() as connection:
        found = connection.execute(f"select {columns} from {table} order by {columns}").fetchall()
    return [tuple(row.values()) for row in found]


def revisions(database: Database) -> list[tuple[Any, ...]]:
    return rows(database, "representations", "artifact_id, revision, content, mime")


def classified(database: Database) -> list[tuple[Any, ...]]:
    columns = "artifact_id, extension, eligibility, asserted_by"
    return rows(database, "semantic_assertions", columns)


def test_what_is_declared_is_there_and_can_be_chosen(store, database) -> None:
    store.load([VOICE, TONE])
    assert rows(database, "objects", "id, org_id, type, name, owner_id, owner_level, visibility") == [
        ("tone", "o1", KIND, "", "ann", "user", "private"),
        ("voice", "o1", KIND, "Voice", "bob", "user", "org"),
    ]  # fmt: skip
    assert revisions(database) == [
        ("tone", 1, "", "text/plain"), ("voice", 1, "Plain words.", "text/plain"),
    ]  # fmt: skip
    assert classified(database) == [
        ("tone", "@x/tone", "eligible", "user"),
        ("tone", "@x/voice", "eligible", "user"),
        ("voice", "@x/voice", "eligible", "user"),
    ]
    slot = AgentContextSlot.model_validate(
        {
            "slotId": "s", "acceptedArtifactExtensions": ["@x/voice"],
            "selectionMode": "interactive", "resolutionMode": "accumulate",
        }
    )  # fmt: skip
    ann = Actor(org_id="o1", principal_id="ann")
    found = store.resolve(ann, slot, InstalledExtensions()).candidates
    assert [ref.artifact_id for ref in found] == ["tone", "voice"]


def everything(database: Database) -> list[list[tuple[Any, ...]]]:
    return [
        rows(database, "objects", "id, name, owner_id, owner_level, visibility, xmin::text"),
        rows(database, "representations", "id"),
        rows(database, "semantic_assertions", "id, eligibility"),
    ]


def test_the_same_again_writes_nothing(store, database) -> None:
    store.load([VOICE, TONE])
    before = everything(database)
    store.load([TONE, VOICE])
    assert everything(database) == before
    store.load([])
    assert everything(database) == before


def test_another_content_is_one_more_revision_and_a_former_one_too(store, database) -> None:
    for content in ("Plain words.", "Few words.", "Plain words."):
        store.load([replace(VOICE, content=content)])
    assert [(revision, content) for _, revision, content, _ in revisions(database)] == [
        (1, "Plain words."), (2, "Few words."), (3, "Plain words."),
    ]  # fmt: skip


def test_the_row_says_what_is_declared_and_no_classification_is_taken_away(store, database) -> None:
    store.load([VOICE, TONE])
    changed = replace(
        VOICE, name="V", owner_id="cy", owner_level="team", visibility="team:t",
        extensions=("@x/loud",),
    )  # fmt: skip
    store.load([changed])
    assert rows(database, "objects", "id, name, owner_id, owner_level, visibility")[1] == (
        "voice", "V", "cy", "team", "team:t",
    )  # fmt: skip
    assert len(revisions(database)) == 2
    assert [row[:3] for row in classified(database) if row[0] == "voice"] == [
        ("voice", "@x/loud", "eligible"), ("voice", "@x/voice", "eligible"),
    ]  # fmt: skip


def test_a_draft_gives_way_and_what_was_archived_comes_again(store, database) -> None:
    store.load([replace(VOICE, extensions=("@x/other",))])
    store.classify("voice", "@x/voice", asserted_by="matcher", eligibility="draft")
    store.load([VOICE])
    store.archive(store.classify("voice", "@x/loud"))
    store.load([replace(VOICE, extensions=("@x/loud",))])
    assert classified(database) == [
        ("voice", "@x/loud", "archived", "user"),
        ("voice", "@x/loud", "eligible", "user"),
        ("voice", "@x/other", "eligible", "user"),
        ("voice", "@x/voice", "archived", "matcher"),
        ("voice", "@x/voice", "eligible", "user"),
    ]


def test_an_id_that_is_somebody_elses_refuses_all_and_writes_nothing(store, database) -> None:
    store.load([VOICE])
    before = everything(database)
    with pytest.raises(ContextError, match='"voice" belongs to another organisation'):
        store.load([TONE, replace(VOICE, org_id="o2", content="Mine.")])
    assert everything(database) == before
    store.load([TONE, replace(VOICE, id="voice2", org_id="o2", content="Mine.")])
    assert len(everything(database)[0]) == 3


def test_an_id_that_comes_twice_refuses_all_and_writes_nothing(store, database) -> None:
    with pytest.raises(ContextError, match='"voice" is given twice') as raised:
        store.load([VOICE, TONE, replace(VOICE, content="Others.")])
    assert raised.value.code == "context_unresolved"
    assert everything(database) == [[], [], []]
    store.load([VOICE, TONE])
    assert len(everything(database)[0]) == 2


def test_nobodys_object_one_of_another_kind_and_a_deleted_one_are_refused(store) -> None:
    store.add(artifact_id="nobodys", org_id=None, owner_id="bob", visibility="org")
    store.add(artifact_id="folder", org_id="o1", owner_id="bob", visibility="org", kind="@x:folder")
    store.load([VOICE])
    store.delete("voice")
    for id_, why in {
        "nobodys": "belongs to another organisation",
        "folder": "is no artifact",
        "voice": "was deleted",
    }.items():
        with pytest.raises(ContextError, match=why) as raised:
            store.load([replace(VOICE, id=id_)])
        assert raised.value.code == "context_unresolved"


# ------------------------------------------------------------------------ at once


def wait_until_somebody_waits(dsn: str) -> None:
    """Returns when a statement is held up by a lock.  Asks again and again, for a million times."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        for _ in range(1_000_000):
            row = connection.execute(
                "select count(*) from pg_stat_activity"
                " where datname = current_database() and wait_event_type = 'Lock'"
            ).fetchone()
            if row and row[0]:
                return
    raise AssertionError("nobody waits")


@pytest.mark.parametrize("there", [False, True], ids=["new", "there already"])
@pytest.mark.parametrize("commits", [True, False], ids=["committed", "rolled back"])
def test_two_that_load_the_same_at_once_write_it_once(
    store, database, fresh_database, there, commits
) -> None:
    if there:
        store.load([VOICE, TONE])
    new = [replace(VOICE, content="New."), replace(TONE, extensions=("@x/new",), content="New.")]
    second = threading.Thread(target=store.load, args=(new[::-1],))
    with connect(fresh_database) as first:
        with first.transaction(force_rollback=not commits):
            load(first, new, kind=KIND)
            second.start()
            wait_until_somebody_waits(fresh_database)
        second.join()
    number = 2 if there else 1
    assert [(id_, revision) for id_, revision, content, _ in revisions(database) if content == "New."] == [
        ("tone", number), ("voice", number),
    ]  # fmt: skip
    assert [row[0] for row in classified(database) if row[1] == "@x/new"] == ["tone"]


# ------------------------------------------------------------------------- reading


def test_names_are_those_of_artifacts_that_the_actor_may_see(store) -> None:
    others = {
        "theirs": replace(VOICE, id="theirs", org_id="o2", name="Theirs"),
        "bobs": replace(VOICE, id="bobs", owner_id="bob", visibility="private", name="Bob's"),
        "team": replace(VOICE, id="team", owner_id="bob", visibility="team:t9", name="Team"),
    }
    seen = [replace(one, visibility="org") for one in (VOICE, TONE)]
    store.load([*seen, *others.values()])
    ids = ["voice", "tone", *others, "gone"]
    zoe = Actor(org_id="o1", principal_id="zoe")
    assert store.names(ids, zoe) == {"voice": "Voice", "tone": ""}
    assert store.names([], zoe) == {}
    assert set(store.names(ids, Actor(org_id="o1", principal_id="bob"))) >= {"bobs", "team"}
    in_team = Actor(org_id="o1", principal_id="zoe", team_ids=frozenset({"t9"}))
    assert set(store.names(ids, in_team)) == {"voice", "tone", "team"}
    store.delete("voice")
    assert store.names(ids, zoe) == {"tone": ""}


def test_loading_the_same_new_artifacts_at_one_moment_is_no_error_for_anybody(store) -> None:
    # Which of two unique keys meets the other's row first is up to the moment: many rounds.
    problems: list[Exception] = []

    def loading(barrier: threading.Barrier, names: list[str]) -> None:
        barrier.wait()
        try:
            store.load([replace(VOICE, id=name) for name in names])
        except Exception as problem:
            problems.append(problem)

    for number in range(40):
        barrier, names = threading.Barrier(4), [f"a{number}-{place}" for place in range(10)]
        threads = [threading.Thread(target=loading, args=(barrier, names)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert problems == []
