"""The promise of this project, kept in front of you: runs, gates, a kill, a reject, an audit.

In: nothing.  Out: a story of at most 40 lines on stdout; exit code 0 when every sentence of it was
found to be true, 1 with what was not.

    ./scripts/demo                       everything in a temporary folder that is removed again
    OASFLOW_HOME=~/demo ./scripts/demo   the data stay there, and its database goes on running

Nothing is called outside this machine: the platform of the flow is simulated.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import psycopg

from cinatra_sdk import FlowError, Gate, Run, RunStore, SimulatedPlatform
from cinatra_sdk.local_postgres import LocalServer, LocalServerError
from oas_compiler import compile_flow

ROOT = Path(__file__).resolve().parents[1]
AGENT = "examples/newsletter-agent"
STUBS = f"{AGENT}/stubs.yaml"
TOPIC = "Bees on the roof"
OASFLOW = Path(sys.executable).with_name("oasflow")
PATIENCE = 600.0
"""Seconds that one process of the story may take."""
WAITS, COMPLETED, REJECTED = 3, 0, 5
"""Documented exit codes of `oasflow`."""


class NotAsTold(Exception):
    """A sentence of the story is not true."""


def require(held: bool, told: str) -> None:
    """Raises: `NotAsTold`."""
    if not held:
        raise NotAsTold(told)


# ------------------------------------------------------------------------ the stage


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Where the story happens."""

    folder: Path
    """For the records of the calls; removed at the end."""
    server: LocalServer
    store: RunStore
    environment: dict[str, str]
    """Of every process of the story."""
    kept: bool
    """Whether the runs are still there afterwards."""


@contextlib.contextmanager
def stage() -> Iterator[Stage]:
    """A folder, a running server and an open store; all of it is taken down but what is kept."""
    folder = Path(tempfile.mkdtemp(prefix="oas-", suffix=".demo"))
    # Where root has to run the server as another user, that one must be able to pass through.
    folder.chmod(0o711)
    wanted = os.environ.get("OASFLOW_HOME")
    home = Path(wanted).expanduser().resolve() if wanted else folder
    server = LocalServer(home / "postgres")
    try:
        server.start()
        with RunStore.open(server.dsn()) as store:
            yield Stage(
                folder=folder,
                server=server,
                store=store,
                environment=_environment(home),
                kept=bool(wanted),
            )
    finally:
        if not wanted:
            server.stop()
            # Not always in the folder itself: see docs/local-postgres.md, "As root".
            shutil.rmtree(server.base, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


def _environment(home: Path) -> dict[str, str]:
    """Ours, without what would lead the story to another database or a real platform."""
    ours = {k: v for k, v in os.environ.items() if not k.startswith("CINATRA_")}
    ours.pop("DATABASE_URL", None)
    return {**ours, "OASFLOW_HOME": str(home)}


# ------------------------------------------------------------------------ the processes


def park(run_id: str, record: str) -> None:
    """Process A: start the run, say where it waits, and stay until somebody ends this process."""
    made = SimulatedPlatform(ROOT / STUBS, record=record)
    flow = compile_flow(ROOT / AGENT, platform=made)
    with RunStore.open() as store:
        run = store.start(flow, {"topic": TOPIC}, run_id)
        print(run.status, flush=True)
        while True:
            signal.pause()


def start_and_kill(on: Stage, run_id: str, record: Path) -> int:
    """Process A from start to SIGKILL while it is parked; its process id."""
    command = [sys.executable, str(Path(__file__).resolve()), "park", run_id, str(record)]
    process = subprocess.Popen(  # noqa: S603 - our own program
        command, cwd=ROOT, env=on.environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    hanging = threading.Timer(PATIENCE, process.kill)
    hanging.start()
    try:
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        alive = process.poll() is None
    finally:
        hanging.cancel()
        end(process)
        _, complaint = process.communicate()
    require(said == "waiting" and alive, f"process A parks its run; it said {said!r}\n{complaint}")
    require(process.returncode == -signal.SIGKILL, "process A was ended by SIGKILL")
    return process.pid


def end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)


def oasflow(on: Stage, *arguments: str, ends_with: int) -> None:
    """One `oasflow` command in a process of its own."""
    done = subprocess.run(  # noqa: S603 - our own program
        [str(OASFLOW), *arguments], cwd=ROOT, env=on.environment, text=True, check=False,
        capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE,
    )  # fmt: skip
    require(
        done.returncode == ends_with,
        f"`oasflow {shlex.join(arguments)}` ends with exit code {ends_with}; "
        f"it ended with {done.returncode}\n{done.stdout}{done.stderr}",
    )


# ------------------------------------------------------------------------ what is measured


def calls_in(record: Path) -> list[str]:
    """The nodes that called the platform, in order, as the platform wrote them down."""
    return [json.loads(line)["node"] for line in record.read_text(encoding="utf-8").splitlines()]


def waiting_gate(on: Stage, run_id: str, node: str) -> Gate:
    """The one gate at which the run waits, according to Postgres."""
    run = on.store.get(run_id)
    names = [gate.node for gate in run.waiting]
    require(
        run.status == "waiting" and names == [node],
        f"run {run_id} waits at {node}; it is {run.status}, waiting at {names}",
    )
    return run.waiting[0]


def ended(on: Stage, run_id: str, status: str) -> Run:
    run = on.store.get(run_id)
    require(run.status == status, f"run {run_id} is {status}; it is {run.status}")
    return run


def decided(on: Stage, run_id: str, expected: Sequence[tuple[str, str, str]]) -> list[str]:
    """The rows of the decision table, one line each; they must be the `expected` ones."""
    rows = on.store.decisions(run_id)
    found = [(row["gate_id"], row["kind"], row["decided_by"]) for row in rows]
    require(found == list(expected), f"the decisions are {expected}; they are {found}")
    return [
        f"{run_id:<11}{row['gate_id']:<14}{row['kind']:<10}{row['decided_by']:<5}"
        f"{row['decided_at'].astimezone():%Y-%m-%d %H:%M:%S}  {row['reason']}"
        for row in rows
    ]


def tampering_refused(on: Stage, run_id: str) -> str:
    """What Postgres says even to the owner of the table who changes a decision behind our back."""
    change = "update oasflow.decisions set decided_by = 'eve' where run_id = %s"
    with psycopg.connect(on.server.owner_dsn(), autocommit=True) as connection:
        try:
            connection.execute(change, [run_id])
        except psycopg.errors.RestrictViolation as refusal:
            return refusal.diag.message_primary or ""
    raise NotAsTold("Postgres refuses a change of the decisions; it let one through")


def require_calls(record: Path, expected: Sequence[str], told: str) -> None:
    found = calls_in(record)
    require(found == list(expected), f"{told}; called were {', '.join(found) or 'none'}")


# ------------------------------------------------------------------------ the story


def story(on: Stage) -> None:
    begun = time.monotonic()
    chapter("1  The environment is ready")
    say(f"Python {platform.python_version()}, oasflow {version('oasflow')}")
    chapter("2  An embedded Postgres is started")
    status = on.server.status()
    require(status.running, "the embedded server runs")
    say(f"PostgreSQL {status.version}, process {status.pid}, in {on.server.base}")
    first, second = (f"bees-{uuid.uuid4().hex[:4]}" for _ in range(2))
    chapter(f"3  A run that three processes share   ({AGENT}, its HTTP calls simulated)")
    approved_run(on, first)
    chapter("4  A second run, rejected at the last gate")
    rejected_run(on, second)
    chapter("5  Who decided what, and when")
    review = ("review_draft", "approved", "ann")
    table = decided(on, first, [review, ("confirm_send", "approved", "ben")])
    table += decided(on, second, [review, ("confirm_send", "rejected", "ben")])
    say(dim(f"{'run':<11}{'gate':<14}{'decision':<10}{'by':<5}{'when':<21}why"))
    for row in table:
        say(row)
    say(f"an UPDATE of these rows is refused by Postgres: {tampering_refused(on, first)}")
    print()
    print(bold(f"Every sentence above was checked, in {time.monotonic() - begun:.1f} s."))
    try_next(on, first)


def approved_run(on: Stage, run_id: str) -> None:
    record = on.folder / "first.jsonl"
    pid = start_and_kill(on, run_id, record)
    gate = waiting_gate(on, run_id, "review_draft")
    process("A", f'starts run {run_id}, drafts "{gate.values["subject"]}"')
    say(f'           and waits at the gate "{gate.name}"')
    process("A", f"is killed with SIGKILL (process {pid}); in Postgres the run still waits")
    command(
        on,
        "B",
        ["approve", f"{run_id}/review_draft", "--as", "ann", "--reason", "reads well"],
        WAITS,
        record,
    )
    gate = waiting_gate(on, run_id, "confirm_send")
    say(f'           waits at the gate "{gate.name}", risk {gate.risk}')
    require_calls(record, ["write_draft"], "nothing is sent before the second gate")
    command(on, "C", ["approve", f"{run_id}/confirm_send", "--as", "ben"], COMPLETED, record)
    out = ended(on, run_id, "completed").outputs or {}
    say(f"           completed: {out['messageId']} to {out['recipientCount']} recipients")
    require_calls(record, ["write_draft", "send_newsletter"], "each call was made once")
    say("calls      write_draft, send_newsletter: each once")


def rejected_run(on: Stage, run_id: str) -> None:
    record = on.folder / "second.jsonl"
    start = ["run", AGENT, "--simulate", "--set", f"topic={TOPIC}", "--detach", "--run-id", run_id]
    start += ["--stubs", STUBS, "--record", str(record)]
    oasflow(on, *start, ends_with=WAITS)
    waiting_gate(on, run_id, "review_draft")
    process("D", f"$ oasflow run {AGENT} --simulate --detach --run-id {run_id} ...")
    command(
        on,
        "E",
        ["approve", f"{run_id}/review_draft", "--as", "ann", "--reason", "fine"],
        WAITS,
        record,
    )
    waiting_gate(on, run_id, "confirm_send")
    reject = ["reject", run_id, "--as", "ben", "--reason", "wrong audience"]
    command(on, "F", reject, REJECTED, record)
    say(f"           {ended(on, run_id, 'rejected').status}")
    require_calls(record, ["write_draft"], "send_newsletter was never called")
    say("calls      write_draft: send_newsletter was never called")


def command(on: Stage, letter: str, arguments: list[str], ends_with: int, record: Path) -> None:
    """A command that drives a run on; what it calls is written to `record`, which is not shown."""
    oasflow(on, *arguments, "--record", str(record), ends_with=ends_with)
    process(letter, f"$ oasflow {shlex.join(arguments)}")


def try_next(on: Stage, run_id: str) -> None:
    """Three commands to copy."""
    programs = os.path.relpath(OASFLOW.parent, ROOT)
    second = (f"{programs}/oasflow draw examples/onboarding-agent", "a flow as Mermaid text")
    if on.kept:
        home = shlex.quote(on.environment["OASFLOW_HOME"])
        second = (f"OASFLOW_HOME={home} {programs}/oasflow show {run_id}", "the run, as it is kept")
    print("\nTry next")
    for line, why in (
        (f"{programs}/oasflow run {AGENT} --simulate", "the same, asking you"),
        second,
        (f"{programs}/python examples/tools-agent/run.py", "a flow inside your own program"),
    ):
        say(f"{line:<62}  {dim(why)}")


# ------------------------------------------------------------------------ printing


def paint(code: int, text: str) -> str:
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return f"\033[{code}m{text}\033[0m" if coloured else text


def bold(text: str) -> str:
    return paint(1, text)


def dim(text: str) -> str:
    return paint(2, text)


def chapter(text: str) -> None:
    print(bold(text), flush=True)


def say(text: str) -> None:
    print(f"   {text}", flush=True)


def process(letter: str, text: str) -> None:
    say(f"{paint(36, f'process {letter}')}  {text}")


def main(arguments: Sequence[str] = ()) -> int:
    if arguments and arguments[0] == "park":
        park(*arguments[1:])
    try:
        with stage() as made:
            story(made)
    except NotAsTold as error:
        print(f"demo: this is not true: {error}", file=sys.stderr)
    except (FlowError, LocalServerError, subprocess.TimeoutExpired) as error:
        print(f"demo: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever reads the story went away; the interpreter writes once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    else:
        return 0
    return 1


if __name__ == "__main__":
    # What is started is also taken down when somebody stops the demo from outside.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1:]))
