"""Runs that outlive their processes: real processes, real kills, a real database."""

from __future__ import annotations

import http.server
import json
import os
import random
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from tests.effort import tries
from tests.flows import api, end, flow_node, flow_of, gate, port, start
from tests.store.crasher import crash_at
from tests.warm import FORKED, Process, begin

REPOSITORY = Path(__file__).resolve().parents[2]
OUTREACH = REPOSITORY.parent / "shared" / "corpus" / "cinatra" / "email-outreach-agent"


def worker(*args: str) -> Process:
    program = (sys.executable, "-m", "tests.store.worker")
    return begin("tests.store.worker:run", program, args, os.environ)


def said(process: Process) -> dict[str, Any]:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        process.wait()
        assert process.stderr is not None
        raise AssertionError(f"the worker said nothing: {process.stderr.read()}")
    answer: dict[str, Any] = json.loads(line)
    return answer


def close(process: Process) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.communicate()


def finish(*args: str) -> dict[str, Any]:
    process = worker(*args)
    try:
        return said(process)
    finally:
        process.communicate()


@pytest.mark.long
@pytest.mark.skipif(
    not OUTREACH.exists(), reason="the corpus of public flows is not beside the project"
)
def test_outreach_is_parked_killed_and_finished_by_others_with_each_call_made_once(
    fresh_database: str, tmp_path: Path
) -> None:
    record = tmp_path / "calls.jsonl"
    first = worker("start", fresh_database, str(record), "r1", str(OUTREACH))
    try:
        stand = said(first)
        assert (stand["status"], stand["gates"]) == ("waiting", ["setup_gate"])
    finally:
        close(first)
    assert first.returncode == -signal.SIGKILL

    answered = []
    while stand["status"] == "waiting":
        (waiting,) = stand["gates"]
        answered.append(waiting)
        stand = finish("answer", fresh_database, str(record), "r1", waiting)
    assert stand["status"] == "completed", stand["error"]
    assert answered == [
        "setup_gate",
        "recipients_flow/recipients-scope_gate",
        "recipients_flow/recipients-review_gate",
        "skills_flow/skills-recommend_gate",
        "context_offeringContext/ctx-offeringContext-context_select_gate",
        "drafts_flow/drafts-data_gate",
        "drafts_flow/drafts-approval_gate",
        "sender_flow/sender-approval_gate",
    ]
    calls = [json.loads(line) for line in record.read_text().splitlines()]
    assert Counter(call["path"] for call in calls) == {
        "context_setup": 1,
        "recipients_flow/recipients-generate": 1,
        "context_offeringContext/ctx-offeringContext-resolve_context": 1,
        "context_offeringContext/ctx-offeringContext-finalize_interactive": 1,
        "drafts_flow/drafts-draft": 1,
        "sender_flow/sender-send": 1,
    }
    with RunStore.open(fresh_database) as store:
        assert [row["decided_by"] for row in store.decisions("r1")] == ["worker"] * 8


class _Hanging(http.server.BaseHTTPRequestHandler):
    """Answers every call but the first to /api/slow, on which it hangs until the test is over."""

    calls: list[tuple[str, str]]
    entered: threading.Event
    release: threading.Event

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        key = self.headers["Idempotency-Key"]
        slow = self.path == "/api/slow"
        first = slow and not any(path == "/api/slow" for path, _key in self.calls)
        self.calls.append((self.path, key))
        if first:
            self.entered.set()
            self.release.wait(60)
            return
        body = b'{"done": "yes"}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        return


@pytest.fixture
def hanging() -> Iterator[Any]:
    class Handler(_Hanging):
        calls: list[tuple[str, str]] = []  # noqa: RUF012 - one list per test
        entered = threading.Event()
        release = threading.Event()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", Handler
    finally:
        Handler.release.set()
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_process_killed_inside_a_call_leaves_a_run_that_another_goes_on_with(
    fresh_database: str, tmp_path: Path, hanging: Any
) -> None:
    url, handler = hanging
    flow = flow_of(
        start(),
        api("fast", outputs=[port("done")]),
        api("slow", outputs=[port("done")]),
        gate("review"),
        end(),
    )
    file = tmp_path / "oas.json"
    file.write_text(json.dumps(flow))
    first = worker("start", fresh_database, url, "r1", str(file))
    try:
        assert handler.entered.wait(60)
    finally:
        close(first)
    with RunStore.open(fresh_database) as store:
        assert store.get("r1").status == "running"

    stand = finish("resume", fresh_database, "-", "r1", "-")
    assert (stand["status"], stand["gates"]) == ("waiting", ["review"])
    paths = [path for path, _key in handler.calls]
    assert paths == ["/api/fast", "/api/slow", "/api/slow"]
    keys = [key for path, key in handler.calls if path == "/api/slow"]
    assert keys[0] == keys[1]
    assert finish("answer", fresh_database, "-", "r1", "review")["status"] == "completed"
    assert len(handler.calls) == 3


def test_two_processes_that_answer_one_gate_make_one_decision_and_one_call(
    fresh_database: str, tmp_path: Path
) -> None:
    record = tmp_path / "calls.jsonl"
    flow = flow_of(start(), gate("review"), api("send", outputs=[port("sent")]), end())
    file = tmp_path / "oas.json"
    file.write_text(json.dumps(flow))
    first = worker("start", fresh_database, str(record), "r1", str(file))
    try:
        assert said(first)["gates"] == ["review"]
    finally:
        close(first)
    rivals = [worker("answer", fresh_database, str(record), "r1", "review") for _ in range(2)]
    outputs = [rival.communicate() for rival in rivals]
    with RunStore.open(fresh_database) as store:
        assert store.get("r1").status == "completed"
        assert len(store.decisions("r1")) == 1
    assert len(record.read_text().splitlines()) == 1
    winners = [out for out, _err in outputs if '"completed"' in out]
    assert len(winners) >= 1


def test_a_kill_at_every_checkpoint_write_loses_nothing(
    fresh_database: str, tmp_path: Path
) -> None:
    record = tmp_path / "calls.jsonl"
    inner = flow_of(
        start(port("x")), api("draft", outputs=[port("text")]), gate("check"), end(port("text")),
        id_="inner", edges=[("draft", "text", "end", "text")],
    )  # fmt: skip
    flow = flow_of(
        start(port("x", default="1")), flow_node("sub", inner), gate("confirm"),
        api("send", outputs=[port("sent")], risk="email_send"), end(port("sent")),
        edges=[("start", "x", "sub", "x"), ("send", "sent", "end", "sent")],
    )  # fmt: skip
    file = tmp_path / "oas.json"
    file.write_text(json.dumps(flow))
    # By default a seventh of the points, at either kind of write; all of them with the long tests.
    step = tries(7, 1)
    first = random.SystemRandom().randint(1, step)
    print(f"killed at point {first} and at each {step}. after it")
    points = 0
    for point in range(first, 200, step):
        run_id = f"r{point}"
        # Forked from a server that has imported everything and holds no connection.
        child = FORKED.Process(
            target=crash_at, args=(point, fresh_database, str(record), run_id, str(file))
        )
        child.start()
        child.join()
        assert child.exitcode in (0, -signal.SIGKILL)
        if child.exitcode == 0:
            break
        points += 1
        with RunStore.open(fresh_database, record=record) as store:
            _finish_here(store, run_id)
            run = store.get(run_id)
            assert run.status == "completed", (point, run)
            kinds = [row["gate_id"] for row in store.decisions(run_id)]
            assert sorted(kinds) == ["confirm", "sub/check"], point
    assert points > 0
    assert point > 20
    by_run: dict[str, list[str]] = {}
    for line in record.read_text().splitlines():
        call = json.loads(line)
        by_run.setdefault(call["run_id"], []).append(call["idempotency_key"])
    for run_id, keys in by_run.items():
        # A call may be repeated by the crash between its answer and its checkpoint, under its key.
        assert len(set(keys)) == 2, run_id
        assert len(keys) <= 3, run_id


@pytest.mark.long
@pytest.mark.skipif(
    not OUTREACH.exists(), reason="the corpus of public flows is not beside the project"
)
def test_outreach_survives_kills_at_random_writes_one_after_another(
    fresh_database: str, tmp_path: Path
) -> None:
    """Each run is killed once at a random write, then gone on with by this process."""
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    record = tmp_path / "calls.jsonl"
    killed = 0
    for number in range(60):
        run_id = f"k{number}"
        target = (dice.randrange(1, 110), fresh_database, str(record), run_id, str(OUTREACH))
        child = FORKED.Process(target=crash_at, args=target)
        child.start()
        child.join()
        killed += child.exitcode == -signal.SIGKILL
        with RunStore.open(fresh_database, record=record) as store:
            if store.get(run_id).status != "completed":
                _finish_here(store, run_id)
            assert store.get(run_id).status == "completed", (seed, number)
            decided = [row["gate_id"] for row in store.decisions(run_id)]
            assert len(decided) == len(set(decided)) == 8, (seed, number)
    assert killed >= 30, seed
    keys: dict[str, Counter[str]] = {}
    for line in record.read_text().splitlines():
        call = json.loads(line)
        keys.setdefault(call["run_id"], Counter())[call["idempotency_key"]] += 1
    for run_id, counted in keys.items():
        # Six calls, at most one of them made again by the one kill, under its key.
        assert len(counted) == 6, (seed, run_id)
        assert sum(counted.values()) <= 7, (seed, run_id)


def _finish_here(store: RunStore, run_id: str) -> None:
    run = store.resume(run_id)
    while run.waiting:
        asked = run.waiting[0]
        run = store.answer(run_id, asked.id, Decision.approve(by="test", value=asked.example()))


def test_the_worker_of_these_tests_can_fail(fresh_database: str) -> None:
    # Control: an answer to a run that is not there is no JSON line.
    process = worker("resume", fresh_database, "-", "nowhere", "-")
    try:
        with pytest.raises(AssertionError, match="there is no run 'nowhere'"):
            said(process)
    finally:
        close(process)
