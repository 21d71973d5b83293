"""Every run is what its evidence makes of it: the examples, the public flows, and generated ones.

`OASFLOW_SEED` repeats the generated ones; the seed is printed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, Gate, Run, RunStore
from cinatra_sdk.outside.effects.effect import EffectResult
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.runs import replay
from cinatra_sdk.testing import sampled_inputs, simulation
from oas_compiler import CompileError, compile_flow
from tests.effort import spread, tries
from tests.examples.agents import host_of, tools_of
from tests.flow.random_flows import counting_tools, random_flow
from tests.flow.talking_flows import say_again, talking_flow
from tests.lower.test_corpus import ABSENT, CORPUS, FLOWS
from tests.sources import ROOT

SEED = int(os.environ.get("OASFLOW_SEED", random.SystemRandom().randrange(2**32)))
EXAMPLES = sorted(path.parents[1].name for path in ROOT.glob("examples/*/cinatra/oas.json"))
INPUTS: dict[str, dict[str, Any]] = {
    "tools-agent": {"order_id": "A-17"},
    "photo-agent": {"image_id": "img-7"},
}
"""What no sample fits: they name what is there."""
MOST = 60
"""Decisions of one run."""


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database, platform=SimulatedPlatform()) as opened:
        yield opened


def verify_at_each_stop(store: RunStore, flow: Any, inputs: Any, run_id: str, answer: Any) -> Run:
    """Raises: `AssertionError` where the evidence comes to something else than the run."""
    run = store.start(flow, inputs, run_id=run_id)
    for _ in range(MOST):
        assert store.verify(run_id, flow=flow).differences == (), run_id
        if run.status != "waiting":
            return run
        gate = run.waiting[0]
        run = store.answer(run_id, gate, Decision.of(answer(gate), by="ann"), flow=flow)
    return run


def give_example(gate: Gate) -> Any:
    return gate.example()


def verify_file(store: RunStore, folder: Path) -> None:
    own = host_of(folder.name).with_parts(tools=tools_of(folder.name))
    flow = compile_flow(folder, host=own)
    ready = compile_flow(folder, host=own.with_parts(platform=simulation(flow)))
    inputs = {**sampled_inputs(flow), **INPUTS.get(folder.name, {})}
    run = verify_at_each_stop(store, ready, inputs, folder.name, give_example)
    assert run.status == "completed", run.error


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(store: RunStore, name: str) -> None:
    verify_file(store, ROOT / "examples" / name)


@pytest.mark.parametrize(
    "name",
    spread(FLOWS, family=type, every=4)
    or [pytest.param("", marks=pytest.mark.skip(reason=ABSENT))],
)
def test_public_flows(store: RunStore, name: str) -> None:
    verify_file(store, CORPUS / name)


def make_random(seed: int) -> tuple[Any, Any]:
    """A flow and what a person says at its gates."""
    if seed % 3 == 0:
        return compile_flow(talking_flow(seed)), say_again
    chance = random.Random(seed)
    rejects = chance.randint(0, 12)
    asked = iter(range(MOST))
    flow = compile_flow(random_flow(seed), tools=counting_tools(), max_steps=40)
    return flow, lambda _gate: next(asked) != rejects


def test_generated_flows(store: RunStore) -> None:
    print(f"seed {SEED}")
    chance, endings = random.Random(SEED), set()
    for number in range(tries(10, 300)):
        seed = chance.randrange(10**6)
        try:
            flow, answer = make_random(seed)
        except CompileError:
            continue
        run = verify_at_each_stop(store, flow, {}, f"r{number}-{seed}", answer)
        endings.add(run.status)
    assert "completed" in endings, "the control: flows run"


def test_another_result_of_a_call_is_seen(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of all of these: evidence that is not the run's comes to something else."""
    told = replay.read_result

    def lie(kept: Any, usage: Any) -> EffectResult:
        changed = {name: f"not {value}" for name, value in kept["value"].items()}
        return told({**kept, "value": changed}, usage)

    folder = ROOT / "examples" / "newsletter-agent"
    monkeypatch.setattr(replay, "read_result", lie)
    with pytest.raises(AssertionError):
        verify_file(store, folder)
