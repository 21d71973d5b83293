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

from cinatra_sdk.governance import verifier
from cinatra_sdk.governance.contracts.records import DecisionRecord
from cinatra_sdk.governance.verifier import find_problems, hash_of, write_canonical, write_number
from tests.effort import tries
from tests.governance.test_generated_runs import read_record

FILE = Path(verifier.__file__)


def test_it_imports_the_standard_library_only() -> None:
    names: set[str] = set()
    for found in ast.walk(ast.parse(FILE.read_text(encoding="utf-8"))):
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
    line = {"run_id": "r1", "seq": 1, "record": {**record.to_json(), "previous_record_hash": None}}
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


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """As an auditor would, without this project on the path."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(FILE), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_runs_alone(tmp_path: Path) -> None:
    file = _make_export(tmp_path)
    done = run(str(file))
    assert (done.returncode, done.stdout) == (0, "1 records: hashes and chains hold\n")
    file.write_text(file.read_text().replace("4200", "4201"))
    done = run(str(file))
    assert done.returncode == 1
    assert "line 1: record dr_2026_05_04_a17 is not what was hashed" in done.stdout
    assert run().returncode == 2
    assert "cannot be read" in run(str(tmp_path / "nothing")).stderr
    assert run(str(file), "--what").returncode == 2
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
