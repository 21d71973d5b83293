"""The demo: told in a real process, and caught when something in it is not so."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.local_postgres.supervisor import LocalServer
from tests.examples.agents import EXAMPLES, program

demo: Any = program("demo.py")


@pytest.fixture(scope="module")
def stage(shared_home: Path) -> Iterator[Any]:
    """What the story happens on, without the story."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OASFLOW_HOME", str(shared_home))
        with demo.stage() as made:
            yield made


def has_ended(pid: int, *, patience: float | None) -> bool:
    """Whether a process has ended, also where nobody has asked for its exit code yet.

    patience: seconds; None: as long as it takes.
    """
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], patience)[0])
    finally:
        os.close(handle)


def test_the_demo_tells_its_story_and_leaves_nothing_behind(home: Path) -> None:
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    # A database and a platform of the reader's own must take no part in it.
    env |= {"TMPDIR": str(home), "DATABASE_URL": "postgresql://nowhere.invalid/none"}
    env |= {"CINATRA_BASE_URL": "http://platform.invalid"}
    done = subprocess.run(
        [sys.executable, EXAMPLES / "demo.py"], env=env, cwd="/", text=True, check=False,
        stdin=subprocess.DEVNULL, capture_output=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) <= 40
    assert "\033" not in done.stdout
    told = re.sub(r"bees-[0-9a-f]{4}|process \d+", lambda at: at[0][:4], done.stdout)
    for sentence in (
        "process A  starts run bees",
        "process A  is killed with SIGKILL (proc); in Postgres the run still waits",
        "process B  $ oasflow approve bees/review_draft --as ann --reason 'reads well'",
        "process C  $ oasflow approve bees/confirm_send --as ben",
        "calls      write_draft, send_newsletter: each once",
        "process F  $ oasflow reject bees --as ben --reason 'wrong audience'",
        "calls      write_draft: send_newsletter was never called",
    ):
        assert sentence in told
    assert [line.split()[1:4] for line in lines if re.match(r" +bees-", line)] == [
        ["review_draft", "approved", "ann"],
        ["confirm_send", "approved", "ben"],
        ["review_draft", "approved", "ann"],
        ["confirm_send", "rejected", "ben"],
    ]
    assert len(lines[lines.index("Try next") + 1 :]) == 3
    assert list(home.iterdir()) == []
    (postgres,) = re.findall(r"PostgreSQL \d+, process (\d+)", done.stdout)
    if sys.platform == "linux":
        assert has_ended(int(postgres), patience=None)  # waits for the event
        assert not has_ended(os.getpid(), patience=0)  # control


@pytest.mark.long
def test_a_process_that_is_not_killed_is_caught_and_the_kept_database_runs_on(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OASFLOW_HOME", str(home))
    # The planted fault: process A is asked to leave, politely.
    monkeypatch.setattr(demo, "end", lambda process: process.send_signal(signal.SIGTERM))
    assert demo.main() == 1
    told = capsys.readouterr()
    assert told.err == "demo: this is not true: process A was ended by SIGKILL\n"
    assert "killed" not in told.out
    assert LocalServer(home / "postgres").status().running


@pytest.mark.long
def test_a_send_after_the_rejection_is_caught(
    stage: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = demo.calls_in
    # The planted fault: the platform's record holds a send that must not be there.
    monkeypatch.setattr(demo, "calls_in", lambda record: [*measured(record), "send_newsletter"])
    with pytest.raises(demo.NotAsTold) as caught:
        demo.rejected_run(stage, "bees-1")
    assert str(caught.value) == (
        "send_newsletter was never called; called were write_draft, send_newsletter"
    )
    assert "never called" not in capsys.readouterr().out
    # The same run, measured rightly, has the decisions that the story tells, and no others.
    rows = [("review_draft", "approved", "ann"), ("confirm_send", "rejected", "ben")]
    assert len(demo.decided(stage, "bees-1", rows)) == 2
    with pytest.raises(demo.NotAsTold, match="the decisions are"):
        demo.decided(stage, "bees-1", rows[:1])


def test_a_command_that_ends_otherwise_is_caught_with_its_own_words(stage: Any) -> None:
    with pytest.raises(demo.NotAsTold) as caught:
        demo.oasflow(stage, "show", "nowhere", ends_with=0)
    assert str(caught.value).startswith(
        "`oasflow show nowhere` ends with exit code 0; it ended with 2\n"
    )
    assert "no run begins with 'nowhere'" in str(caught.value)


@pytest.mark.long
def test_a_reader_who_goes_away_ends_the_story_without_a_word(home: Path) -> None:
    with subprocess.Popen(
        [sys.executable, EXAMPLES / "demo.py"], env={**os.environ, "TMPDIR": str(home)}, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as told:  # fmt: skip
        assert told.stdout is not None
        assert told.stderr is not None
        assert told.stdout.readline().startswith("1")
        told.stdout.close()
        assert told.stderr.read() == ""
    assert told.returncode == 141
    assert list(home.iterdir()) == []
