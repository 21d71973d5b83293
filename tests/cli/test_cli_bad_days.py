"""`oasflow db adopt`, `db disown`, `reconcile` and `erase`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def own(cli: Any, owner_database: str) -> Any:
    """A command as the owner of the tables."""
    return lambda *arguments: cli(*arguments, "--db", owner_database)


@pytest.fixture
def waiting(cli: Any, flow_file: Any) -> Any:
    assert cli("run", flow_file(), "--simulate", "--run-id", "r1").exit_code == 3
    return cli


def test_a_copy_is_told_of_and_adopted(waiting: Any, own: Any) -> None:
    done = own("db", "disown", "--as", "ann")
    assert (done.exit_code, "is a copy" in done.stdout) == (0, True)
    refused = waiting("answer", "r1/first", "--text", "yes", "--as", "ann")
    assert (refused.exit_code, refused.stdout) == (7, "")
    assert "is a copy of another one" in refused.stderr
    assert "oasflow db adopt" in refused.stderr
    told = json.loads(waiting("doctor", "--json").stdout)
    assert told["home"] == {"is_copy": True, "was_taken_over": False}
    assert any("oasflow db adopt" in one for one in told["findings"])
    assert waiting("runs").exit_code == 0
    assert waiting("reconcile").exit_code == 1
    assert waiting("db", "adopt").exit_code == 7, "not as the role that runs flows"
    told = json.loads(own("db", "adopt", "--as", "ann", "--json").stdout)
    assert (told["is_copy"], told["by"]) == (False, "ann")
    assert waiting("answer", "r1/first", "--text", "yes", "--as", "ann").exit_code == 3


def test_what_others_know_is_compared(waiting: Any, tmp_path: Path, fresh_database: str) -> None:
    assert waiting("reconcile").stdout == "0 findings\n"
    file = tmp_path / "receipts.jsonl"
    file.write_text('{"run": "r1"}\n{"run": "r2"}\n{"run": "r1", "gate": "first"}\n{"key": "k"}\n')
    found = waiting("reconcile", "--receipts", str(file))
    assert found.exit_code == 1
    assert found.stdout.splitlines() == [
        "r2  a run that was started is not here", "r1/first  a decision is not here",
        "k  a call that was made is not here", "3 findings, 4 receipts looked up",
    ]  # fmt: skip
    told = json.loads(waiting("reconcile", "--receipts", str(file), "--json").stdout)
    assert [(one["kind"], one["run"], one["name"]) for one in told["findings"]] == [
        ("lost start", "r2", ""), ("lost decision", "r1", "first"), ("lost effect", "", "k"),
    ]  # fmt: skip
    against = waiting("reconcile", "--against", fresh_database, "--newer-than", "1h")
    assert (against.exit_code, against.stdout) == (0, "0 findings, 1 receipt looked up\n")
    for wrong, word in (
        (("--receipts", "nowhere.jsonl"), "nowhere.jsonl cannot be read"),
        (("--newer-than", "1h"), "--newer-than is about"),
    ):
        refused = waiting("reconcile", *wrong)
        assert (refused.exit_code, word in refused.stderr) == (2, True)
    file.write_text("x\n")
    refused = waiting("reconcile", "--receipts", str(file))
    assert (refused.exit_code, "line 1 of the receipts" in refused.stderr) == (2, True)


def test_erasing_is_counted_first(waiting: Any, own: Any) -> None:
    assert waiting("answer", "r1/first", "--text", "yes", "--as", "eva.canary").exit_code == 3
    asked = ("erase", "--subject", "eva.canary", "--as", "dpo")
    dry = own(*asked)
    assert dry.exit_code == 1
    assert "of 1 run would be changed" in dry.stdout
    assert "run r1 has not ended" in dry.stderr
    refused = own(*asked, "--yes")
    assert (refused.exit_code, "have not ended: r1" in refused.stderr) == (4, True)
    assert waiting("stop", "r1").exit_code in (0, 6)
    assert own(*asked).exit_code == 0
    assert "eva.canary" in waiting("show", "r1").stdout, "a dry run changes nothing"
    done = json.loads(own(*asked, "--yes", "--reason", "request 17", "--json").stdout)
    assert (done["dry_run"], done["runs"], done["left"]) == (False, ["r1"], {})
    assert done["changed"]["decisions"] == 1
    shown = waiting("show", "r1").stdout
    assert "eva.canary" not in shown
    assert done["token"] in shown
    refused = waiting(*asked, "--yes")
    assert (refused.exit_code, "cannot erase" in refused.stderr) == (7, True)
