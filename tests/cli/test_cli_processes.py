"""`oasflow` as real processes: runs that change hands, signals, pipes, and a quick start."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from oasflow_process import PATIENCE, Oasflow, finish

from tests.flows import api, end, flow_of, gate, start
from tests.warm import Process

REPOSITORY = Path(__file__).resolve().parents[2]
OUTREACH = REPOSITORY.parent / "shared" / "corpus" / "cinatra" / "email-outreach-agent"


@pytest.mark.skipif(not OUTREACH.exists(), reason="the public flows are not beside the project")
@pytest.mark.long  # tests/store/test_processes.py does the same below the command line
def test_email_outreach_is_started_answered_and_finished_by_different_processes(
    oasflow: Oasflow, tmp_path: Path
) -> None:
    tape = tmp_path / "tape"
    begun = oasflow(
        "run", str(OUTREACH), "--simulate", "--record", str(tape), "--detach", "--run-id", "mail", "--json"
    )  # fmt: skip
    code, run = begun.code, begun.json
    answered = []
    while code == 3:
        waiting = run["waiting"][0]
        answered.append(waiting["id"])
        assert len(answered) < 20
        form = waiting["example"] is not True
        # Named: a run that has asked before is not decided by its name alone.
        asked = f"mail/{waiting['id']}"
        how = ("answer", asked, "--value", json.dumps(waiting["example"]))
        command = how if form else ("approve", asked)
        ended = oasflow(*command, "--as", "ann", "--record", str(tape), "--json")
        code, run = ended.code, ended.json
    assert (code, run["status"]) == (0, "completed")
    assert len(answered) >= 6
    assert {d["by"] for d in oasflow("show", "mail", "--json").json["decisions"]} == {"ann"}
    keys = [json.loads(line)["idempotency_key"] for line in tape.read_text().splitlines()]
    assert len(keys) == len(set(keys)) > 0


def test_a_rejection_by_another_process_is_final(oasflow: Oasflow, flow_file: Any) -> None:
    assert oasflow("run", flow_file(), "--simulate", "--detach", "--run-id", "r1").code == 3
    assert oasflow("reject", "r1", "--reason", "no").code == 5
    second = oasflow("approve", "r1/first")
    assert second.code == 4
    assert "already rejected" in second.err
    assert second.out == ""


class _Platform(http.server.ThreadingHTTPServer):
    """Holds every call until it is released."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Held)
        self.arrived = threading.Event()
        self.released = threading.Event()
        self.number = 0
        """Of calls."""
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Held(http.server.BaseHTTPRequestHandler):
    server: _Platform

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.server.number += 1
        self.server.arrived.set()
        self.server.released.wait(PATIENCE)
        body = b'{"done": "yes"}'
        try:
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def log_message(self, *_arguments: Any) -> None:
        """Quiet."""


@pytest.fixture
def platform() -> Iterator[_Platform]:
    server = _Platform()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()


def wait_for_words(process: Process, words: str) -> str:
    """What the process wrote to stderr until then."""
    assert process.stderr is not None
    seen = ""
    while words not in seen:
        line = process.stderr.readline()
        assert line, seen
        seen += line
    return seen


STOPS = "once more ends it at once"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_during_a_node_ends_its_call_and_stops_the_run_before_the_next(
    started: Oasflow, oasflow: Oasflow, flow_file: Any, platform: _Platform, sent: int
) -> None:
    done = [{"title": "done", "type": "string"}]
    path = flow_file(flow_of(start(), api("work", outputs=done), api("more", outputs=done), end()))
    process = started.begin("run", path, "--base-url", platform.url, "--run-id", "r1")
    assert platform.arrived.wait(PATIENCE)
    process.send_signal(sent)
    wait_for_words(process, STOPS)
    platform.released.set()
    out, err = finish(process)
    assert (process.returncode, out) == (130, "")
    assert "oasflow resume r1" in err
    assert "Traceback" not in err
    shown = oasflow("show", "r1", "--json").json
    assert (shown["status"], shown["failures"], platform.number) == ("running", 0, 1)
    resumed = oasflow("resume", "r1", "--json")
    assert (resumed.code, resumed.json["status"], platform.number) == (0, "completed", 2)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_sweeper_that_is_told_to_end_leaves_its_runs_due(
    started: Oasflow, oasflow: Oasflow, flow_file: Any, platform: _Platform, sent: int, code: int
) -> None:
    done = [{"title": "done", "type": "string"}]
    path = flow_file(flow_of(start(), api("work", outputs=done), api("more", outputs=done), end()))
    platform.released.set()
    assert oasflow("run", path, "--base-url", platform.url, "--run-id", "r0").code == 0
    platform.released.clear()
    platform.arrived.clear()
    first = started.begin("run", path, "--base-url", platform.url, "--run-id", "r1")
    assert platform.arrived.wait(PATIENCE)
    first.send_signal(signal.SIGKILL)
    finish(first)
    platform.arrived.clear()
    made = platform.number
    sweeper = started.begin("resume", "--all", "--watch", "0.1", CINATRA_BASE_URL=platform.url)
    assert platform.arrived.wait(PATIENCE)
    sweeper.send_signal(sent)
    wait_for_words(sweeper, STOPS)
    platform.released.set()
    _, err = finish(sweeper)
    assert (sweeper.returncode, platform.number) == (code, made + 1)
    assert "Traceback" not in err
    assert oasflow("show", "r1", "--json").json["status"] == "running"
    swept = oasflow("resume", "--all", "--json", CINATRA_BASE_URL=platform.url).json
    assert [(one["id"], one["reason"], one["status"]) for one in swept["runs"]] == [
        ("r1", "left", "completed")
    ]


def test_the_second_interrupt_during_a_node_ends_at_once_and_leaves_the_run_resumable(
    started: Oasflow, oasflow: Oasflow, flow_file: Any, platform: _Platform
) -> None:
    path = flow_file(
        flow_of(start(), api("work", outputs=[{"title": "done", "type": "string"}]), end())
    )
    process = started.begin("run", path, "--base-url", platform.url, "--run-id", "r1")
    assert platform.arrived.wait(PATIENCE)
    process.send_signal(signal.SIGINT)
    wait_for_words(process, STOPS)
    process.send_signal(signal.SIGINT)
    out, err = finish(process)
    assert (process.returncode, out) == (130, "")
    assert "oasflow resume r1" in err
    assert "Traceback" not in err
    assert oasflow("show", "r1", "--json").json["status"] == "running"
    platform.released.set()
    resumed = oasflow("resume", "r1", "--json")
    assert (resumed.code, resumed.json["status"]) == (0, "completed")


def test_a_followed_run_prints_while_it_works_and_an_interrupt_ends_it_as_any_run(
    started: Oasflow, flow_file: Any, platform: _Platform
) -> None:
    path = flow_file(
        flow_of(start(), api("work", outputs=[{"title": "done", "type": "string"}]), end())
    )
    process = started.begin("run", path, "--follow", "--base-url", platform.url, "--run-id", "r1")
    assert platform.arrived.wait(PATIENCE)
    assert process.stdout is not None
    assert "run created" in process.stdout.readline()  # the node has not ended
    process.send_signal(signal.SIGINT)
    wait_for_words(process, STOPS)
    process.send_signal(signal.SIGINT)
    _, err = finish(process)
    assert process.returncode == 130
    assert "oasflow resume r1" in err
    assert "Traceback" not in err


def test_a_followed_run_whose_reader_goes_away_runs_to_its_end(
    started: Oasflow, oasflow: Oasflow, flow_file: Any, platform: _Platform
) -> None:
    path = flow_file(
        flow_of(start(), api("work", outputs=[{"title": "done", "type": "string"}]), end())
    )
    process = started.begin("run", path, "--follow", "--base-url", platform.url, "--run-id", "r1")
    assert process.stdout is not None
    assert platform.arrived.wait(PATIENCE)
    process.stdout.close()
    platform.released.set()
    assert process.wait(PATIENCE) == 141
    assert oasflow("show", "r1", "--json").json["status"] == "completed"


def test_a_run_token_comes_from_the_environment_and_is_told_to_nobody(
    oasflow: Oasflow, flow_file: Any, platform: _Platform
) -> None:
    platform.released.set()
    path = flow_file(
        flow_of(start(), api("work", outputs=[{"title": "done", "type": "string"}]), end())
    )
    ended = oasflow(
        "run", path, "--base-url", platform.url, "--json", CINATRA_RUN_TOKEN="canary-word"
    )
    assert ended.code == 0
    shown = oasflow("show", ended.json["id"], "--json", CINATRA_RUN_TOKEN="canary-word")
    assert "canary-word" not in ended.out + ended.err + shown.out + shown.err


def test_a_reader_that_goes_away_ends_the_output_and_nothing_else(
    started: Oasflow, flow_file: Any
) -> None:
    path = flow_file("[1, 2]")
    for arguments in (("check", *[path] * 200), ("check", "--json", *[path] * 200)):
        process = started.begin(*arguments)
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()
        process.stderr.close()
        assert process.wait(PATIENCE) == 141
        assert err == ""


def test_a_run_whose_progress_nobody_reads_is_not_failed_by_that(
    started: Oasflow, oasflow: Oasflow, flow_file: Any
) -> None:
    process = started.begin("run", flow_file(), "--simulate", "--yes", "--run-id", "r1")
    assert process.stderr is not None
    assert process.stdout is not None
    process.stderr.close()
    out = process.stdout.read()
    process.stdout.close()
    assert process.wait(PATIENCE) == 0
    assert "completed" in out
    assert oasflow("show", "r1", "--json").json["status"] == "completed"


def test_a_locale_without_unicode_loses_no_command(oasflow: Oasflow, flow_file: Any) -> None:
    ended = oasflow("run", flow_file(), "--simulate", PYTHONIOENCODING="ascii")
    assert ended.code == 3
    assert "The first" in ended.out


ENGINE = ("langgraph", "langchain_core", "langsmith", "jinja2", "jsonschema", "yaml", "httpx2")
HEAVY = (*ENGINE, "psycopg", "resvg_py", "nodesemver")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["check", "FLOW"], ["draw", "FLOW"], ["version"], ["run", "--help"]]
)
def test_what_only_looks_at_files_imports_nothing_heavy(
    flow_file: Callable[..., str], arguments: list[str]
) -> None:
    path = flow_file(flow_of(start(), gate("g"), end()))
    given = [path if argument == "FLOW" else argument for argument in arguments]
    assert not loaded(HEAVY, *given) - allowed(arguments)


def allowed(arguments: list[str]) -> set[str]:
    """What a file is checked with, which only reads it."""
    return {"yaml", "jinja2", "jsonschema"} if "FLOW" in arguments else set()


def loaded(names: tuple[str, ...], *arguments: str, code: int = 0, **env: str) -> set[str]:
    """Which of these packages a command has loaded when it ends with this code."""
    program = (
        "import sys, oas_compiler.cli\n"
        "try: oas_compiler.cli.main()\n"
        f"except SystemExit as ended: assert ended.code == {code}, ended.code\n"
        f"sys.stderr.write('loaded: ' + ' '.join(m for m in {names!r} if m in sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], env={**os.environ, **env},
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return set(done.stderr.rpartition("loaded: ")[2].split())


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["gates"], 0), (["runs"], 0), (["show", "r1"], 0), (["db", "status"], 7)],
    ids=["gates", "runs", "show", "db status"],
)
def test_what_only_looks_at_runs_loads_no_engine(
    here: Any, flow_file: Any, fresh_database: str, tmp_path: Path, arguments: list[str], code: int
) -> None:
    assert here("run", flow_file(), "--simulate", "--run-id", "r1").code == 3
    # A home without a server: the database is another one, and `db status` looks at both.
    env = {"DATABASE_URL": fresh_database, "OASFLOW_HOME": str(tmp_path / "home")}
    assert loaded(("psycopg", *ENGINE), *arguments, code=code, **env) == {"psycopg"}


def test_a_refusal_loads_no_engine_either(here: Any, flow_file: Any, fresh_database: str) -> None:
    path = flow_file(flow_of(start(), gate("ok"), api("work", data={"k": "{{CRM_KEY}}"}), end()))
    begun = here("run", path, "--simulate", "--env", "CRM_KEY=x", "--run-id", "r1")
    assert begun.code == 3
    assert not loaded(ENGINE, "approve", "r1", code=2, DATABASE_URL=fresh_database)


def test_the_tests_above_would_see_an_engine(
    here: Any, flow_file: Any, fresh_database: str
) -> None:
    """Their twin: a command that needs the engine loads it."""
    assert here("run", flow_file(), "--simulate", "--run-id", "r1").code == 3
    needed = loaded(("langgraph", "psycopg"), "approve", "r1", code=3, DATABASE_URL=fresh_database)
    assert needed == {"langgraph", "psycopg"}


def test_help_tells_the_exit_codes(oasflow: Oasflow) -> None:
    told = oasflow("--help").out
    for line in ("  0  done", "  3  the run waits at a gate", "130  interrupted"):
        assert line in told
    assert oasflow("run", "-h").code == 0


@pytest.fixture
def home() -> Iterator[str]:
    """A short folder for a local server of its own; sockets have short names."""
    name = tempfile.mkdtemp(prefix="oas", dir="/tmp")
    Path(name).chmod(0o755)
    yield name
    shutil.rmtree(name, ignore_errors=True)


def test_the_local_server_is_started_used_shown_and_stopped(
    oasflow: Oasflow, home: str, flow_file: Any
) -> None:
    local = Oasflow(oasflow.program, {k: v for k, v in os.environ.items() if k != "DATABASE_URL"})
    env = {"OASFLOW_HOME": home}
    try:
        before = local("db", "status", "--json", **env)
        assert (before.code, before.json["running"]) == (7, False)
        assert local("db", "url", **env).code == 7
        run = local("run", flow_file(), "--simulate", "--json", **env)
        assert run.code == 3
        assert "starting the local PostgreSQL server" in run.err
        assert local("db", "start", **env).code == 0
        hidden = local("db", "url", "--json", **env).json["url"]
        full = local("db", "url", "--show-password", **env).out.strip()
        password = (Path(home) / "postgres" / "control" / "password").read_text()
        assert "oasflow:***@" in hidden
        assert password not in hidden
        assert password in full
        listed = local("runs", "--db", full, "--json", **env).json["runs"]
        assert [one["id"] for one in listed] == [run.json["id"]]
        status = local("db", "status", **env)
        assert (status.code, password in status.out) == (0, False)
        assert "tables: up to date" in status.out
        assert "the role 'oasflow' cannot change what is append-only" in status.out
        owner = local("db", "url", "--owner", **env).out.strip()
        assert "oasflow_owner:***@" in owner
        secret = local("db", "url", "--owner", "--show-password", "--json", **env).json["url"]
        seen = local("db", "status", "--json", **env, DATABASE_URL=secret).json["tables"]
        assert seen["could_rewrite"][0].startswith("owns attachment_pieces, context_finalizes")
        again = local("db", "migrate", "--json", **env)
        assert (again.code, again.json["applied"]) == (0, [])
        assert (again.json["role"], again.json["granted"]) == ("oasflow_owner", ["oasflow"])
        refused = local("db", "migrate", "--db", full, "--json", **env)
        assert (refused.code, refused.json["error"]["code"]) == (7, "store_error")
        assert "'oasflow_owner' owns its tables" in refused.json["error"]["message"]
        written = local("db", "migrate", "--app-role", "other", "--print-sql", **env).out
        assert 'on oasflow.decisions to "other";' in written
    finally:
        told = local("db", "stop", **env).out
        stopped = local("db", "stop", "--json", **env)
    assert told.startswith("stopped\n")
    assert local("db", "stop", **env).out.startswith("not running\n")
    assert (stopped.code, stopped.json["running"]) == (0, False)
    assert set(stopped.json) == {"running", "folder", "version", "pid", "url"}
