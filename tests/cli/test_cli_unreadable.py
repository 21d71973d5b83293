"""A row that cannot be read is a line of its own in every list, and hides no other row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.evidence.decision_records import StoredRecord
from oas_compiler import compile_flow
from oas_compiler.cli.terminal.exits import Exit
from tests.flows import end, flow_of, gate, start
from tests.governance.refund import FINANCE, TENANT, lend_refund, request

RECORD = """
insert into decision_records (run_id, seq, tenant, record_id, status, run_status, record, record_hash,
                              previous_hash, transcript)
select run_id, seq + 1, tenant, 'dr_bad_' || seq + 1, 'IN_FLIGHT', run_status, json_build_object(
    'record_id', 'dr_bad_' || seq + 1, 'record_hash', 'sha256:' || repeat('0', 64),
    'previous_record_hash', record_hash, 'sequence', seq + 1, 'status', 'IN_FLIGHT'),
    'sha256:' || repeat('0', 64), record_hash, '{}'
from decision_records where run_id = 'bad' order by seq desc limit 1"""
PROPOSAL = """
insert into memory_proposals (proposal_id, run_id, tenant, proposal)
select 'mp_bad', run_id, tenant, '{"proposal_id": "mp_bad"}' from runs where run_id = 'bad'"""


def write(dsn: str, *statements: str) -> None:
    """As the role that runs flows."""
    with psycopg.connect(dsn, autocommit=True, options="-c search_path=oasflow") as rows:
        for statement in statements:
            rows.execute(statement)  # type: ignore[call-overload]


@pytest.fixture
def runs(fresh_database: str, tmp_path: Path) -> Iterator[str]:
    """`good` has ended; `bad` waits, with a record and a proposal that are none."""
    parts = lend_refund(tmp_path / "refunds")
    with RunStore.open(fresh_database, host=parts) as store:
        for name in ("good", "bad"):
            store.start(parts.graphs[0], {"request": request()}, name, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
        store.answer("good", "gate", Decision.approve(by=FINANCE))
    write(fresh_database, RECORD, PROPOSAL)
    return fresh_database


def test_a_record_that_is_none_is_named_beside_the_others(cli: Any, runs: str) -> None:
    listed = cli("records")
    assert (listed.exit_code, "dr_good_3" in listed.stdout) == (Exit.OK, True)
    assert "run bad: cannot be read: record dr_bad_" in listed.stderr
    found = json.loads(cli("records", "--json").stdout)
    assert {one["run"] for one in found["records"]} == {"good", "bad"}
    assert [one["run"] for one in found["unreadable"]] == ["bad"]
    assert json.loads(cli("records", "good", "--json").stdout)["unreadable"] == []


UNREAD = (
    RECORD.replace("json_build_object(", "rtrim(json_build_object(")
    .replace("'IN_FLIGHT'),", "'IN_FLIGHT')::text, '}') || %s,")
    .replace("'{}'", "%s")
)
DEEP = '{"a":' * 5000 + "1" + "}" * 5000
LONG = "9" * 5000


@pytest.mark.parametrize(
    ("more", "transcript"),
    [(f', "x": {LONG}}}', "{}"), (f', "x": {DEEP}}}', "{}"), ("}", "[7]"), ("}", DEEP)],
    ids=["a long number", "deep", "a transcript that is a list", "a deep transcript"],
)
def test_a_record_that_nobody_reads_is_exported_and_named_and_no_traceback(
    cli: Any, runs: str, tmp_path: Path, more: str, transcript: str
) -> None:
    with psycopg.connect(runs, autocommit=True, options="-c search_path=oasflow") as rows:
        rows.execute(UNREAD, [more, transcript])  # type: ignore[call-overload]
    chain = cli("records", "bad")
    assert (chain.exit_code, "dr_bad_2" in chain.stdout) == (Exit.OK, True)
    file = tmp_path / "export.jsonl"
    made = cli("records", "--export", str(file), "--transcripts")
    said = "run bad: what stands in place of record 4 cannot be read"
    assert (made.exit_code, said in " ".join(made.stderr.split())) == (Exit.OK, True)
    assert cli("records", "--verify", str(file)).exit_code == Exit.FINDINGS
    for command in ("records", "replay"):
        refused = cli(command, "dr_bad_4")
        assert refused.exit_code not in (Exit.OK, 1)
        assert refused.stderr.startswith("error: DecisionRecord: ")


@pytest.mark.parametrize("text", ["[7]", "no", DEEP, '{"a": ' + LONG + "}"])
def test_a_transcript_that_nobody_reads_names_its_record(runs: str, text: str) -> None:
    with psycopg.connect(runs, row_factory=dict_row, options="-c search_path=oasflow") as rows:
        row: Any = rows.execute(
            "select *, 'f' as flow_name from decision_records where record_id = 'dr_good_3'"
        ).fetchone()
    assert StoredRecord.of(row).transcript
    with pytest.raises(GovernanceRefused) as refused:
        StoredRecord.of({**row, "transcript": text})
    assert "the transcript of record 'dr_good_3' is no JSON object" in str(refused.value)


def test_a_page_of_nothing_but_what_cannot_be_read_leads_to_the_next_one(
    cli: Any, runs: str
) -> None:
    first = json.loads(cli("records", "bad", "--limit", "1", "--json").stdout)
    assert (first["records"], len(first["unreadable"])) == ([], 1)
    rest = json.loads(cli("records", "bad", "--after", first["next"], "--json").stdout)
    assert rest["unreadable"] == []
    assert rest["records"] != []


def test_a_proposal_that_is_none_is_named_beside_the_others(cli: Any, runs: str) -> None:
    listed = cli("memory", "list")
    assert (listed.exit_code, "support" in listed.stdout) == (Exit.OK, True)
    assert "run bad: cannot be read: proposal mp_bad" in listed.stderr
    found = json.loads(cli("memory", "list", "--json").stdout)
    assert len(found["proposals"]) >= 1
    assert [one["run"] for one in found["unreadable"]] == ["bad"]


def test_a_gate_that_cannot_be_read_is_a_member_of_the_list(cli: Any, fresh_database: str) -> None:
    with RunStore.open(fresh_database) as store:
        flow = compile_flow(flow_of(start(), gate("ok"), end()), platform=SimulatedPlatform())
        for name in ("good", "bad"):
            store.start(flow, {}, name)
    write(
        fresh_database,
        "insert into gates (run_id, gate_id, payload_sha256, node, visit, step, interrupt, payload,"
        " response_schema) values ('bad', 'junk', 'x', 'n', 1, 1, 'i', '[7]', '{}')",
    )
    found = json.loads(cli("gates", "--json").stdout)
    assert len(found["gates"]) == 2
    assert [one["run"] for one in found["unreadable"]] == ["bad"]
    assert "junk" in found["unreadable"][0]["problem"]


@pytest.mark.parametrize(
    "error",
    ['{"code": "\\u0000"}', '{"code": "\\ud800"}', "7", '"x"', '[{"code": 1}]', '{"code": {}}'],
)
def test_the_doctor_names_a_dead_letter_whose_error_cannot_be_read(
    cli: Any, fresh_database: str, error: str
) -> None:
    with RunStore.open(fresh_database) as store:
        flow = compile_flow(flow_of(start(), gate("ok"), end()), platform=SimulatedPlatform())
        for name in ("good", "bad"):
            store.start(flow, {}, name)
    with psycopg.connect(fresh_database, autocommit=True, options="-c search_path=oasflow") as rows:
        kept = "update runs set status = 'failed', retry_at = null, error = %s where run_id = %s"
        rows.execute(kept, [error, "bad"])
        rows.execute(kept, ['{"code": "DOWN"}', "good"])
    told = cli("doctor", "--db", fresh_database, "--json")
    letters = json.loads(told.stdout)["dead_letters"]
    assert {one["id"] for one in letters["oldest"]} == {"good", "bad"}
    assert "DOWN" in {one["code"] for one in letters["oldest"]}
    assert cli("doctor", "--db", fresh_database).exit_code == Exit.FINDINGS
