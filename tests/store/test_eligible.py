"""What may be offered is kept by triggers: it is what the three tables say, whoever wrote them, when.

The seed of the generated histories is printed; `OASFLOW_SEED` repeats them.
"""

from __future__ import annotations

import itertools
import os
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any, LiteralString

import psycopg
import pytest

from benchmarks import context
from cinatra_sdk.errors import StoreError
from cinatra_sdk.postgres.connection import migrations
from cinatra_sdk.store.artifacts.artifacts import ARTIFACT_TYPE, ArtifactStore, LoadedArtifact
from cinatra_sdk.store.database import Database

SEED = int(os.environ.get("OASFLOW_SEED", random.SystemRandom().randrange(2**32)))
SCHEMA = "-c search_path=oasflow"
# Written without the view that the triggers use, so that the two can disagree.
PLAIN: LiteralString = f"""
select a.artifact_id, a.id,
       (select r.id from representations r where r.artifact_id = a.artifact_id
        and r.revision = (select max(revision) from representations s
                          where s.artifact_id = a.artifact_id)),
       o.org_id, a.extension, o.visibility, o.owner_id, o.owner_level, left(o.name, 200)
from semantic_assertions a join objects o on o.id = a.artifact_id
where a.eligibility = 'eligible' and o.deleted_at is null and o.type = '{ARTIFACT_TYPE}'
  and exists (select from representations r where r.artifact_id = o.id)
"""
KEPT: LiteralString = """
select artifact_id, assertion_id, representation_id, org_id, extension, visibility, owner_id,
       owner_level, name
from eligible_artifacts
"""
IDS = ("a", "b", "c")
EXTENSIONS = ("@x/voice", "@x/icp")


@pytest.fixture
def artifacts(fresh_database: str) -> Iterator[ArtifactStore]:
    database = Database.open(fresh_database)
    yield ArtifactStore(database)
    database.close()


def both(dsn: str) -> tuple[list[Any], list[Any]]:
    """What is kept, and what it has to be."""
    with psycopg.connect(dsn, options=SCHEMA) as connection:
        kept = connection.execute(KEPT).fetchall()
        plain = connection.execute(PLAIN).fetchall()
    return sorted(kept, key=repr), sorted(plain, key=repr)


class Hand:
    """Somebody who changes artifacts in a random order, by the store and past it."""

    def __init__(self, artifacts: ArtifactStore, dsn: str, dice: random.Random) -> None:
        self.artifacts, self.dsn, self.dice = artifacts, dsn, dice
        self.done = 0
        self.deeds: tuple[Callable[[], Any], ...] = (
            self.add, self.revise, self.revise, self.classify, self.classify, self.archive,
            self.delete, self.restore, self.change, self.change, self.load,
        )  # fmt: skip

    def act(self, times: int) -> None:
        for _ in range(times):
            try:
                self.dice.choice(self.deeds)()
                self.done += 1
            except (StoreError, psycopg.Error):
                pass  # an id that is there already, a circle of locks: rolled back, nothing to keep
            except Exception as error:
                if type(error).__name__ != "ContextError":
                    raise

    def one(self) -> str:
        return self.dice.choice(IDS)

    def sql(self, *statements: tuple[str, list[Any]]) -> None:
        with psycopg.connect(self.dsn, options=SCHEMA) as connection:
            for text, given in statements:
                connection.execute(text, given)  # type: ignore[arg-type]

    def add(self) -> None:
        self.artifacts.add(
            artifact_id=self.one(), org_id="o1", owner_id="ann", visibility="org", name="N",
            content=self.dice.choice((None, "first")),
        )  # fmt: skip

    def revise(self) -> None:
        self.artifacts.revise(self.one(), "again")

    def classify(self) -> None:
        eligibility = self.dice.choice(("eligible", "eligible", "draft"))
        self.artifacts.classify(self.one(), self.dice.choice(EXTENSIONS), eligibility=eligibility)

    def archive(self) -> None:
        with psycopg.connect(self.dsn, options=SCHEMA) as connection:
            rows = connection.execute("select id from semantic_assertions").fetchall()
        if rows:
            self.artifacts.archive(self.dice.choice(sorted(rows))[0])

    def delete(self) -> None:
        self.artifacts.delete(self.one())

    def restore(self) -> None:
        self.sql(("update objects set deleted_at = null where id = %s", [self.one()]))

    def change(self) -> None:
        """Two artifacts in one transaction, one column each."""
        values = {
            "visibility": ("org", "private", "team:t1", "project:p1"),
            "owner_id": ("ann", "bob"),
            "owner_level": ("user", "team"),
            "name": ("A", "B" * 300),
        }
        columns = self.dice.sample(sorted(values), 2)
        self.sql(
            *(
                (f"update objects set {column} = %s where id = %s",
                 [self.dice.choice(values[column]), self.one()])
                for column in columns
            )
        )  # fmt: skip

    def load(self) -> None:
        some = self.dice.sample(IDS, self.dice.randint(1, 3))
        self.artifacts.load(
            [
                LoadedArtifact(
                    id=id_, org_id="o1", owner_id="cy", visibility="workspace", name="L",
                    extensions=tuple(self.dice.sample(EXTENSIONS, self.dice.randint(0, 2))),
                    content=self.dice.choice(("first", "again", "other")),
                )
                for id_ in some
            ]
        )  # fmt: skip


def test_after_every_change_what_is_kept_is_what_the_tables_say(artifacts, fresh_database):
    print(f"seed {SEED}")
    hand = Hand(artifacts, fresh_database, random.Random(SEED))
    offered = 0
    for number in range(150):
        hand.act(1)
        kept, plain = both(fresh_database)
        assert kept == plain, f"seed {SEED}, change {number}"
        offered += len(kept)
    assert offered > 20  # nothing offered would prove nothing


def test_changes_of_the_same_artifacts_at_once_leave_what_the_tables_say(artifacts, fresh_database):
    print(f"seed {SEED}")
    for round_ in range(5):
        hands = [
            Hand(artifacts, fresh_database, random.Random(f"{SEED}/{round_}/{place}"))
            for place in range(4)
        ]
        threads = [threading.Thread(target=hand.act, args=(25,)) for hand in hands]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(hand.done for hand in hands) > 20
        kept, plain = both(fresh_database)
        assert kept == plain, f"seed {SEED}, round {round_}"


STEPS: dict[str, LiteralString] = {
    "a revision": "insert into representations (id, org_id, artifact_id, revision)"
    " values ('r2', 'o1', 'a', 2)",
    "a classification": "insert into semantic_assertions (id, org_id, artifact_id, extension,"
    " asserted_by, eligibility) values ('s2', 'o1', 'a', '@x/icp', 'user', 'eligible')",
    "an archiving": "update semantic_assertions set eligibility = 'archived' where id = 's1'",
    "a change": "update objects set visibility = 'private' where id = 'a'",
    "a deletion": "update objects set deleted_at = now() where id = 'a'",
}


def prepared(artifacts: ArtifactStore, dsn: str) -> None:
    artifacts.add(artifact_id="a", org_id="o1", owner_id="ann", visibility="org")
    with psycopg.connect(dsn, options=SCHEMA) as connection:
        connection.execute(STEPS["a classification"].replace("'s2'", "'s1'").replace("icp", "v"))


@pytest.mark.own_session("asks the server what its session waits for")
@pytest.mark.parametrize(
    ("first", "second"), list(itertools.permutations(STEPS, 2)), ids=lambda name: name.split()[-1]
)
def test_of_two_transactions_on_one_artifact_neither_misses_the_other(
    artifacts, fresh_database, first, second
):
    prepared(artifacts, fresh_database)
    with (
        psycopg.connect(fresh_database, options=SCHEMA) as ours,
        psycopg.connect(fresh_database, options=SCHEMA) as theirs,
    ):
        ours.execute(STEPS[first])
        thread = threading.Thread(target=lambda: (theirs.execute(STEPS[second]), theirs.commit()))
        thread.start()
        waits_or_is_done(fresh_database, theirs.info.backend_pid, thread)
        ours.commit()
        thread.join()
    kept, plain = both(fresh_database)
    assert kept == plain


def waits_or_is_done(dsn: str, pid: int, thread: threading.Thread) -> None:
    """Returns when the other transaction waits for ours, or has nothing to wait for."""
    question = "select wait_event_type = 'Lock' from pg_stat_activity where pid = %s"
    with psycopg.connect(dsn, autocommit=True) as connection:
        while thread.is_alive():
            row = connection.execute(question, [pid]).fetchone()
            if row is not None and row[0]:
                return


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_transaction_that_would_not_see_the_other_is_refused(artifacts, fresh_database, level):
    prepared(artifacts, fresh_database)
    with psycopg.connect(fresh_database, options=SCHEMA, autocommit=True) as connection:
        connection.execute(f"set default_transaction_isolation = '{level}'")  # type: ignore[arg-type]
        for statement in STEPS.values():
            with pytest.raises(psycopg.errors.InvalidTransactionState, match=f"not under {level}"):
                connection.execute(statement)
    assert both(fresh_database)[0] == both(fresh_database)[1]


def test_the_store_writes_whatever_isolation_the_database_begins_with(
    fresh_database, superuser_database
):
    with psycopg.connect(superuser_database, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(
            f'alter database "{name}" set default_transaction_isolation = serializable'
        )  # type: ignore[arg-type]
    database = Database.open(fresh_database)
    try:
        artifacts = ArtifactStore(database)
        artifacts.add(artifact_id="a", org_id="o1", owner_id="ann", visibility="org")
        artifacts.classify("a", "@x/voice")
    finally:
        database.close()
    kept, plain = both(fresh_database)
    assert kept == plain != []


def test_a_session_that_poses_as_a_replica_keeps_it_too(artifacts, superuser_database):
    prepared(artifacts, superuser_database)
    with psycopg.connect(superuser_database, options=SCHEMA) as connection:
        connection.execute("set session_replication_role = replica")
        connection.execute(STEPS["a revision"])
        connection.execute(STEPS["a change"])
    kept, plain = both(superuser_database)
    assert kept == plain
    assert kept[0][2:6] == ("r2", "o1", "@x/v", "private")


def test_what_was_there_before_the_table_is_brought_into_it(databases, superuser_database):
    before = [text for version, text in migrations() if version < "006"]
    name = f"e_{random.randrange(10**9)}"
    with psycopg.connect(databases.url, autocommit=True) as connection:
        connection.execute(f"create database {name} template template0")  # type: ignore[arg-type]
    dsn = psycopg.conninfo.make_conninfo(databases.url, dbname=name)
    try:
        with psycopg.connect(dsn, autocommit=True, options=SCHEMA) as connection:
            connection.execute("create schema oasflow")
            connection.execute(
                "create table schema_versions (version text primary key,"
                " applied_at timestamptz not null default now())"
            )
            for text in before:
                connection.execute(text, prepare=False)
            for version, _ in migrations():
                if version < "006":
                    connection.execute("insert into schema_versions values (%s)", [version])
            given = {"org": "o1", "artifacts": 300, "eligible": 40, "unseen": False}
            text = context.ARTIFACTS.replace(", eligible_artifacts", "")
            with connection.transaction():
                for statement in filter(str.strip, text.split(";\n")):
                    connection.execute(statement, given if "%(" in statement else None)
            connection.execute("update objects set deleted_at = now() where id = 'o1-00000008'")
            connection.execute(
                "update objects set owner_level = 'project', visibility = 'private',"
                " owner_id = 'ann' where id = 'o1-00000015'"
            )
        database = Database.open(dsn)
        try:
            found = context.resolve(database, "o1").candidates
        finally:
            database.close()
        kept, plain = both(dsn)
        assert kept == plain
        assert len(found) in (39, 40)
        # A level that is none any more has become a user's.
        assert [ref.source_scope for ref in found if ref.artifact_id == "o1-00000015"] == ["user"]
    finally:
        databases.drop(dsn)


@pytest.mark.parametrize(
    "unseen",
    [pytest.param(False, id="seen", marks=pytest.mark.long), pytest.param(True, id="unseen")],
)
def test_resolving_looks_at_what_is_eligible_and_hardly_at_what_is_not(owner_database, unseen):
    looked_at = {}
    database = Database.open(owner_database)
    try:
        for number in (2_000, 20_000):
            context.load(database, f"o{number}", artifacts=number, eligible=200, unseen=unseen)
            with database.connection() as rows:
                looked_at[number] = context.pages(rows, f"o{number}")
                assert context.whole_tables(rows, f"o{number}") == []
    finally:
        database.close()
    # Ten times as many artifacts: another level of an index here and there, and no more.
    assert looked_at[20_000] <= 2 * looked_at[2_000], looked_at
    assert looked_at[20_000] < 200, looked_at
