"""The harness can fail: each stand-in that breaks one promise is seen, under its own name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.flows import api, end, flow_of, gate, port, start
from tests.mutants import __main__ as command
from tests.mutants import controls
from tests.mutants.campaign import Campaign, repeat
from tests.mutants.judge import judge, signature
from tests.mutants.minimise import minimise
from tests.mutants.mutations import Mutant
from tests.mutants.runner import Answer, Runner

BROKEN = flow_of(start(port("topic")), gate("ask"), api("call"), end())
BROKEN["$referenced_components"]["ask"]["name"] = ""
SOUND = flow_of(start(port("topic")), gate("ask"), api("call"), end())


def made(flow: object) -> Mutant:
    raw = json.dumps(flow, indent=1).encode()
    return Mutant(kind="given", seed="given", files={"oas.json": raw}, given="bytes")


def asked(control: str, flow: object, **limits: float) -> Answer:
    memory = 48 * 1024 * 1024
    with Runner(check=f"tests.mutants.controls:{control}", memory=memory, **limits) as runner:
        return runner.given(made(flow))


@pytest.mark.parametrize(
    ("control", "problem"),
    [
        ("raises", "raises: LookupError in controls.py"),
        ("recurses", "raises: RecursionError in controls.py"),
        ("warns", "raises: FutureWarning in controls.py"),
        ("loops", "takes too long"),
        ("swallows", "takes too long"),
        ("sleeps", "takes too long"),
        ("is_stuck", "the worker is stuck"),
        ("dies", "the worker died"),
        ("hoards", "takes too much memory"),
        ("takes_all", "raises: MemoryError in controls.py"),
        ("points_outside", "OAS040 stands outside of the text"),
        ("has_no_place", "OAS040 has no line though the text is known"),
        ("leads_nowhere", "OAS040 has a pointer that leads nowhere"),
        ("says_too_much", "OAS040 has a message that is too long"),
        ("has_no_card", "OAS999 has no card"),
    ],
)
def test_a_rule_that_breaks_a_promise_is_seen(control: str, problem: str):
    takes_time = control in {"loops", "swallows", "sleeps"}
    answer = asked(control, BROKEN, seconds=0.1 if takes_time else 20, silence=4)
    assert any(signature(found).startswith(problem) for found in answer.problems), answer.problems


@pytest.mark.parametrize("control", ["raises", "hoards"])
def test_the_same_rule_passes_where_the_mutant_does_not_provoke_it(control: str):
    assert asked(control, SOUND, silence=30).problems == ()


def test_a_check_that_says_nothing_about_an_unreadable_document_is_seen(tmp_path: Path):
    cut = Mutant(kind="given", seed="given", files={"oas.json": b'{"a"'}, given="bytes")
    assert [signature(p) for p in judge(cut, controls.reads_nothing, tmp_path).problems] == [
        "unread"
    ]
    assert judge(cut, controls.raises, tmp_path).problems == ()


def test_a_worker_that_died_is_replaced_for_the_next_mutant():
    with Runner(check="tests.mutants.controls:dies") as runner:
        assert signature(runner.given(made(BROKEN)).problems[0]) == "the worker died"
        assert runner.given(made(SOUND)).problems == ()


@pytest.mark.long
def test_a_campaign_keeps_the_smallest_mutant_that_fails_and_it_fails_again(tmp_path: Path):
    control = "tests.mutants.controls:raises"
    found = Campaign(seed=4, count=150, check=control, failures=tmp_path).run(jobs=1)
    (name,) = (name for name in found.failed if name.startswith("raises: LookupError"))
    kept = found.kept[name]
    assert "LookupError" in found.summary()
    assert sum(len(path.read_bytes()) for path in kept.rglob("*.json")) < 120
    assert "LookupError" in kept.with_suffix(".txt").read_text(encoding="utf-8")
    assert repeat(kept, check=control) == 1
    assert repeat(kept, check="oas_compiler:check") == 0


@pytest.mark.long
def test_the_command_ends_with_one_when_a_mutant_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    options = ["--count", "60", "--seed", "3", "--jobs", "1", "--failures", str(tmp_path)]
    assert command.main([*options, "--check", "tests.mutants.controls:has_no_card"]) == 1
    shown = capsys.readouterr().out
    assert "seed 3, 60 mutants" in shown
    assert "OAS999 has no card" in shown


def test_minimising_keeps_what_makes_it_fail_and_nothing_else():
    def fails(mutant: Mutant) -> bool:
        return b"needle" in mutant.files["oas.json"]

    hay = {"a": [1, 2, {"b": "needle", "c": ["straw"] * 9}], "d": {"e": "straw"}}
    assert minimise(made(hay), fails).files["oas.json"] == b"needle"
