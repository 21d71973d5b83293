"""`oasflow db pooler`, and what `doctor` says of a pooler."""

from __future__ import annotations

import json
from typing import Any

ADDRESS = "postgresql://app:s3cret@db.example.org:5433/runs"


def test_the_lines_for_a_pooler_are_printed_without_a_connection(cli: Any) -> None:
    done = cli("db", "pooler", "--db", ADDRESS)
    assert (done.exit_code, done.stderr) == (0, "")
    assert (
        "runs = host=db.example.org port=5433 dbname=runs "
        "connect_query='select oasflow.oasflow_begin_session()'\n"
    ) in done.stdout
    assert "s3cret" not in done.stdout
    told = json.loads(cli("db", "pooler", "--db", ADDRESS, "--json").stdout)
    assert told["ini"] == done.stdout.rstrip("\n")


def test_a_role_gets_its_settings_by_statements(cli: Any) -> None:
    done = cli("db", "pooler", "--sql", "--db", ADDRESS)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert 'alter role "app" in database "runs" set "search_path" = \'oasflow\';' in lines
    assert all(line.startswith('alter role "app" in database "runs" ') for line in lines)
    told = json.loads(cli("db", "pooler", "--sql", "--db", ADDRESS, "--json").stdout)
    assert told["sql"].splitlines() == lines


def test_doctor_says_whether_a_pooler_stands_between(cli: Any) -> None:
    assert json.loads(cli("doctor", "--json").stdout)["pooled"] is False
    assert "pooler" not in cli("doctor").stdout
