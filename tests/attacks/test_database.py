"""SQL of an attacker who has got the address that runs use: the role with rows only.

The database holds a run that waits with a decision, a run that has ended, an artifact with a
revision and a classification, and a choice of it.  What must stay is compared before and after, as
the server's superuser sees it: the rows of evidence, the tables' owners, triggers and functions,
and what the roles may do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.errors import StoreError
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.host.database_runs import StoredRuns
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.database import Database
from oas_compiler import compile_flow
from oas_compiler.facts.context_declarations import read_declared_slots
from tests.attacks import families
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place
from tests.databases import Databases
from tests.flows import end, flow_of, gate, start
from tests.lower.context_shelf import Shelf
from tests.slot_flows import declared
from tests.store import selecting
from tests.store.damage import damage_gates
from tests.store.selecting import BRAND, World
from tests.wired_flows import wired

SCHEMA = "-c search_path=oasflow"
GATED = flow_of(start(), gate("ask"), end())
SOURCE = "{}"
DIGEST = hashlib.sha256(SOURCE.encode()).hexdigest()
SEED = f"""
insert into flows (digest, name, source) values ('{DIGEST}', 'f', '{SOURCE}');
insert into runs (run_id, tenant, digest, input, env_names, lowering, platform, policy)
    values ('r1', 't1', '{DIGEST}', '{{}}', '{{}}', 1, '{{"actor": {{"orgId": "o1"}}}}', null),
           ('done', 't1', '{DIGEST}', '{{}}', '{{}}', 1, '{{}}', null),
           ('refused', 't1', '{DIGEST}', '{{}}', '{{}}', 1, '{{}}', null),
           ('halted', 't1', '{DIGEST}', '{{}}', '{{}}', 1, '{{}}', null);
insert into work (run_id, events) select run_id, 1 from runs;
update runs set status = 'waiting' where run_id = 'r1';
update runs set status = 'completed', outputs = '{{"sent": false}}' where run_id = 'done';
update runs set status = 'rejected' where run_id = 'refused';
update runs set status = 'stopped', stopped_by = 'ann', stop_reason = 'no' where run_id = 'halted';
insert into gates (run_id, gate_id, payload_sha256, tenant, node, visit, step, interrupt, payload,
                   response_schema)
    values ('r1', 'g', 'p', 't1', 'g', 1, 1, 'i', '{{"values":1}}', '{{}}');
insert into decisions (run_id, gate_id, tenant, node, visit, step, kind, answer, decided_by, reason,
                       payload_sha256, policy_sha256)
    values ('r1', 'g', 't1', 'g', 1, 1, 'rejected', '{{}}', 'ann', 'no', 'p', 'q');
insert into gates (run_id, gate_id, payload_sha256, tenant, node, visit, step, interrupt, payload,
                   response_schema)
    values ('r1', 'h', 'x', 't1', 'g', 1, 1, 'i', '{{"values":2}}', '{{}}');
insert into run_events (run_id, seq, kind) values ('r1', 1, 'run');
insert into effects (run_id, key, tenant, kind, status) values ('r1', 'k', 't1', 'http', 'begun');
update effects set status = 'done', result = '{{"sent":true}}' where run_id = 'r1';
insert into objects (id, org_id, type, name, owner_id, owner_level, visibility)
    values ('a', 'o1', '@cinatra-ai/artifact:object', 'a', 'ann', 'user', 'org');
insert into representations (id, org_id, artifact_id, revision, mime, content)
    values ('ra', 'o1', 'a', 1, 'text/plain', 'plain words');
insert into semantic_assertions (id, org_id, artifact_id, extension, asserted_by, eligibility)
    values ('sa', 'o1', 'a', '@x/voice', 'user', 'eligible'),
           ('old', 'o1', 'a', '@x/old', 'user', 'eligible');
update semantic_assertions set eligibility = 'archived' where id = 'old';
insert into run_context_selections (id, org_id, parent_run_id, parent_package_name, slot_id,
    artifact_id, representation_revision_id, semantic_assertion_id, extension, source_scope,
    selected_by, selection_mode)
    values (repeat('0', 64) || ':0', 'o1', 'r1', 'p', 'voice', 'a', 'ra', 'sa', '@x/voice',
            'organization', 'user', 'interactive');
insert into context_finalizes (org_id, parent_run_id, parent_package_name, slot_id,
                               selection_mode, key)
    values ('o1', 'r1', 'p', 'voice', 'interactive', repeat('0', 64));
insert into context_plans (token, org_id, parent_run_id, parent_package_name, slot_id, refs)
    values (repeat('1', 64), 'o1', 'r1', 'p', 'voice', '[]');
"""
EVIDENCE = """
select md5(string_agg(row, '|' order by row)) from (
    select 'flow ' || to_jsonb(t)::text from oasflow.flows t where digest = %(digest)s
    union all select 'decision ' || to_jsonb(t)::text from oasflow.decisions t
    union all select 'run ' || (to_jsonb(t))::text from oasflow.runs t where run_id <> 'r1'
    union all select concat('what ', run_id, tenant, digest, input, platform, policy, env_names, created_at)
              from oasflow.runs where run_id = 'r1'
    union all select 'gate ' || to_jsonb(t)::text from oasflow.gates t
    union all select 'event ' || to_jsonb(t)::text from oasflow.run_events t
    union all select 'effect ' || to_jsonb(t)::text from oasflow.effects t
    union all select 'revision ' || to_jsonb(t)::text from oasflow.representations t
    union all select 'assertion ' || to_jsonb(t)::text from oasflow.semantic_assertions t
              where id = 'old'
    union all select 'choice ' || to_jsonb(t)::text from oasflow.run_context_selections t
    union all select 'order ' || to_jsonb(t)::text from oasflow.context_finalizes t
    union all select concat('trigger ', tgrelid, tgname, tgenabled, tgfoid) from pg_trigger
              where not tgisinternal
    union all select concat('table ', c.oid, relname, relowner, relkind, relrowsecurity, relacl)
              from pg_class c where oid >= 16384 and relkind <> 'i'
    union all select concat('function ', oid, prosrc, proowner) from pg_proc where oid >= 16384
    union all select concat('rule ', oid) from pg_rewrite where oid >= 16384
    union all select concat('constraint ', oid) from pg_constraint where oid >= 16384
    union all select concat('schema ', nspname, nspowner, nspacl)
              from pg_namespace where nspname !~ '^pg_(toast_)?temp'
    union all select concat('large ', oid) from pg_largeobject_metadata
    union all select 'extension ' || extname from pg_extension
    union all select concat('role ', rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication,
              rolbypassrls) from pg_roles
    union all select concat('member ', roleid, member) from pg_auth_members
    union all select concat('setting ', setdatabase, setrole, setconfig)
              from pg_db_role_setting where setdatabase = 0 or setdatabase =
              (select oid from pg_database where datname = current_database())
) as everything(row)
"""


@dataclass(slots=True)
class Target:
    """A database with all of that in it; one is enough for all attacks that come to nothing."""

    databases: Databases
    dsn: str
    evidence: str

    @classmethod
    def made(cls, databases: Databases) -> Target:
        dsn = databases.take()
        with psycopg.connect(dsn, autocommit=True, options=SCHEMA) as connection:
            connection.execute(cast("Any", SEED))
        with psycopg.connect(databases.as_superuser(dsn), autocommit=True) as connection:
            for statement in WITHOUT:
                connection.execute(cast("Any", statement))
        return cls(databases=databases, dsn=dsn, evidence=evidence(databases.as_superuser(dsn)))

    @property
    def is_as_it_was(self) -> bool:
        return evidence(self.databases.as_superuser(self.dsn)) == self.evidence

    def address(self) -> str:
        """What the attacker has got."""
        return {
            "app": self.dsn,
            "owner": self.databases.as_owner(self.dsn),
            "superuser": self.databases.as_superuser(self.dsn),
        }[ATTACKER[-1]]


KEPT: list[Target] = []
"""The one that is there for the next attack."""
ATTACKER = ["app"]
WITHOUT: list[str] = []
"""Defences that a control takes away from the databases that it attacks."""


@pytest.fixture(autouse=True, scope="module")
def _none_is_left(databases: Databases) -> Iterator[None]:
    yield
    while KEPT:
        databases.give_back(KEPT.pop().dsn)


def evidence(dsn: str) -> str:
    with psycopg.connect(dsn) as connection:
        row = connection.execute(EVIDENCE, {"digest": DIGEST}).fetchone()
    assert row is not None
    return str(row[0])


def attempt(attack: Attack, place: Place) -> str:
    tried = attack.value if isinstance(attack.value, dict) else {"sql": attack.value}
    if "does" in tried:
        does = tried["does"]
        return _damaged(place, tried) if does == "damaged" else DOES[does](place)
    databases: Databases = place.request.getfixturevalue("databases")
    as_ever = not (WITHOUT or attack.harmless or len(ATTACKER) > 1)
    target = KEPT.pop() if as_ever and KEPT else Target.made(databases)
    came = _carried_out(target.address(), tried)
    held = target.is_as_it_was
    if held and as_ever:
        KEPT.append(target)
    else:
        databases.give_back(target.dsn)
    return came if held else f"opened ({came})"


def _carried_out(address: str, tried: dict[str, Any]) -> str:
    given = _deciding(tried) if "decides" in tried else tried["sql"]
    dsn = make_conninfo(address, **({"options": SCHEMA} | tried.get("connect", {})))
    try:
        with psycopg.connect(dsn, autocommit=True) as connection:
            row = None
            for statement in [given] if isinstance(given, str) else given:
                cursor = connection.execute(statement.replace("{digest}", DIGEST))
                row = cursor.fetchone() if cursor.description else None
            if tried.get("undone"):
                connection.rollback()
    except psycopg.Error as error:
        return type(error).__name__
    return "done" if row is None else f"done: {row[0]}"


def _deciding(tried: dict[str, Any]) -> list[str]:
    """Statements that add a decision, to the gate `g` of `r1` where the row does not say another."""
    said = {"run": "r1", "gate": "g", "tenant": "t1", "kind": "approved", **tried["decides"]}
    skipped = said["kind"] == "auto_skipped"
    added = (
        "insert into decisions (run_id, gate_id, tenant, node, visit, step, kind, answer, decided_by,"
        " reason, payload_sha256, policy_sha256) values ('{run}', '{gate}', '{tenant}', 'g', 1, 1,"
        " '{kind}', '{{}}', '{by}', '', '{sha256}', 'q')"
    ).format(**said, by="policy" if skipped else "eve", sha256="" if skipped else "x")
    return [*tried.get("before", []), added, *tried.get("after", [])]


# ------------------------------------------------------------------- what must go on working


def _whole_run(place: Place) -> str:
    with RunStore.open(place.database) as store:
        flow = compile_flow(GATED, platform=SimulatedPlatform())
        run = store.start(flow, {}, "r1")
        assert run.status == "waiting", run.error
        run = store.answer("r1", run.waiting[0].id, Decision.approve(by="ann"))
        shown = [row["decided_by"] for row in store.decisions("r1")]
        return f"{run.status}, decided by {', '.join(shown)}, {len(store.list())} listed"


def _rejected_run(place: Place) -> str:
    with RunStore.open(place.database) as store:
        run = store.start(compile_flow(GATED, platform=SimulatedPlatform()), {}, "r1")
        return store.answer("r1", run.waiting[0].id, Decision.reject(by="ann")).status


def _stopped_run(place: Place) -> str:
    with RunStore.open(place.database) as store:
        store.start(compile_flow(GATED, platform=SimulatedPlatform()), {}, "r1")
        store.resume("r1")
        return store.stop("r1").status


def _expand(value: str) -> str:
    """Numbers and depths that are too long for the book."""
    return value.replace("{digits}", "1" * 5000).replace("{deep}", "[" * 5000 + "]" * 5000)


def _damaged(place: Place, tried: dict[str, Any]) -> str:
    """Somebody writes into `r1` what cannot be read; `r2` is another's."""
    with RunStore.open(place.database) as store:
        for name in ("r1", "r2"):
            store.start(compile_flow(GATED, platform=SimulatedPlatform()), {}, name)
        with store.database.connection() as connection:
            for column in ("messages", "error", "outputs", "usage", "retry_at"):
                statement: Any = f"update runs set {column} = %s where run_id = 'r1'"
                if column in tried:
                    connection.execute(statement, [_expand(tried[column])])
        if "gate" in tried:
            damage_gates(place.database, "r1", json.loads(tried["gate"]))
        try:
            listed = {run.id: run for run in store.list()}
        except StoreError as error:
            return type(error).__name__
        run = store.answer("r2", listed["r2"].waiting[0].id, Decision.approve(by="ann"))
        assert (
            listed["r1"].unreadable or not {"gate", "messages", "error", "outputs"} & tried.keys()
        )
        return f"{len(listed)} listed, {run.status}; the other one {store.stop('r1').status}"


def _artifacts(place: Place) -> str:
    database = Database.open(place.database)
    try:
        store = ArtifactStore(database)
        made = store.add(org_id="o1", owner_id="ann", visibility="org", content="a")
        store.revise(made, "b")
        store.archive(store.classify(made, "@x/voice"))
        store.classify(made, "@x/voice")
        store.delete(made)
    finally:
        database.close()
    return "taken"


def _choice(place: Place) -> str:
    dsn = place.database
    file = place.folder / "oas.json"
    file.write_text(json.dumps(wired(declared())))
    database = Database.open(dsn)
    Shelf(ArtifactStore(database)).fill(BRAND, BRAND)
    try:
        selecting.until("the end", World(dsn, str(file), str(place.folder / "calls")), "r1")
        return f"{len(ArtifactStore(database).chosen_in('r1'))} chosen"
    finally:
        database.close()


def _other_bytes(place: Place) -> str:
    """Bytes with a slot that asks nobody, under the name of a flow whose slot asks a person.

    The tables refuse them; here somebody has put the tables back without what refuses them.
    """
    evil = declared()
    evil["metadata"]["cinatra"]["contextSlots"][0]["selectionMode"] = "autonomous"
    with RunStore.open(place.database) as store:
        store.start(compile_flow(wired(declared()), platform=SimulatedPlatform()), {}, "r1")
        _as_superuser(place, "alter table oasflow.flows drop constraint flows_digest_is_of_source")
        _as_superuser(place, "drop trigger flows_stay on oasflow.flows")
        _as_superuser(place, f"update oasflow.flows set source = '{json.dumps(evil)}'")
        try:
            scope = StoredRuns(store.database).scope("r1")
        except ContextError as error:
            return f"{error.code}: {error}"
    assert scope is not None
    return ", ".join(slot.selection_mode for slot in scope.slots or ())


def _read_only(place: Place) -> str:
    dsn = make_conninfo(place.database, options="-c default_transaction_read_only=on")
    _whole_run(place)
    with RunStore.open(dsn) as store:
        return f"{store.get('r1').status}, {len(store.list())} listed"


def _forgotten_plans(place: Place) -> str:
    with psycopg.connect(place.database, autocommit=True, options=SCHEMA) as connection:
        connection.execute(cast("Any", SEED))
        gone = connection.execute("delete from context_plans returning token").fetchall()
    return f"{len(gone)} forgotten"


def _newer(place: Place) -> str:
    _as_superuser(place, "insert into oasflow.schema_versions values ('999')")
    return _opened(place)


def _newer_checkpoints(place: Place) -> str:
    _as_superuser(place, "insert into oasflow.checkpoint_migrations values (999)")
    return _opened(place)


def _outdated(place: Place) -> str:
    _as_superuser(place, "delete from oasflow.schema_versions where version = '004'")
    return _opened(place)


def _no_rights(place: Place) -> str:
    _as_superuser(place, "revoke usage on schema oasflow from oasflow")
    return _opened(place)


def _opened(place: Place) -> str:
    before = evidence_of_tables(place)
    try:
        Database.open(place.database).close()
    except StoreError as error:
        named = "; names oasflow db migrate" if "oasflow db migrate" in str(error) else ""
        assert evidence_of_tables(place) == before
        return f"StoreError{named}"
    return "opened"


def _as_superuser(place: Place, statement: str) -> None:
    dsn = place.request.getfixturevalue("superuser_database")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(cast("Any", statement))


def evidence_of_tables(place: Place) -> Any:
    with psycopg.connect(place.request.getfixturevalue("superuser_database")) as connection:
        return connection.execute("select md5(string_agg(c::text, ' ' order by oid)) from pg_class c"
                                  " where oid >= 16384").fetchone()  # fmt: skip


DOES = {
    "a whole run": _whole_run,
    "a rejection": _rejected_run,
    "a stop": _stopped_run,
    "artifacts": _artifacts,
    "a choice": _choice,
    "read only": _read_only,
    "forget": _forgotten_plans,
    "other bytes": _other_bytes,
    "newer": _newer,
    "newer checkpoints": _newer_checkpoints,
    "outdated": _outdated,
    "no rights": _no_rights,
}
# ---------------------------------------------------------------------------- controls


def _added(where: list[str], what: str) -> Any:
    @contextmanager
    def opened(place: Place) -> Iterator[None]:
        where.append(what)
        try:
            yield
        finally:
            where.remove(what)

    return opened


def _connecting_as(who: str) -> Any:
    return _added(ATTACKER, who)


def _without(statement: str) -> Any:
    return _added(WITHOUT, statement)


@contextmanager
def _unguarded(place: Place) -> Iterator[None]:
    """As it was: one gate that cannot be read is the end of the list."""
    with place.monkeypatch.context() as patch:
        patch.setattr(
            "cinatra_sdk.store.runs.run_rows.gates_in",
            lambda row: (tuple(map(Gate.from_json, row["open_gates"])), ()),
        )
        yield


@contextmanager
def _believed(place: Place) -> Iterator[None]:
    """Nobody looks whether bytes are those of the run's flow."""
    with place.monkeypatch.context() as patch:
        patch.setattr(
            "cinatra_sdk.host.database_runs.load_declared_slots",
            lambda source, digest: read_declared_slots(source),
        )
        yield


CONTROLS = {
    "bytes of any flow are believed": Control(
        open=_believed, row="a_forged_flow_in_tables_that_refuse_nothing-a slot that asks nobody"
    ),
    "a run connects as the owner": Control(
        open=_connecting_as("owner"), row="triggers-disable one"
    ),
    "a run connects as the owner, who adds a trigger": Control(
        open=_connecting_as("owner"), row="triggers-one more"
    ),
    "a run connects as the superuser": Control(
        open=_connecting_as("superuser"), row="programs_and_files-a program"
    ),
    "a run connects as the superuser, who reads": Control(
        open=_connecting_as("superuser"), row="programs_and_files-read a file"
    ),
    "the trigger of ended runs is off": Control(
        open=_without("drop trigger runs_stay on oasflow.runs"), row="an_ended_run-its outputs"
    ),
    "nobody looks whether a decision fits": Control(
        open=_without("drop trigger decisions_fit on oasflow.decisions"),
        row="a_decision_that_does_not_fit_its_run-of a run that has completed",
    ),
    "a moment may be written": Control(
        open=_without("grant insert on oasflow.decisions to oasflow"),
        row="forged_values-a decision of last year",
    ),
    "how a run begins may be written": Control(
        open=_without("grant insert on oasflow.runs to oasflow"),
        row="forged_values-a run that has completed already",
    ),
    "a moment is when its transaction began": Control(
        open=_without("alter table oasflow.decisions alter column decided_at set default now()"),
        row="a_moment_that_is_kept_open-of a decision",
    ),
    "a gate that cannot be read is nobody's": Control(
        open=_unguarded, row="what_others_see_of_their_runs-beside gates without anything"
    ),
    "a classification can come back": Control(
        open=_without("drop trigger assertions_are_archived on oasflow.semantic_assertions"),
        row="a_classification-back from the archive",
    ),
    "every column may be written": Control(
        open=_without("grant insert on oasflow.context_finalizes to oasflow"),
        row="forged_values-a place in the order",
    ),
    "a flow's name is not that of its bytes": Control(
        open=_without("alter table oasflow.flows drop constraint flows_digest_is_of_source"),
        row="a_forged_flow-under an honest name",
    ),
    "large objects may be made": Control(
        open=_without("grant execute on function lo_create(oid) to public"),
        row="large_objects-make one",
    ),
    "the rows of evidence may be deleted": Control(
        open=_without(
            "alter table oasflow.decisions disable trigger all; "
            "grant delete on oasflow.decisions to oasflow"
        ),
        row="decisions-delete",
    ),
}
CONTROLS = {
    name: Control(open=control.open, row=control.row.replace(" ", "_"))
    for name, control in CONTROLS.items()
}

test_attack, test_twin, test_control = families.tests_of("database", attempt, CONTROLS)
