"""The tables behind context slots: what the database itself refuses, and how it finds rows."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from benchmarks import context
from cinatra_sdk.postgres.connection import QUERIES
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.database import Database

ID = "0" * 64
OBJECTS = """
insert into objects (id, org_id, type, owner_id, visibility) values
    ('a', 'o1', '@cinatra-ai/artifact:object', 'ann', 'org'),
    ('b', 'o1', '@cinatra-ai/artifact:object', 'ann', 'org'),
    ('none', null, '@cinatra-ai/artifact:object', 'ann', 'org');
insert into representations (id, org_id, artifact_id, revision)
    values ('ra', 'o1', 'a', 1), ('rb', 'o1', 'b', 1);
insert into semantic_assertions (id, org_id, artifact_id, extension, asserted_by, eligibility)
    values ('sa', 'o1', 'a', '@x/voice', 'user', 'eligible'),
           ('sb', 'o1', 'b', '@x/voice', 'user', 'eligible');
"""
CHOICE = """
insert into run_context_selections (id, org_id, parent_run_id, parent_package_name, slot_id,
    artifact_id, representation_revision_id, semantic_assertion_id, extension, source_scope,
    selected_by, selection_mode)
values (%(id)s, %(org)s, 'r1', '@x/agent', 'voice', %(artifact)s, %(revision)s, %(assertion)s,
    %(extension)s, 'organization', 'user', 'interactive')
"""
GOOD = {
    "id": f"{ID}:0", "org": "o1", "artifact": "a", "revision": "ra", "assertion": "sa",
    "extension": "@x/voice",
}  # fmt: skip


@pytest.fixture
def rows(superuser_database: str) -> Iterator[psycopg.Connection]:
    """As who may do everything: what is refused here is refused to everybody."""
    with psycopg.connect(
        superuser_database, autocommit=True, options="-c search_path=oasflow"
    ) as connection:
        connection.execute(OBJECTS)
        yield connection


@pytest.fixture
def database(fresh_database: str) -> Iterator[Database]:
    opened = Database.open(fresh_database)
    yield opened
    opened.close()


@pytest.fixture
def owned(owner_database: str) -> Iterator[Database]:
    """The same database, for who may analyze its tables."""
    opened = Database.open(owner_database)
    yield opened
    opened.close()


ELSEWHERE = {
    "a revision in another organisation": "insert into representations (id, org_id, artifact_id,"
    " revision) values ('r', 'o2', 'a', 1)",
    "a revision of nobody's artifact": "insert into representations (id, org_id, artifact_id,"
    " revision) values ('r', 'o1', 'none', 1)",
    "a classification in another organisation": "insert into semantic_assertions (id, org_id,"
    " artifact_id, extension, asserted_by, eligibility)"
    " values ('s', 'o2', 'a', '@x/icp', 'user', 'eligible')",
    "a classification of nobody's artifact": "insert into semantic_assertions (id, org_id,"
    " artifact_id, extension, asserted_by, eligibility)"
    " values ('s', 'o1', 'none', '@x/icp', 'user', 'eligible')",
    "an artifact that changes its organisation": "update objects set org_id = 'o2' where id = 'a'",
    "an artifact that becomes nobody's": "update objects set org_id = null where id = 'a'",
    "an artifact that goes for good": "delete from objects where id = 'a'",
}


@pytest.mark.parametrize("statement", ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_belongs_to_an_artifact_is_of_its_organisation(rows, statement):
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        rows.execute(statement)


INCOHERENT = {
    "another organisation": {"org": "o2"},
    "another artifact": {"artifact": "b"},
    "a revision of another artifact": {"revision": "rb"},
    "a revision that is not there": {"revision": "r"},
    "a classification of another artifact": {"assertion": "sb"},
    "another extension": {"extension": "@x/icp"},
}


@pytest.mark.parametrize("change", INCOHERENT.values(), ids=INCOHERENT)
def test_a_row_whose_keys_do_not_belong_together_is_refused_whoever_writes_it(rows, change):
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        rows.execute(CHOICE, GOOD | change)
    rows.execute(CHOICE, GOOD)


@pytest.mark.parametrize(
    "id_", ["1", f"{ID}", f"{ID}:", f"{ID}:x", f"{ID.upper()}A:0", f"{ID}:0\n"]
)
def test_the_id_of_a_row_is_the_key_of_its_batch_and_its_place(rows, id_):
    with pytest.raises(psycopg.errors.CheckViolation):
        rows.execute(CHOICE, GOOD | {"id": id_})


def test_rows_of_a_batch_come_in_their_order_and_not_in_that_of_their_digits(rows, database):
    with rows.transaction():  # one moment for all
        for place in (10, 2, 0, 11, 1):
            rows.execute(CHOICE, GOOD | {"id": f"{ID}:{place}"})
        rows.execute(CHOICE, GOOD | {"id": f"{'1' * 64}:0"})
    found = [row.id for row in ArtifactStore(database).selections("o1", "r1")]
    assert found == [*(f"{ID}:{place}" for place in (0, 1, 2, 10, 11)), f"{'1' * 64}:0"]


@pytest.mark.parametrize(
    "statement",
    [
        "delete from run_context_selections",
        "truncate run_context_selections",
        "update representations set content = 'x'",
        "update semantic_assertions set extension = 'x'",
    ],
)
def test_a_session_that_poses_as_a_replica_changes_nothing_either(rows, statement):
    rows.execute(CHOICE, GOOD)
    rows.execute("set session_replication_role = replica")
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
        rows.execute(statement)


@pytest.mark.parametrize("statement", ["delete from decisions", "truncate decisions"])
def test_decisions_are_as_safe_from_a_session_that_poses_as_a_replica(rows, statement):
    rows.execute(
        "insert into flows (digest, name, source)"
        " values (encode(sha256(''), 'hex'), 'f', '');"
        "insert into runs (run_id, digest, status, input, lowering)"
        " values ('r1', encode(sha256(''), 'hex'), 'waiting', '{}', 1);"
        "insert into gates (run_id, gate_id, payload_sha256, node, visit, step, interrupt, payload,"
        " response_schema) values ('r1', 'g', 'p', 'g', 1, 1, 'i', '{}', '{}');"
        "insert into decisions (run_id, gate_id, node, visit, step, kind, answer, decided_by,"
        " payload_sha256, policy_sha256)"
        " values ('r1', 'g', 'g', 1, 1, 'approved', '{}', 'ann', 'p', 'q')"
    )
    rows.execute("set session_replication_role = replica")
    with pytest.raises(psycopg.errors.RestrictViolation, match="append-only"):
        rows.execute(statement)


FINALIZE = """
insert into context_finalizes (org_id, parent_run_id, parent_package_name, slot_id, selection_mode, key)
values ('o1', 'r1', '@x/agent', 'voice', 'interactive', %s)
"""


@pytest.mark.parametrize("role", ["origin", "replica"])
def test_the_order_of_the_selections_can_only_be_added_to_whoever_asks(rows, role):
    rows.execute(FINALIZE, [ID])
    rows.execute(f"set session_replication_role = {role}")
    for statement in (
        "update context_finalizes set slot_id = 'x'",
        "delete from context_finalizes",
        "truncate context_finalizes",
    ):
        with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
            rows.execute(statement)
    with pytest.raises(psycopg.errors.CheckViolation):
        rows.execute(FINALIZE, ["no key"])
    assert rows.execute("select count(*) from context_finalizes").fetchone() == (1,)


def test_selections_of_before_there_was_an_order_are_brought_into_one(rows, owner_database):
    later, other = "1" * 64, "2" * 64
    rows.execute("drop table context_finalizes, context_plans")
    rows.execute("drop index selections_in_run")
    rows.execute("delete from schema_versions where version = '003'")
    rows.execute(CHOICE, GOOD | {"id": f"{later}:0"})
    with rows.transaction():  # one moment for both, which is after the first
        for place in (0, 1):
            rows.execute(CHOICE, GOOD | {"id": f"{ID}:{place}"})
    rows.execute(CHOICE.replace("'r1'", "'r2'"), GOOD | {"id": f"{other}:0"})
    opened = Database.open(owner_database)
    try:
        found = ArtifactStore(opened).chosen_in("r1")
        about = {"run_id": "r1", "package_name": "@x/agent", "slot_id": "voice"}
        latest = ArtifactStore(opened).latest("o1", **about)
    finally:
        opened.close()
    keys = rows.execute("select key from context_finalizes order by seq").fetchall()
    assert keys == [(later,), (ID,), (other,)]
    assert [one.artifact_id for one in found] == ["a", "a", "a"]
    assert len(latest or ()) == 2


@pytest.mark.long
def test_drafts_of_few_artifacts_are_found_by_an_index(database, owned):
    context.load(owned, "o1", artifacts=20_000, eligible=200, unseen=False)
    given = {"ids": ["nowhere"], "extensions": ["@x/voice"]}
    with database.connection() as connection:
        text = QUERIES["archive_drafts"]
        steps = connection.execute(b"explain " + text.encode(), given).fetchall()
    plan = "\n".join(str(step["QUERY PLAN"]) for step in steps)
    assert "Index Scan using one_active_assertion" in plan
    # Without the organisation the index would be read whole.
    assert "Index Cond: ((org_id = o.org_id) AND (artifact_id = o.id)" in plan, plan


@pytest.mark.long
@pytest.mark.parametrize("unseen", [False, True], ids=["seen", "unseen"])
def test_of_20000_artifacts_the_200_eligible_ones_are_found_by_indexes(database, owned, unseen):
    context.load(owned, "o1", artifacts=20_000, eligible=200, unseen=unseen)
    assert len(context.resolve(database, "o1").candidates) == 200
    with database.connection() as connection:
        assert context.whole_tables(connection, "o1") == []
        used = {step.get("Index Name") for step in context.plan(connection, "o1")}
    assert {"eligible_by_visibility", "eligible_by_owner"} <= used


@pytest.mark.own_session("reads the messages of a prepared statement")
def test_resolving_is_one_statement_and_one_round_trip(database, owned):
    context.load(owned, "o1", artifacts=50, eligible=10, unseen=False)
    sent = context.messages(database, "o1")
    assert sent.count("Execute") == sent.count("Sync") == 1
    assert sent.count("Query") == sent.count("Parse") == 0


@pytest.mark.long
def test_a_plan_without_its_indexes_reads_whole_tables(database, owned, rows):
    # Control: what the test of the plan looks for is there when the indexes are not.
    context.load(owned, "o1", artifacts=20_000, eligible=200, unseen=True)
    for index in ("eligible_by_visibility", "eligible_by_owner"):
        rows.execute(f"drop index {index}")
    with database.connection() as connection:
        assert context.whole_tables(connection, "o1") == ["eligible_artifacts"]
