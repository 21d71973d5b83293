"""The verifier for auditors: needs nothing but the standard library, and computes what we compute."""

from __future__ import annotations

import ast
import hashlib
import json
import random
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from cinatra_sdk.governance.contracts.decision_record import DecisionRecord
from cinatra_sdk.governance.records import verifier
from cinatra_sdk.governance.records.verifier import (
    find_problems,
    hash_of,
    write_canonical,
    write_number,
)
from oas_compiler.cli.commands.governance import make_verifier
from tests.effort import tries
from tests.governance.record_exports import (
    MADE_AT,
    SECRET,
    make_chain,
    make_export,
    make_pem,
    make_signer,
)
from tests.governance.test_generated_runs import read_record

FILE = Path(verifier.__file__)
BESIDE = ("exact_json.py", "signatures.py", "run_evidence.py")
"""What it reads from its own folder."""


@pytest.mark.parametrize("file", [FILE, *(FILE.with_name(name) for name in BESIDE)], ids=str)
def test_it_imports_the_standard_library_only(file: Path) -> None:
    names: set[str] = set()
    for found in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(found, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in found.names}
        elif isinstance(found, ast.ImportFrom):
            names.add((found.module or "").partition(".")[0])
    assert names <= sys.stdlib_module_names


def test_numbers_are_written_as_the_library_writes_them() -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    for number in range(tries(20_000, 500_000)):
        value = struct.unpack(">d", rng.randbytes(8))[0]
        if number % 3 == 0:
            value = round(rng.uniform(-1e6, 1e6), rng.randint(0, 9))
        if number % 7 == 0:
            value = rng.randint(-(10**15), 10**15) / 10 ** rng.randint(0, 25)
        if value == value and abs(value) != float("inf"):
            assert write_number(value) == rfc8785.dumps(value).decode(), repr(value)


def test_values_are_written_as_the_library_writes_them() -> None:
    value: Any = {"€": [1, -0.0, 1e21, 1e-7, True, None], "\U0001f600": {"b": '\n"\\\x7f', "a": "é"}, "a": ""}  # fmt: skip
    assert write_canonical(value).encode() == rfc8785.dumps(value)


def _make_export(tmp_path: Path) -> Path:
    record = DecisionRecord.read({**read_record(), "sequence": 1}).sealed()
    line: dict[str, Any] = {
        "run_id": "r1",
        "seq": 1,
        "record": {**record.to_json(), "previous_record_hash": None},
    }
    line["record"]["record_hash"] = verifier.hash_of(
        {key: one for key, one in line["record"].items() if key not in verifier.LEFT_OUT}
    )
    import hashlib

    text = json.dumps(line) + "\n"
    manifest = {
        "records": 1, "heads": {"r1": line["record"]["record_hash"]},
        "lines_sha256": "sha256:" + hashlib.sha256(text.encode()).hexdigest(),
    }  # fmt: skip
    file = tmp_path / "records.jsonl"
    file.write_text(text + json.dumps({"manifest": manifest}) + "\n")
    return file


def run(*arguments: str, file: Path = FILE) -> subprocess.CompletedProcess[str]:
    """As an auditor would, without this project on the path."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(file), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_runs_alone(tmp_path: Path) -> None:
    file = _make_export(tmp_path)
    done = run(str(file))
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "1 record of 1 run: no problem is found"
    assert "not proved: who wrote it: nothing is signed" in done.stdout
    assert "hold" not in done.stdout
    file.write_text(file.read_text().replace("4200", "4201"))
    done = run(str(file))
    assert done.returncode == 1
    assert "line 1: record dr_2026_05_04_a17 is not what was hashed" in done.stdout
    assert run().returncode == 2
    assert "cannot be read" in run(str(tmp_path / "nothing")).stderr
    assert run(str(file), "--what").returncode == 2
    assert run(str(file), "--hmac").returncode == 2
    assert run("-h").stdout.startswith("Verifies an export")
    lacking = run(str(file), "--hmac", f"k={tmp_path / 'nokey'}")
    assert (lacking.returncode, lacking.stdout) == (2, "")
    assert lacking.stderr == f"{tmp_path / 'nokey'} cannot be read: No such file or directory\n"


def test_a_record_under_the_name_of_another_run_is_a_problem() -> None:
    made = {**read_record(), "record_id": "dr_r1_1", "sequence": 1, "previous_record_hash": None}
    made["record_hash"] = hash_of(
        {key: one for key, one in made.items() if key not in verifier.LEFT_OUT}
    )
    lines = [json.dumps({"run_id": run_id, "seq": 1, "record": made}) for run_id in ("r1", "r2")]
    told = [problem for line in lines for _, problem in find_problems([line], {})]
    assert [one for one in told if "manifest" not in one] == [
        "record dr_r1_1 is of another run than r2"
    ]


def test_unusual_separators_of_lines_do_not_split_a_record(tmp_path: Path) -> None:
    file = _make_export(tmp_path)
    assert "\u2028" not in file.read_text()
    done = run(str(file))
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"outputs": {', '"outputs": {"amount": 9}, "outputs": {', "is no JSON object"),
        ('{"run_id"', '{"record": {"outputs": {"amount": 9}}, "run_id"', "is no JSON object"),
        ("4200", "[" * 100_000 + "]" * 100_000, "is no JSON object"),
        ("4200", "[" * 900 + "]" * 900, "is nested too deeply"),
        ("4200", '"\\ud800"', "holds a lone surrogate"),
        ('"inputs_refs": {}}', '"inputs_refs": [1]}, "transcript": {}', "is not the one"),
    ],
    ids=lambda one: one[:20],
)
def test_a_line_that_was_made_to_mislead_is_a_problem(old: str, new: str, told: str) -> None:
    """A member that stands twice is read otherwise by another reader; nothing stops the verifier."""
    record: dict[str, Any] = {
        "record_id": "rec_1", "sequence": 1, "previous_record_hash": None,
        "outputs": {"amount": 4200}, "inputs_refs": {},
    }  # fmt: skip
    sealed = {"record_hash": hash_of(record), **record}
    line = json.dumps({"run_id": "r", "seq": 1, "record": sealed})
    assert old in line
    found = list(find_problems(_end([line.replace(old, new)], record), {}))
    assert any(told in problem for _, problem in found), found
    assert list(find_problems(_end([line], record), {})) == []


def _end(lines: list[str], record: dict[str, Any]) -> list[str]:
    """With the manifest that whoever changes the lines can write."""
    digest = hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
    manifest = {
        "records": len(lines), "heads": {"r": hash_of(record)}, "lines_sha256": f"sha256:{digest}",
    }  # fmt: skip
    return [*(f"{line}\n" for line in lines), json.dumps({"manifest": manifest})]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that `oasflow records --verifier` prints, in a folder of its own."""
    file = tmp_path_factory.mktemp("auditor") / "verify_records.py"
    file.write_text(make_verifier(), encoding="utf-8")
    return file


@pytest.mark.parametrize("kind", ["hmac", "ed25519"])
def test_the_printed_program_verifies_both_kinds_of_signatures(
    kind: str, printed: Path, tmp_path: Path
) -> None:
    export, key = tmp_path / "records.jsonl", tmp_path / "key"
    signer = make_signer(kind)
    lines = make_export([make_chain(signer=signer)], signer=signer)
    export.write_text("".join(lines))
    key.write_bytes(SECRET + b"\n" if kind == "hmac" else make_pem()[1])
    whole = f"3 records of 1 run of tenant acme, written {MADE_AT}: hashes and chains hold, signed by k1\n"
    for file in (printed, FILE):
        done = run(str(export), f"--{kind}", f"k1={key}", file=file)
        assert (done.returncode, done.stdout, done.stderr) == (0, whole, "")
    export.write_text("".join([*lines[:2], lines[-1]]))
    done = run(str(export), f"--{kind}", f"k1={key}", file=printed)
    assert done.returncode == 1
    assert "line 3: the manifest counts 3 records, and 2 are there" in done.stdout
    assert "run r1 has no record of its end" in done.stdout
    assert "hold" not in done.stdout


def test_the_file_alone_says_what_has_to_lie_beside_it(tmp_path: Path) -> None:
    alone = tmp_path / "verifier.py"
    alone.write_bytes(FILE.read_bytes())
    done = run("x", file=alone)
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        "exact_json.py has to lie beside this file; or use: oasflow records --verifier"
        in done.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--hmac", "k1=SHORT"], "is shorter than the 32 bytes of a shared secret"),
        (["--hmac", "k1=PEM"], "is PEM, and no shared secret; a public key is given with --ed25519"),
        (["--ed25519", "k1=PRIVATE"], "is a private key"),
        (["--ed25519", "k1=NONE"], "cannot be read"),
        (["--ed25519", "k1=PEM", "--hmac", "k1=SECRET"], "each key has a name of its own"),
        (["--hmac", "=SECRET"], "each key has a name of its own"),
        (["--hmac", "SECRET"], "unknown argument --hmac, or it lacks its value"),
        (["--tenant"], "unknown argument --tenant, or it lacks its value"),
    ],
    ids=str,
)  # fmt: skip
def test_a_key_that_does_not_fit_is_named_before_anything_is_read(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    private, public = make_pem()
    contents = {"SHORT": b"x", "PEM": public, "PRIVATE": private, "SECRET": SECRET}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    made = [
        f"{kid}={tmp_path / name}" if name.isupper() else one
        for one in arguments
        for kid, _, name in [one.partition("=")]
    ]
    assert verifier.main([str(tmp_path / "none"), *made]) == 2
    told = capsys.readouterr()
    assert (said in told.err, told.out) == (True, "")


def test_the_end_of_a_run_is_that_before_its_corrections() -> None:
    rows = make_chain(statuses=["IN_FLIGHT", "DECIDED", "IN_FLIGHT"])
    record = json.loads(rows[2]["record"])
    record["corrects"] = "dr_r1_1"
    record["record_hash"] = hash_of(
        {key: one for key, one in record.items() if key not in verifier.LEFT_OUT}
    )
    corrected = {**rows[2], "record": json.dumps(record), "record_hash": record["record_hash"]}
    for last, without_end in ((corrected, []), (rows[2], ["r1"])):
        lines = make_export([[*rows[:2], last]])
        found = verifier.verify(lines, {})
        assert found.problems == []
        assert (found.without_end, found.manifest["without_end"]) == (without_end, without_end)


@pytest.mark.parametrize(
    ("run_status", "without_end"),
    [("completed", []), ("failed", ["r1"]), ("waiting", ["r1"]), ("running", ["r1"])],
)
def test_a_run_that_failed_and_may_be_resumed_has_no_end(
    run_status: str, without_end: list[str]
) -> None:
    rows = make_chain(statuses=["IN_FLIGHT", "ESCALATED"])
    rows[-1]["run_status"] = run_status
    found = verifier.verify(make_export([rows]), {})
    assert found.problems == []
    assert (found.without_end, found.manifest["without_end"]) == (without_end, without_end)
    told = " ".join(verifier.describe(found))
    assert ("run r1 has no record of its end" in told) is bool(without_end)


def test_a_row_that_is_no_json_is_exported_and_named() -> None:
    rows = make_chain()
    lines = make_export([[*rows[:2], {**rows[2], "record": "no record"}]])
    assert (3, "holds no record") in list(find_problems(lines, {}))


@pytest.mark.parametrize(
    "text",
    [
        "no record",
        "7",
        "[]",
        "null",
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": ' + "9" * 5000 + "}",
        '{"a":' * 5000 + "1" + "}" * 5000,
    ],
    ids=["text", "number", "list", "null", "nan", "infinite", "long number", "deep"],
)
@pytest.mark.parametrize("member", ["record", "transcript"])
def test_a_row_that_nobody_reads_is_named_in_its_line_in_the_manifest_and_by_the_verifier(
    text: str, member: str
) -> None:
    rows = make_chain()
    lines = make_export([[*rows[:2], {**rows[2], member: text}]], transcripts=True)
    assert all("NaN" not in line and "Infinity" not in line for line in map(json.dumps, lines[3:]))
    assert json.loads(lines[-1])["manifest"]["unreadable"] == {"r1": [3]}
    found = verifier.verify(lines, {})
    assert found.unreadable == {"r1": [3]}
    assert 3 in [at for at, _ in found.problems]
    hidden = json.loads(lines[-1])
    hidden["manifest"]["unreadable"] = {"r1": [2]}
    told = [problem for _, problem in find_problems([*lines[:-1], json.dumps(hidden)], {})]
    assert "the manifest names other rows that cannot be read" in told


def test_an_export_without_such_a_row_does_not_speak_of_any() -> None:
    lines = make_export([make_chain()])
    assert "unreadable" not in json.loads(lines[-1])["manifest"]
    assert list(find_problems(lines, {})) == []


JUNK: dict[str, list[Any]] = {
    "run_status": ["done", "Completed", "", "completed ", 7, True, None, [], ["completed"], {}],
    "created_at": [
        "2026-02-30T10:00:00.000Z", "2026-13-01T10:00:00.000Z", "2026-05-04T25:00:00.000Z",
        "0000-05-04T10:00:00.000Z", "2026-05-04T10:00:00.000", "2026-05-04 10:00:00.000Z",
        "2026-05-04T10:00:00.000+00:00", "2026-05-04T10:00:00.000Z\n", "\u0662026-05-04T10:00:00.000Z",
        "yesterday", "", 0, 1.5, False, None, [], {},
    ],
    "tenant": [7, None, ["acme"], {}],
}  # fmt: skip
"""Beside a record: what no export writes."""
JUNK_OF_THE_END: dict[str, list[Any]] = {
    "made_at": ["2026-02-30T10:00:00.000Z", "soon", 0, None],
    "transcripts": [1, 0, "true", None],
    "tenant": [7, False, ["acme"]],
    "run": [7, False, ["r1"]],
}


def write_anew(lines: list[dict[str, Any]], manifest: dict[str, Any]) -> list[str]:
    """An export that nobody signed, whose manifest fits its lines."""
    texts = [json.dumps(line) + "\n" for line in lines]
    manifest["lines_sha256"] = "sha256:" + hashlib.sha256("".join(texts).encode()).hexdigest()
    return [*texts, json.dumps({"manifest": manifest})]


def test_what_no_export_writes_beside_a_record_is_a_problem_without_any_signature() -> None:
    lines = [json.loads(line) for line in make_export([make_chain()], tenant=None)]
    *records, end = lines
    assert find_words(write_anew(records, end["manifest"])) == ""
    for member, values in JUNK.items():
        for value in values:
            broken = [*records[:1], {**records[1], member: value}, *records[2:]]
            told = find_words(write_anew(broken, end["manifest"]))
            assert "record dr_r1_2 " in told, (member, value)
    for member, values in JUNK_OF_THE_END.items():
        for value in values:
            told = find_words(write_anew(records, {**end["manifest"], member: value}))
            assert "the manifest " in told, (member, value)


def find_words(lines: list[str]) -> str:
    return "; ".join(problem for _, problem in find_problems(lines, {}))
