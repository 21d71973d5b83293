"""Whatever is in a file, `check` answers with findings, and nothing else leaves it.

The seed is printed; `OASFLOW_SEED` repeats a run, `OASFLOW_MUTANTS` sets how many (100; 300 with the long tests).
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from oas_compiler import check
from tests.effort import tries
from tests.mutants.campaign import Campaign
from tests.mutants.hostile import DOCUMENTS, hostile
from tests.mutants.judge import judge, signature
from tests.mutants.mutations import Mutant, mutant
from tests.mutants.runner import Runner
from tests.mutants.seeds import seeds

SEED = int(os.environ.get("OASFLOW_SEED", random.SystemRandom().randrange(2**32)))
COUNT = int(os.environ.get("OASFLOW_MUTANTS", tries(100, 300)))
KINDS = {
    f"{level} {kind}"
    for level in ("json", "text")
    for kind in ("delete", "duplicate", "retype", "rename", "reorder", "truncate")
}


def test_no_mutant_gets_anything_but_findings_with_a_card_and_a_place(tmp_path: Path):
    print(f"seed {SEED}, {COUNT} mutants")
    flaws: dict[str, str] = {}
    read = refused = 0
    for number in range(COUNT):
        verdict = judge(mutant(SEED, number), check, tmp_path / "agent", thorough=number % 4 == 0)
        read += verdict.read
        refused += not verdict.read
        flaws |= {signature(problem): f"number {number}: {problem}" for problem in verdict.problems}
    assert flaws == {}
    # a harness that breaks only the text, or never the text, would prove little
    assert min(read, refused) > COUNT / 20


def test_a_mutant_is_the_same_whenever_it_is_made():
    assert [mutant(SEED, number) for number in range(30)] == [
        mutant(SEED, number) for number in range(30)
    ]
    assert mutant(1, 0) != mutant(2, 0)


@pytest.fixture(scope="module")
def many() -> list[Mutant]:
    return [mutant(5, number) for number in range(1_500)]


def test_every_kind_of_change_is_made_to_every_kind_of_seed(many: list[Mutant]):
    made = many
    kinds = Counter(found.kind for found in made)
    assert set(kinds) == KINDS | {"json transplant"}
    assert min(kinds.values()) > 40
    assert {found.given for found in made} == {found.given for found in seeds()}
    originals = {(seed.name, seed.given): dict(seed.files) for seed in seeds()}
    changed = [found for found in made if originals.get((found.seed, found.given)) != found.files]
    assert len(changed) > 1_300


def test_files_beside_the_flow_are_broken_too(many: list[Mutant]):
    made = [found for found in many if found.given == "folder"]
    originals = {seed.name: seed.files for seed in seeds() if seed.given == "folder"}
    broken = Counter(
        name
        for found in made
        for name, raw in found.files.items()
        if originals[found.seed][name] != raw
    )
    assert broken["cinatra/oas.json"] > 50
    assert broken["package.json"] > 50
    assert broken["SKILL.md"] > 0


@pytest.mark.parametrize("name", ["64 deep unions", "flows that run twice"])
def test_a_hostile_document_gets_findings_only(name: str, tmp_path: Path):
    (made,) = (found for label, found in hostile() if label == name)
    assert judge(made, check, tmp_path / "agent").problems == ()
    assert name in DOCUMENTS


@pytest.mark.long
def test_ten_thousand_mutants_stay_within_two_seconds_and_256_megabytes(tmp_path: Path):
    print(f"seed {SEED}")
    found = Campaign(seed=SEED, count=10_000, failures=tmp_path).run(jobs=2)
    print(found.summary())
    assert found.failed == {}
    assert found.kinds.total() == 10_000


@pytest.mark.long
def test_hostile_documents_stay_within_a_bound_of_time_and_256_megabytes():
    """Processors differ: the bound is what 30,000 harmless values take in this process, 40 times."""
    flaws: dict[str, tuple[str, ...]] = {}
    for name, made in hostile():
        with Runner(times=40) as runner:
            answer = runner.given(made)
        print(f"{name}: {answer.seconds:.2f} s, {answer.grown >> 20} MiB")
        if answer.problems:
            flaws[name] = answer.problems[:3]
    assert flaws == {}
