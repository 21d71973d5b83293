"""A person's values are erased everywhere, every chain still verifies, and nobody else's run is touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.errors import AnswerInvalid, InputInvalid, RunNotEnded, StoreError
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.records.record_maker import Signer
from cinatra_sdk.governance.records.verifier import describe, verify
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.postgres.connection import LENIENT
from cinatra_sdk.store.artifacts.attachment_store import AttachmentStore
from cinatra_sdk.store.artifacts.object_store import ObjectContent, SavedObjects
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from cinatra_sdk.store.evidence.erasure import Values, erase_person
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, port, start
from tests.governance.refund import FINANCE, TENANT, lend_refund, request
from tests.servers import dump_database

NAME = "Éva Canary"
MAIL = "eva.canary@example.org"
SUBJECT = (NAME, MAIL, FINANCE)
OTHER = "not-eva.canary@example.org"
"""Another person, whose address ends as hers."""
SECRET = b"a secret of an auditor and a host"
FLOW = flow_of(
    start(port("to")), {**gate("ask", inputs=[port("to")]), "message": "Mail to {{to}}?"},
    api("send", outputs=[port("id")], data={"to": "{{to}}"}, inputs=[port("to")]),
    end(port("id")),
    edges=[
        ("start", "to", "ask", "to"), ("start", "to", "send", "to"), ("send", "id", "end", "id"),
    ],
)  # fmt: skip


def platform() -> SimulatedPlatform:
    return SimulatedPlatform(stubs={"send": {"id": f"sent to\n{NAME} <{MAIL}>"}})


def fill(dsn: str, ledger: Path) -> None:
    """Runs that have ended with her values, one of somebody else that waits, a governed chain, files."""
    with RunStore.open(dsn, platform=platform()) as store:
        flow = compile_flow(FLOW, platform=platform())
        store.start(flow, {"to": MAIL.upper()}, run_id="sent", by=NAME)
        store.answer("sent", "ask", Decision.approve(by=NAME, reason=f"as {NAME} asked"))
        store.start(flow, {"to": MAIL}, run_id="refused", owner=MAIL)
        store.answer("refused", "ask", Decision.reject(by="bob", reason=f'"{MAIL}" is wrong'))
        store.start(compile_flow(FLOW), {"to": OTHER}, run_id="parked", by="bob")
        saved = SavedObjects(store.database)
        note = ObjectContent.of_json("@x/note", {"about": NAME, "of": {"mail": MAIL}})
        saved.save(note, org_id="acme", run_id="elsewhere")
        files = AttachmentStore(store.database)
        put_file(files, f"about {NAME}".encode(), "a")
        put_file(files, b"about nobody", "b")
    parts = lend_refund(ledger, signer=Signer.hmac("k1", SECRET))
    with RunStore.open(dsn, host=parts) as store:
        asked = {"request": request()}
        run = store.start(parts.graphs[0], asked, tenant=TENANT, run_id="refund")  # type: ignore[arg-type]  # a GraphFlow
        store.answer(run.id, "gate", Decision.approve(by=FINANCE))
        run = store.start(parts.graphs[0], asked, tenant=TENANT, run_id="other-refund")  # type: ignore[arg-type]  # a GraphFlow
        store.stop(run.id, by="bob")


def put_file(files: AttachmentStore, content: bytes, name: str) -> None:
    from tests.store.test_attachments import put

    put(files, "acme", content, artifact_id=name)


def export(dsn: str, run: str) -> list[str]:
    with RunStore.open(dsn) as store:
        records = DecisionRecords(store.database, signer=Signer.hmac("k1", SECRET))
        return list(records.export(run_id=run, transcripts=True))


def read(dsn: str, query: str) -> list[Any]:
    with psycopg.connect(dsn, context=LENIENT) as connection:
        return connection.execute(query.encode()).fetchall()


def count_hits(dump: str) -> dict[str, int]:
    """Of each spelling of her values in a dump, also in bytes and in JSON."""
    forms = {form for value in SUBJECT for form in (value, json.dumps(value)[1:-1])}
    forms |= {form.encode().hex() for form in forms}
    text = dump.lower().replace(OTHER, "").replace(OTHER.encode().hex(), "")
    return {form: text.count(form.lower()) for form in sorted(forms) if form.lower() in text}


def test_an_erased_canary_is_nowhere_and_all_chains_verify(
    fresh_database: str, owner_database: str, superuser_database: str, ledger: Path
) -> None:
    fill(fresh_database, ledger)
    of_parked = "select * from oasflow.{} where {} = 'parked' order by 1, 2, 3, 4"
    parked = {
        table: read(fresh_database, of_parked.format(table, column))
        for table, column in (
            ("runs", "run_id"), ("gates", "run_id"), ("run_events", "run_id"), ("work", "run_id"),
            ("checkpoints", "thread_id"), ("checkpoint_blobs", "thread_id"),
        )
    }  # fmt: skip
    before = count_hits(dump_database(superuser_database))
    assert {*SUBJECT} <= {value for value in SUBJECT if value in before}, "control: it was there"
    heads = {run: head_of(export(fresh_database, run)) for run in ("refund", "other-refund")}
    shape = read(owner_database, TRIGGERS)

    foretold = erase_person(owner_database, SUBJECT, by="dpo")
    assert (foretold.token, foretold.active) == ("", ())
    assert count_hits(dump_database(superuser_database)) == before, "a dry run changes nothing"
    done = erase_person(owner_database, SUBJECT, by="dpo", reason="request 17", dry_run=False)
    assert {"sent", "refused", "refund"} <= set(done.runs)
    assert "parked" not in done.runs
    assert done.runs == foretold.runs
    assert set(foretold.changed) <= set(done.changed)

    assert count_hits(dump_database(superuser_database)) == {}
    assert done.token in dump_database(superuser_database)
    assert read(owner_database, TRIGGERS) == shape, "every trigger is on again, as it was"
    for table, rows in parked.items():
        column = "thread_id" if table.startswith("checkpoint") else "run_id"
        assert read(fresh_database, of_parked.format(table, column)) == rows

    for run, head in heads.items():
        lines = export(fresh_database, run)
        found = verify(lines, {"k1": SECRET}, run=run)
        assert found.problems == []
        assert found.without_end == []
        assert head_of(lines) == head, "the hash of the last record is what it was"
        assert bool(found.erased) == (run == "refund")
        assert any("was erased" in one for one in describe(found)) == (run == "refund")
    (act,) = read(
        fresh_database, "select token, erased_by, reason, runs, changed from oasflow.erasures"
    )
    assert act[:3] == (done.token, "dpo", "request 17")
    assert (tuple(act[3]), act[4]) == (done.runs, dict(done.changed))


TRIGGERS = (
    "select tgrelid::regclass::text, tgname::text, tgenabled::text from pg_trigger order by 1, 2"
)


def head_of(lines: list[str]) -> str:
    manifest = json.loads(lines[-1])["manifest"]
    (head,) = manifest["heads"].values()
    return str(head)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "refunds"


def test_the_store_goes_on_after_an_erasure(
    fresh_database: str, owner_database: str, ledger: Path
) -> None:
    fill(fresh_database, ledger)
    done = erase_person(owner_database, SUBJECT, by="dpo", dry_run=False)
    with RunStore.open(fresh_database, platform=platform()) as store:
        assert store.answer("parked", "ask", Decision.approve(by="bob")).status == "completed"
        sent = store.get("sent")
        assert (sent.status, sent.started_by) == ("completed", done.token)
        assert [row["decided_by"] for row in store.decisions("sent")] == [done.token]
        (effect,) = store.effects("sent").items
        assert (effect.status, len(effect.result_sha256)) == ("done", 64)
        records = DecisionRecords(store.database)
        newest = "select max(record_id) from oasflow.decision_records where run_id = 'refund'"
        ((last,),) = read(fresh_database, newest)
        with pytest.raises(GovernanceRefused):
            records.correct(last, by="bob", reason="it is gone")
        kept = read(
            fresh_database,
            "select artifact_id, tombstoned_at is null, octet_length(string_agg(content, ''))"
            " from oasflow.attachments join oasflow.attachment_pieces"
            " using (tenant, artifact_id, revision_id) group by 1, 2 order by 1",
        )
        assert kept == [("a", False, 0), ("b", True, 12)]
        # What is append-only is so again.
        refused = pytest.raises(psycopg.errors.RestrictViolation, match="append-only")
        with psycopg.connect(owner_database) as connection, refused:
            connection.execute("update oasflow.decisions set reason = 'x'")


def test_a_run_that_has_not_ended_keeps_its_values_and_is_named(
    fresh_database: str, owner_database: str, superuser_database: str
) -> None:
    with RunStore.open(fresh_database, platform=platform()) as store:
        store.start(compile_flow(FLOW), {"to": MAIL}, run_id="waits")
        before = dump_database(superuser_database)
        assert erase_person(owner_database, SUBJECT, by="dpo").active == ("waits",)
        with pytest.raises(RunNotEnded, match="1 runs have a value and have not ended: waits"):
            erase_person(owner_database, SUBJECT, by="dpo", dry_run=False)
        assert without_restrict(dump_database(superuser_database)) == without_restrict(before)
        store.stop("waits", by="bob")
        erase_person(owner_database, SUBJECT, by="dpo", dry_run=False)
        assert count_hits(dump_database(superuser_database)) == {}


def without_restrict(dump: str) -> list[str]:
    """Newer versions of `pg_dump` write a random word."""
    return [line for line in dump.splitlines() if "restrict" not in line]


def test_what_cannot_be_changed_is_told(
    fresh_database: str, owner_database: str, superuser_database: str
) -> None:
    with RunStore.open(fresh_database, platform=platform()) as store:
        flow = flow_of(start(), {**gate("ask"), "message": f"Ask {MAIL}"}, end())
        store.start(compile_flow(flow), run_id=f"for {MAIL}")
        store.stop(f"for {MAIL}", by="bob")
    done = erase_person(owner_database, [MAIL], by="dpo", dry_run=False)
    assert {"runs.run_id", "flows.source"} <= set(done.left)
    assert MAIL in dump_database(superuser_database), "the control of all that look for it"


def test_only_the_owner_erases_and_says_whose_values(
    fresh_database: str, owner_database: str
) -> None:
    with pytest.raises(StoreError, match="cannot erase in the database") as refused:
        erase_person(fresh_database, SUBJECT, by="dpo", dry_run=False)
    assert "oasflow_owner" in refused.value.hint
    for values, by, problem in (
        ((), "dpo", InputInvalid), (("ab",), "dpo", InputInvalid), ((" ann",), "dpo", InputInvalid),
        (SUBJECT, "", InputInvalid), (SUBJECT, NAME, InputInvalid), (SUBJECT, "a\0", AnswerInvalid),
    ):  # fmt: skip
        with pytest.raises(problem):
            erase_person(owner_database, values, by=by, dry_run=False)
    assert read(fresh_database, "select count(*) from oasflow.erasures") == [(0,)]


@pytest.mark.parametrize(
    ("text", "erased"),
    [
        ("ann@example.org", "X"), ("Ann@Example.ORG", "X"), ("to ann@example.org.", "to X."),
        ('{"a": "x\\nann@example.org"}', '{"a": "x\\nX"}'), ("<ann@example.org>", "<X>"),
        ("\\u00e9ann@example.org", "\\u00e9X"), ("ann%40example.org", "X"),
        ("joann@example.org", None), ("jo.ann@example.org", None), ("ann@example.org.uk", None),
        ("bann@example.org", None), ("ann@example.orgs", None),
    ],
)  # fmt: skip
def test_a_word_is_erased_as_a_whole(text: str, erased: str | None) -> None:
    assert Values(["ann@example.org"]).replace_in(text, "X") == (text if erased is None else erased)
