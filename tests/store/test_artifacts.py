"""Which artifacts a slot may take, in which order, and the record of what it took."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import psycopg
import pytest

from cinatra_sdk.context import (
    Actor,
    AgentContextSlot,
    ContextError,
    InstalledExtensions,
)
from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.postgres.connection import Rows, connect, run
from cinatra_sdk.store.artifacts import selections
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore, Choice
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.pages import write_cursor

VOICE = "@x/voice"
ANN = Actor(
    org_id="o1", principal_id="ann", team_ids=frozenset({"t1"}), project_ids=frozenset({"p1"})
)
REGISTRY = InstalledExtensions({"@x/house-voice": [VOICE], "@x/loud": ["@x/house-voice"]})


def slot(**changes) -> AgentContextSlot:
    given = {
        "slotId": "voice",
        "acceptedArtifactExtensions": [VOICE],
        "selectionMode": "interactive",
        "resolutionMode": "accumulate",
    }
    return AgentContextSlot.model_validate(given | changes)


@pytest.fixture
def artifacts(fresh_database: str):
    database = Database.open(fresh_database)
    yield ArtifactStore(database)
    database.close()


def put(store: ArtifactStore, id_: str, *, extension: str = VOICE, **columns) -> str:
    given = {"org_id": "o1", "owner_id": "someone", "visibility": "org", "content": id_}
    store.add(artifact_id=id_, **(given | columns))
    if (given | columns)["org_id"] is not None:
        store.classify(id_, extension)
    return id_


def found(store: ArtifactStore, project: str | None = None, actor: Actor = ANN, **changes):
    return [
        ref.artifact_id
        for ref in store.resolve(actor, slot(**changes), REGISTRY, project).candidates
    ]


SEEN = {
    "own and private": {"owner_id": "ann", "visibility": "private"},
    "organisation": {"visibility": "org"},
    "workspace": {"visibility": "workspace"},
    "own team": {"visibility": "team:t1"},
    "own, of another team": {"owner_id": "ann", "visibility": "team:t2"},
}
HIDDEN = {
    "private of another": {"visibility": "private"},
    "another team": {"visibility": "team:t2"},
    "another organisation": {"org_id": "o2"},
    "own, in another organisation": {"org_id": "o2", "owner_id": "ann"},
    "nobody's": {"org_id": None, "owner_id": "ann", "content": None},
    "for administrators": {"visibility": "admin"},
    "of a project": {"visibility": "project:p1"},
    "own, of a project": {"owner_id": "ann", "visibility": "project:p1"},
    "another kind of object": {"kind": "@cinatra-ai/task:object"},
    "without a revision": {"content": None},
    "another extension": {"extension": "@x/icp"},
}


@pytest.mark.parametrize("columns", SEEN.values(), ids=SEEN)
def test_an_artifact_is_offered(artifacts, columns):
    assert found(artifacts) == [] == found(artifacts, actor=ANN)
    put(artifacts, "a", **columns)
    assert found(artifacts) == ["a"]


@pytest.mark.parametrize("columns", HIDDEN.values(), ids=HIDDEN)
def test_an_artifact_is_not_offered(artifacts, columns):
    put(artifacts, "seen")
    put(artifacts, "hidden", **columns)
    assert found(artifacts) == ["seen"]


def test_a_project_of_the_actor_offers_what_is_in_it_and_nothing_else(artifacts):
    put(artifacts, "org")
    put(artifacts, "in", visibility="project:p1")
    put(artifacts, "elsewhere", visibility="project:p2")
    assert found(artifacts, "p1") == ["in"]
    assert found(artifacts, " ") == ["org"]


def test_a_project_that_is_not_the_actors_gives_nothing_without_a_statement(artifacts):
    put(artifacts, "a", visibility="project:p2")
    artifacts._database.close()  # any statement would fail now
    assert found(artifacts, "p2") == []


def test_scopes_go_from_narrow_to_broad_and_ties_by_id(artifacts):
    put(artifacts, "b-org")
    put(artifacts, "a-org")
    put(artifacts, "c-work", visibility="workspace")
    put(artifacts, "d-team", visibility="team:t1")
    put(artifacts, "e-own", owner_id="ann", visibility="private")
    assert found(artifacts) == ["e-own", "d-team", "a-org", "b-org", "c-work"]
    assert found(artifacts, maxItems=2) == found(artifacts)
    assert found(artifacts, resolutionMode="override") == ["e-own"]
    assert found(artifacts, minItems=9) == found(artifacts)


def test_extensions_are_followed_one_hop_and_no_further(artifacts):
    put(artifacts, "house", extension="@x/house-voice")
    put(artifacts, "loud", extension="@x/loud")
    assert found(artifacts) == ["house"]


def test_the_latest_revision_and_only_eligible_classifications_count(artifacts):
    put(artifacts, "a")
    latest = artifacts.revise("a", "second")
    (ref,) = artifacts.resolve(ANN, slot(), REGISTRY).candidates
    assert ref.representation_revision_id == latest
    artifacts.archive(ref.semantic_assertion_id)
    assert found(artifacts) == []
    artifacts.classify("a", VOICE, eligibility="draft")
    assert found(artifacts) == []


def choice(store: ArtifactStore, *ids: str, **changes) -> Choice:
    refs = {ref.artifact_id: ref for ref in store.resolve(ANN, slot(), REGISTRY).candidates}
    given = {
        "org_id": "o1",
        "parent_run_id": "r1",
        "parent_package_name": "@x/agent",
        "slot": slot(),
        "refs": tuple(refs[id_] for id_ in ids),
    }
    return Choice(**(given | changes))


def test_a_choice_is_written_once_whatever_its_order_and_a_correction_is_a_new_batch(artifacts):
    for id_ in ("a", "b"):
        put(artifacts, id_)
    assert artifacts.record(choice(artifacts, "a", "b")) is True
    assert artifacts.record(choice(artifacts, "b", "a")) is False
    assert artifacts.record(choice(artifacts, "b")) is True
    rows = artifacts.selections("o1", "r1")
    assert [row.triple.artifact_id for row in rows] == ["a", "b", "b"]
    assert {row.selected_by for row in rows} == {"user"}
    assert rows[0].id.endswith(":0")


def test_a_selection_keeps_its_revision_and_classification_when_both_change(artifacts):
    put(artifacts, "a")
    kept = choice(artifacts, "a")
    artifacts.record(kept)
    artifacts.revise("a", "changed")
    artifacts.archive(kept.refs[0].semantic_assertion_id)
    (row,) = artifacts.selections("o1", "r1", "voice")
    assert row.triple == kept.refs[0].triple
    assert artifacts.content(row.triple.representation_revision_id) == "a"


INCOHERENT = {
    "a revision of another artifact": {"representationRevisionId": "b"},
    "a classification of another artifact": {"semanticAssertionId": "b"},
    "another extension than the classification's": {"extension": "@x/icp"},
    "no such artifact": {"artifactId": "nowhere"},
}


@pytest.mark.parametrize("change", INCOHERENT.values(), ids=INCOHERENT)
def test_keys_that_do_not_belong_together_write_nothing_at_all(artifacts, change):
    for id_ in ("a", "b"):
        put(artifacts, id_)
    good = choice(artifacts, "a", "b")
    (key, value), other = next(iter(change.items())), good.refs[1]
    taken = other.wire()[key] if value == "b" else value
    broken = type(other).model_validate(good.refs[0].wire() | {key: taken})
    with pytest.raises(ContextError, match="do not belong") as raised:
        artifacts.record(choice(artifacts, "b", refs=(other, broken)))
    assert (raised.value.code, raised.value.status) == ("selection_incoherent", 409)
    assert artifacts.selections("o1", "r1") == []


def test_a_deleted_artifact_cannot_be_recorded_any_more(artifacts):
    put(artifacts, "a")
    late = choice(artifacts, "a")
    artifacts.delete("a")
    with pytest.raises(ContextError, match="live artifact"):
        artifacts.record(late)


@pytest.mark.parametrize(
    "statement",
    [
        "update run_context_selections set extension = 'x'",
        "delete from run_context_selections",
        "truncate run_context_selections",
        "update representations set content = 'x'",
        "delete from representations",
        "truncate representations cascade",
        "update semantic_assertions set extension = 'x'",
        "update semantic_assertions set eligibility = 'draft'",
        "delete from semantic_assertions",
        "truncate semantic_assertions cascade",
    ],
)
def test_what_was_written_cannot_be_changed(artifacts, fresh_database, owner_database, statement):
    put(artifacts, "a")
    artifacts.record(choice(artifacts, "a"))
    refusals = (psycopg.errors.IntegrityConstraintViolation, psycopg.errors.InsufficientPrivilege)
    for dsn, refusal in ((owner_database, refusals[0]), (fresh_database, refusals)):
        with (
            psycopg.connect(dsn, options="-c search_path=oasflow") as connection,
            pytest.raises(refusal),
        ):
            connection.execute(statement)


def test_two_at_once_write_one_batch(artifacts):
    for id_ in ("a", "b", "c"):
        put(artifacts, id_)
    same = choice(artifacts, "a", "b", "c")
    answers: list[bool] = []
    start = threading.Barrier(4)

    def write() -> None:
        start.wait()
        answers.append(artifacts.record(same))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False, False, False, True]
    assert len(artifacts.selections("o1", "r1")) == 3


# ------------------------------------------------------ two connections in each other's way


@contextmanager
def impatient(dsn: str) -> Iterator[Rows]:
    """A connection whose statements fail where they would have to wait for another."""
    with connect(dsn) as connection:
        connection.execute("set lock_timeout = '1ms'")
        yield connection


def test_an_artifact_that_is_being_recorded_cannot_be_deleted_before_the_commit(
    artifacts, fresh_database
):
    for id_ in ("a", "b"):
        put(artifacts, id_)
    both = choice(artifacts, "a", "b")
    with connect(fresh_database) as first, impatient(fresh_database) as second:
        with first.transaction():
            assert selections.record(first, both) is True
            for id_ in ("a", "b"):
                with pytest.raises(psycopg.errors.LockNotAvailable):
                    run(second, "delete_object", {"id": id_})
        run(second, "delete_object", {"id": "a"})
    assert [row.triple.artifact_id for row in artifacts.selections("o1", "r1")] == ["a", "b"]
    assert found(artifacts) == ["b"]


def test_a_choice_waits_for_an_artifact_that_is_being_deleted(artifacts, fresh_database):
    put(artifacts, "a")
    late = choice(artifacts, "a")
    with connect(fresh_database) as first, impatient(fresh_database) as second:
        with first.transaction(force_rollback=True):
            run(first, "delete_object", {"id": "a"})
            with pytest.raises(psycopg.errors.LockNotAvailable), second.transaction():
                selections.record(second, late)
        with second.transaction(force_rollback=True):
            assert selections.record(second, late) is True
        run(first, "delete_object", {"id": "a"})
        with pytest.raises(ContextError, match="live artifact"), second.transaction():
            selections.record(second, late)
    assert artifacts.selections("o1", "r1") == []


def latest(store: ArtifactStore) -> list[str] | None:
    refs = store.latest("o1", run_id="r1", package_name="@x/agent", slot_id="voice")
    return None if refs is None else [ref.artifact_id for ref in refs]


def test_the_latest_choice_is_the_one_that_was_committed_last(artifacts, fresh_database):
    for id_ in ("a", "b"):
        put(artifacts, id_)
    a, b = choice(artifacts, "a"), choice(artifacts, "b")
    with connect(fresh_database) as first, impatient(fresh_database) as second:
        with first.transaction():
            first.execute("select now()")  # begun before the other, and ended after it
            artifacts.record(b)
            selections.record(first, a)
        assert latest(artifacts) == ["a"]
        assert [row.triple.artifact_id for row in artifacts.selections("o1", "r1")] == ["b", "a"]
        with first.transaction():
            selections.record(first, b)
            with pytest.raises(psycopg.errors.LockNotAvailable), second.transaction():
                selections.record(second, a)
        assert latest(artifacts) == ["b"]


def test_what_a_run_goes_back_to_is_the_latest_and_writes_no_row_of_its_own(artifacts):
    for id_ in ("a", "b"):
        put(artifacts, id_)
    assert latest(artifacts) is None
    wrote = [artifacts.record(choice(artifacts, *ids)) for ids in ("a", "b", "a", "", "b", "")]
    assert wrote == [True, True, False, False, False, False]
    assert latest(artifacts) == []
    artifacts.record(choice(artifacts, "a"))
    assert latest(artifacts) == ["a"]
    assert [row.triple.artifact_id for row in artifacts.selections("o1", "r1")] == ["a", "b"]
    told = [(one.artifact_id, one.selected_by) for one in artifacts.chosen_in("r1")]
    a, b, nothing = ("a", "user"), ("b", "user"), (None, None)
    assert told == [a, b, a, nothing, b, nothing, a]


def test_what_was_chosen_is_told_from_narrow_to_broad(artifacts):
    places = {
        "a-work": "workspace", "b-org": "org", "c-team": "team:t1", "Z-org": "org", "z-own": "private",
    }  # fmt: skip
    for id_, visibility in places.items():
        put(artifacts, id_, visibility=visibility, owner_id="ann")
    artifacts.record(choice(artifacts, *places))
    told = [one.artifact_id for one in artifacts.chosen_in("r1")]
    assert told == ["z-own", "c-team", "Z-org", "b-org", "a-work"]


def test_a_choice_that_was_never_recorded_does_not_become_the_latest(artifacts):
    for id_ in ("a", "b"):
        put(artifacts, id_)
    artifacts.record(choice(artifacts, "a"))
    artifacts.record(choice(artifacts, "b"))
    artifacts.again(choice(artifacts, "a", "b"))
    assert latest(artifacts) == ["b"]
    artifacts.again(choice(artifacts, "a"))
    assert latest(artifacts) == ["a"]


def test_a_choice_of_nothing_is_pinned_where_it_was_made(artifacts):
    put(artifacts, "a")
    asking = choice(artifacts, "a")
    artifacts.record(asking)
    assert artifacts.pinned(asking, []) is None
    artifacts.record(choice(artifacts))
    assert artifacts.pinned(asking, []) == ()
    assert artifacts.pinned(choice(artifacts, "a", parent_run_id="r2"), []) is None
    assert artifacts.pinned(choice(artifacts, "a", org_id="o2"), []) is None
    assert artifacts.pinned(asking, [asking.refs[0].triple]) == asking.refs


def test_an_artifact_is_classified_once_for_an_extension_until_that_is_archived(artifacts):
    artifacts.add(artifact_id="a", org_id="o1", owner_id="ann", visibility="org")
    first = artifacts.classify("a", VOICE)
    with pytest.raises(ContextError, match=r"already.*archive that assertion first"):
        artifacts.classify("a", VOICE)
    artifacts.archive(first)
    assert artifacts.classify("a", VOICE) != first


@pytest.mark.parametrize("id_", ["nowhere", "nobody"])
def test_what_is_no_artifact_of_an_organisation_is_not_classified(artifacts, id_):
    artifacts.add(artifact_id="nobody", org_id=None, owner_id="ann", visibility="org", content=None)
    with pytest.raises(ContextError, match=f'no artifact "{id_}"'):
        artifacts.classify(id_, VOICE)


# ------------------------------------------------------------------------------ in pages


def test_selections_come_in_pages_in_the_order_of_the_choices(artifacts):
    ids = [f"a{number}" for number in range(5)]
    for id_ in ids:
        put(artifacts, id_)
    artifacts.record(choice(artifacts, *ids))
    artifacts.record(choice(artifacts, "a4"))
    read = artifacts.selections_page
    first = read("o1", "r1", limit=4)
    artifacts.record(choice(artifacts, "a3"))  # what is added meanwhile comes at the end
    second = read("o1", "r1", limit=4, after=first.next)
    assert [*first.items, *second.items] == artifacts.selections("o1", "r1")
    assert (len(first.items), len(second.items), second.next) == (4, 3, "")
    assert read("o1", "r1", "other").items == []


def test_what_was_chosen_comes_in_pages_that_hold_each_ref_once(artifacts):
    ids = [f"a{number}" for number in range(3)]
    for id_ in ids:
        put(artifacts, id_)
    for chosen in (ids, ["a1"], [], ids):
        artifacts.record(choice(artifacts, *chosen))
    pages, after = [], ""
    while not pages or after:
        page = artifacts.chosen_page("r1", limit=3, after=after)
        pages.append([one.artifact_id for one in page.items])
        after = page.next
    assert pages == [["a0", "a1", "a2"], ["a1", None, "a0"], ["a1", "a2"]]
    with pytest.raises(InputInvalid, match="no cursor"):
        artifacts.chosen_page("r1", after=write_cursor(datetime.now(UTC), "r1", "gate"))


def test_artifacts_are_listed_in_pages_as_far_as_the_actor_may_see_them(artifacts):
    for id_ in ("b", "a", "c"):
        put(artifacts, id_)
    put(artifacts, "hidden", visibility="private", owner_id="eve")
    put(artifacts, "theirs", org_id="o2")
    put(artifacts, "gone")
    artifacts.delete("gone")
    first = artifacts.page(ANN, limit=2)
    second = artifacts.page(ANN, limit=2, after=first.next)
    assert [one.id for one in (*first.items, *second.items)] == ["b", "a", "c"]
    assert second.next == ""
