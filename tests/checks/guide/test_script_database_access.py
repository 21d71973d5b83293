from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import agent, only, script, told
from tests.checks.rule_case import findings

CODE = "OAS185"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("import psycopg\n", 1, 8),
        ("import os, sqlalchemy.orm as orm\n", 1, 12),
        ("from psycopg2 import connect\n", 1, 1),
        ("from sqlalchemy.orm import Session\n", 1, 1),
        ("def f():\n    import sqlite3\n", 2, 12),
        ("from django import db\n", 1, 1),
        ("import importlib\nm = importlib.import_module('pymysql')\n", 2, 29),
        ("import subprocess\nsubprocess.run(['psql', '-c', 'select 1'])\n", 2, 17),
        ("import os\nos.system('/usr/bin/mysql -e x')\n", 2, 11),
        ("import os\nos.system(f'psql {url}')\n", 2, 11),
        ("x = 'é'; import asyncpg\n", 1, 17),
    ],
)
def test_python_that_talks_to_a_database_is_an_error_where_it_says_so(tmp_path, text, line, column):
    package = script(tmp_path, text)
    if "{url}" in text:
        # Python 3.11 gives the parts of an f-string the place of the whole
        assert [found[:2] for found in told(package, CODE)] == [("scripts/work.py", line)]
        return
    assert told(package, CODE) == [("scripts/work.py", line, column)]
    assert only(package, CODE).severity == "error"


@pytest.mark.parametrize(
    "text",
    [
        "# import psycopg\n",
        '"""import psycopg\nimport sqlite3\n"""\n',
        "print('import psycopg')\n",
        "import psycopg_like\n",
        "from .sqlite3 import x\n",
        "import json\nrun('psql')\n".replace("run(", "show("),
        "import subprocess\nsubprocess.run(['echo', 'psql'])\n",
        "psycopg = 1\n",
    ],
)
def test_python_that_only_speaks_of_one_is_fine(tmp_path, text):
    assert told(script(tmp_path, text), CODE) == []


def test_a_module_of_the_package_itself_is_not_the_library_of_its_name(tmp_path):
    files = {"scripts/work.py": "import prisma\n", "scripts/prisma.py": "LIGHT = 7\n"}
    assert told(agent(tmp_path, files=files), CODE) == []
    assert told(script(tmp_path / "b", "import prisma\n"), CODE) != []


def test_python_that_does_not_parse_is_searched_for_imports(tmp_path):
    broken = "print 'hello'\nimport psycopg\n# import sqlite3\n"
    assert told(script(tmp_path, broken), CODE) == [("scripts/work.py", 2, 8)]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('import { Pool } from "pg";\n', 1, 22),
        ("import 'drizzle-orm/node-postgres';\n", 1, 8),
        ('const { PrismaClient } = require("@prisma/client");\n', 1, 34),
        ("const db = await import(`better-sqlite3`);\n", 1, 25),
        ('import postgres from "npm:postgres@3.4";\n', 1, 22),
        ("export { x }\n  from\n  'knex'\n", 3, 3),
        ("const r = /[\"']/g; require('pg')\n", 1, 28),
        ("execSync('psql -c \"select 1\"')\n", 1, 11),
        ("const n = `a ${require('pg')} b`\n", 1, 24),
    ],
)
@pytest.mark.parametrize("suffix", ["js", "mjs", "ts"])
def test_javascript_that_talks_to_a_database_is_an_error(tmp_path, text, line, column, suffix):
    name = f"scripts/work.{suffix}"
    assert told(script(tmp_path, text, name), CODE) == [(name, line, column)]


@pytest.mark.parametrize(
    "text",
    [
        '// import { Pool } from "pg";\n',
        '/* require("pg")\n require("knex") */\n',
        "const text = 'require(\"pg\")';\n",
        'const text = `import x from "pg"`;\n',
        'import x from "./pg";\n',
        'import x from "pg-like";\n',
        'import x from "@scope/pg";\n',
        "const pg = 1;\n",
        "const half = (a + b) / 2; const text = 'require(\"pg\")' / 1;\n",
    ],
)
def test_javascript_that_only_speaks_of_one_is_fine(tmp_path, text):
    assert told(script(tmp_path, text, "scripts/work.ts"), CODE) == []


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("psql -c 'select 1'\n", 1, 1),
        ("set -e\ncat a | mysql db\n", 2, 9),
        ('COUNT="$(psql -At -c x)"\n', 1, 10),
        ("PGPASSWORD=x psql\n", 1, 14),
        ("if true; then sqlite3 a.db; fi\n", 1, 15),
        ("sudo /usr/bin/psql\n", 1, 6),
    ],
)
def test_a_shell_script_that_starts_a_client_is_an_error(tmp_path, text, line, column):
    assert told(script(tmp_path, text, "scripts/work.sh"), CODE) == [
        ("scripts/work.sh", line, column)
    ]


@pytest.mark.parametrize(
    "text", ["# psql -c x\n", "echo 'a; psql'\n", "echo psql\n", "psqlx\n", "ls # | psql\n"]
)
def test_a_shell_script_that_only_speaks_of_one_is_fine(tmp_path, text):
    assert told(script(tmp_path, text, "scripts/work.sh"), CODE) == []


def test_each_library_is_told_once_per_script(tmp_path):
    text = "import psycopg\nimport psycopg.rows\nimport sqlite3\n"
    assert told(script(tmp_path, text), CODE) == [
        ("scripts/work.py", 1, 8),
        ("scripts/work.py", 3, 8),
    ]


@pytest.mark.parametrize(
    "name",
    ["tests/test_it.py", "scripts/test_it.py", "scripts/it_test.py", "scripts/it.test.mjs",
     "node_modules/x/a.py", ".venv/a.py", "notes.md"],
)  # fmt: skip
def test_tests_and_what_is_installed_are_no_scripts_of_the_agent(tmp_path, name):
    assert told(script(tmp_path, "import psycopg\nimport 'pg'\n", name), CODE) == []


def test_the_file_of_a_finding_is_the_script(tmp_path):
    (finding,) = findings(script(tmp_path, "import psycopg\n"), CODE)
    assert finding.file == str(tmp_path / "scripts" / "work.py")
