"""A worker killed at everything that it does to the world, once each, and a run that ends right.

For every example, the largest public flow, and three gates beside each other; approved and rejected.
"""

from __future__ import annotations

import json
import random
import signal
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import RunStore
from cinatra_sdk.errors import RunNotFound
from cinatra_sdk.flow.plan.frame import Frame
from oas_compiler import Flow
from tests.agents.agent_flows import TEXT, agent, agent_flow
from tests.effort import tries
from tests.flow.containers import checked_item, parallel
from tests.flows import api, end, flow_of, gate, node, port, start
from tests.store.work.killed import (
    BROKEN,
    MOST,
    STEPS,
    drive_until_killed,
    go_to_the_end,
    load,
    store_of,
)
from tests.warm import FORKED

ROOT = Path(__file__).resolve().parents[3]
OUTREACH = ROOT.parent / "shared" / "corpus" / "cinatra" / "email-outreach-agent"
EXAMPLES = sorted(file.parent.parent for file in (ROOT / "examples").glob("*/cinatra/oas.json"))


def three_gates() -> dict[str, Any]:
    """Three flows beside each other: a call, a gate, a call."""
    items = []
    for number in range(3):
        item = checked_item(id_=f"item{number}")
        renamed = json.dumps(item).replace('"y"', f'"y{number}"')
        items.append(json.loads(renamed))
    both = parallel(*items)
    outputs = [port(f"y{number}") for number in range(3)]
    return flow_of(
        start(port("x", default="a")), both, end(*outputs),
        edges=[("start", "x", both["id"], "x"), *((both["id"], f"y{n}", "end", f"y{n}") for n in range(3))],
    )  # fmt: skip


@dataclass(frozen=True)
class Story:
    """What a run comes to when nobody kills its worker."""

    status: str
    outputs: Any
    rejected_at: str
    decided: frozenset[str]
    calls: Counter[str]
    """What was called, without keys."""


def tell_story(store: RunStore, run_id: str, calls: Path, keys: set[str]) -> Story:
    run = store.get(run_id)
    made: dict[str, str] = {}
    for line in calls.read_text(encoding="utf-8").splitlines() if calls.exists() else ():
        call = json.loads(line)
        if call["run"] in {run_id, ""} and call["key"] not in keys:
            what = json.dumps(call["what"]).replace(run_id, "RUN")
            assert made.setdefault(call["key"], what) == what, "one key, two requests"
    keys.update(made)
    decisions = store.decisions(run_id)
    ids = [row["gate_id"] for row in decisions]
    assert len(ids) == len(set(ids)), "a gate was decided twice"
    numbers = [event.seq for event in store.events(run_id)]
    assert numbers == list(range(1, len(numbers) + 1)), "a number is missing among the events"
    rejected = next((row["gate_id"] for row in decisions if row["kind"] == "rejected"), "")
    return Story(run.status, run.outputs, rejected, frozenset(ids), Counter(made.values()))


def find_kill_points(
    dsn: str, folder: Path, source: Path, rejects: str, step: int, *, first: int | None = None
) -> tuple[int, Story]:
    """Kill a worker at each `step`-th point from the `first` on, go on here, and compare.

    first: one that is drawn, and printed, where it is not given.
    Gives the number of points, rounded up to the one before which the run ended by itself.
    """
    first = first or random.SystemRandom().randint(1, step)
    print(f"killed at point {first} and at each {step}. after it")
    calls, mark = folder / "calls", "r" if rejects else "a"
    flow, keys = load(str(source), str(calls)), set[str]()
    killed = reached = 0
    with store_of(dsn, flow) as store:
        name = f"{mark}-whole"
        go_to_the_end(store, flow, name, rejects)
        expected = tell_story(store, name, calls, keys)
        assert expected.status == ("rejected" if rejects else "completed")
        for point in range(first, MOST, step):
            run_id = f"{mark}-{point}"
            child = FORKED.Process(
                target=drive_until_killed,
                args=(point, dsn, str(calls), run_id, str(source), rejects),
            )
            child.start()
            child.join()
            assert child.exitcode in (0, -signal.SIGKILL), (point, child.exitcode)
            go_to_the_end(store, flow, run_id, rejects)
            story = tell_story(store, run_id, calls, keys)
            if rejects:
                # Another gate may have been decided, and not gone on from, when the reject came.
                assert story.calls <= expected.calls, (point, story)
                story = replace(story, calls=expected.calls)
            assert story == expected, point
            if child.exitcode == 0:
                reached = point - 1
                break
            killed += 1
    assert killed > 0, "the worker was never killed"
    print(f"killed {killed} times, at points up to {reached}")
    return reached, expected


def _write(folder: Path, flow: dict[str, Any]) -> Path:
    file = folder / "oas.json"
    file.write_text(json.dumps(flow), encoding="utf-8")
    return file


def test_three_gates_beside_each_other_end_right_wherever_their_worker_is_killed(
    fresh_database: str, tmp_path: Path
) -> None:
    step = tries(41, 1)
    reached, story = find_kill_points(fresh_database, tmp_path, _write(tmp_path, three_gates()), "", step)  # fmt: skip
    assert reached >= 60
    assert len(story.decided) == 3, story
    assert sum(story.calls.values()) == 6


def test_nothing_is_sent_after_a_reject_wherever_the_worker_is_killed(
    fresh_database: str, tmp_path: Path
) -> None:
    step = tries(41, 1)
    file = _write(tmp_path, three_gates())
    reached, story = find_kill_points(fresh_database, tmp_path, file, "both[1]/ask0", step)
    assert reached >= 40
    assert story.rejected_at
    assert sum(story.calls.values()) < 6


def a_caught_failure() -> dict[str, Any]:
    """Inside: a gate, a call, a call that fails; afterwards: a call."""
    inside = flow_of(
        start(), gate("ask"), api("before"), api(BROKEN), end(port("y", default="none")),
        id_="inside", agentspec_version="26.1.2",
    )  # fmt: skip
    catches = node("CatchExceptionNode", "try", subflow=inside)
    return flow_of(
        start(), catches, api("after"), end(port("y")),
        routes=[
            ("start", None, "try"), ("try", "next", "end"),
            ("try", "caught_exception_branch", "after"), ("after", None, "end"),
        ],
        edges=[("try", "y", "end", "y")],
        agentspec_version="26.1.2",
    )  # fmt: skip


@pytest.mark.parametrize("rejects", ["", "try/ask"], ids=["approved", "rejected"])
def test_a_caught_failure_ends_right_wherever_its_worker_is_killed(
    fresh_database: str, tmp_path: Path, rejects: str
) -> None:
    step = tries(15, 1)
    file = _write(tmp_path, a_caught_failure())
    reached, story = find_kill_points(fresh_database, tmp_path, file, rejects, step)
    assert reached >= (10 if rejects else 20)
    assert story.outputs == (None if rejects else {"y": "none"})
    made = [json.loads(call)[1].rpartition("/")[2] for call in story.calls]
    assert sorted(made) == ([] if rejects else ["after", "before"])


def an_agent() -> dict[str, Any]:
    """An agent of twelve steps: ten searches, and one message that a person confirms."""

    def remote(name: str, given: str, **more: Any) -> dict[str, Any]:
        url = f"https://api.example.com/{name}"
        return {
            "component_type": "RemoteTool", "id": f"{name}-tool", "name": name, "url": url,
            "http_method": "POST", "data": {given: f"{{{{ {given} }}}}"},
            "inputs": [port(given)], "outputs": [port(f"{name}ed")], **more,
        }  # fmt: skip

    own = agent(
        remote("search", "query"), remote("send", "to", requires_confirmation=True), outputs=TEXT
    )
    return agent_flow({**own, "system_prompt": "Work.", "inputs": []}, TEXT)


@pytest.mark.parametrize("rejects", ["", "work/send"], ids=["approved", "rejected"])
def test_an_agent_of_twelve_steps_ends_right_wherever_its_worker_is_killed(
    fresh_database: str, tmp_path: Path, rejects: str
) -> None:
    step = tries(47, 1)
    file = _write(tmp_path, an_agent())
    reached, story = find_kill_points(fresh_database, tmp_path, file, rejects, step)
    assert reached >= (60 if rejects else 120)
    made = Counter(json.loads(call)[1].rpartition("/")[2] for call in story.calls.elements())
    assert made == ({"gpt-5": 6, "search": 5} if rejects else {"gpt-5": STEPS, "search": 10, "send": 1})  # fmt: skip
    # The question whose answer was being stored may be asked again, under its own key; no other.
    asked = [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()]
    times = Counter(call["run"] for call in asked if call["what"][0] == "MODEL")
    assert max(times.values()) <= made["gpt-5"] + 1


@pytest.mark.long
@pytest.mark.parametrize("source", EXAMPLES, ids=lambda source: source.name)
def test_an_example_ends_right_wherever_its_worker_is_killed(
    fresh_database: str, tmp_path: Path, source: Path
) -> None:
    reached, _ = find_kill_points(fresh_database, tmp_path, source, "", 1)
    assert reached >= 10


@pytest.mark.long
@pytest.mark.skipif(
    not OUTREACH.exists(), reason="the corpus of public flows is not beside the project"
)
@pytest.mark.parametrize("what", ["approved", "rejected"])
def test_outreach_ends_right_wherever_its_worker_is_killed(
    fresh_database: str, tmp_path: Path, what: str
) -> None:
    rejects = ""
    if what == "rejected":
        flow: Flow = load(str(OUTREACH), str(tmp_path / "none"))
        with store_of(fresh_database, flow) as store:
            go_to_the_end(store, flow, "probe", "")
            decided = [row["gate_id"] for row in store.decisions("probe")]
        rejects = decided[-1]  # the last gate before the messages are sent
    reached, story = find_kill_points(fresh_database, tmp_path, OUTREACH, rejects, 1)
    assert reached >= 150
    assert story.status == ("rejected" if rejects else "completed")


def test_a_call_without_a_key_of_its_own_is_found(
    fresh_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Control: whoever goes on makes the call that was cut off again, under another key.
    original = Frame.effect_key
    monkeypatch.setattr(Frame, "effect_key", lambda frame, state: original(frame, state)[::-1])
    file = _write(tmp_path, three_gates())
    with pytest.raises(AssertionError, match="assert Story"):
        find_kill_points(fresh_database, tmp_path, file, "", 5, first=1)


def test_a_run_that_was_never_created_is_none(fresh_database: str, tmp_path: Path) -> None:
    # Control: the first point is before anything is stored.
    file = _write(tmp_path, three_gates())
    child = FORKED.Process(
        target=drive_until_killed,
        args=(1, fresh_database, str(tmp_path / "calls"), "r1", str(file), ""),
    )
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    flow = load(str(file), str(tmp_path / "calls"))
    with store_of(fresh_database, flow) as store, pytest.raises(RunNotFound):
        store.get("r1")
