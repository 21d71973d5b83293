"""Many mutants, shared among workers: what came of them, and files of those that failed.

Campaign(seed=7, count=10000).run(jobs=2).summary()
repeat(Path("…/0042"))      judges a kept mutant again
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.mutants.judge import signature, write
from tests.mutants.minimise import minimise
from tests.mutants.mutations import Mutant, mutant
from tests.mutants.runner import MEMORY, SECONDS, Answer, Runner
from tests.mutants.seeds import Given

THOROUGH: Final = 4
"""One mutant in so many is also compiled and written out as reports."""


@dataclass(kw_only=True)
class Outcome:
    """Everything that a campaign saw."""

    kinds: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    read: int = 0
    slowest: tuple[float, int] = (0.0, -1)
    """Seconds and number of the mutant."""
    largest: tuple[int, int] = (0, -1)
    """Bytes and number of the mutant."""
    failed: dict[str, list[int]] = field(default_factory=dict)
    """Numbers of the mutants, by what is wrong with them."""
    examples: dict[str, str] = field(default_factory=dict)
    kept: dict[str, Path] = field(default_factory=dict)

    def add(self, number: int, answer: Answer) -> None:
        self.kinds[answer.kind] += 1
        self.codes.update(answer.codes)
        self.read += answer.read
        self.slowest = max(self.slowest, (answer.seconds, number))
        self.largest = max(self.largest, (answer.grown, number))
        for problem in answer.problems:
            self.failed.setdefault(signature(problem), []).append(number)
            self.examples.setdefault(signature(problem), problem)

    def summary(self) -> str:
        """For people: counts by kind and by code, the extremes, what failed."""
        lines = [
            "mutants by kind    " + _counts(self.kinds),
            "findings by code   " + _counts(self.codes),
            f"documents that could be read: {self.read} of {self.kinds.total()}",
            f"slowest: {self.slowest[0]:.3f} s (number {self.slowest[1]})",
            f"most memory: {self.largest[0] / 2**20:.1f} MiB (number {self.largest[1]})",
        ]
        for name, numbers in sorted(self.failed.items(), key=lambda item: -len(item[1])):
            lines.append(f"FAILED {len(numbers)} times, first number {numbers[0]}: {name}")
            lines.append(f"    {self.examples[name]}")
            if name in self.kept:
                lines.append(f"    smallest: {self.kept[name]}")
        lines.append("no mutant failed" if not self.failed else f"{len(self.failed)} flaws")
        return "\n".join(lines)


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counter.items()))


@dataclass(frozen=True, kw_only=True)
class Campaign:
    seed: int
    count: int
    check: str = "oas_compiler:check"
    seconds: float = SECONDS
    memory: int = MEMORY
    failures: Path | None = None
    """Where mutants that failed are kept; `None` keeps none."""

    def run(self, *, jobs: int) -> Outcome:
        found = Outcome()
        numbers = iter(range(self.count))
        with ThreadPoolExecutor(jobs) as pool:
            parts = pool.map(lambda _: list(self._work(numbers)), range(jobs))
            for number, answer in sorted(itertools.chain(*parts), key=lambda pair: pair[0]):
                found.add(number, answer)
        if self.failures is not None:
            for name, failing in found.failed.items():
                found.kept[name] = self._keep(name, failing[0], self.failures)
        return found

    def _runner(self) -> Runner:
        return Runner(check=self.check, seconds=self.seconds, memory=self.memory)

    def _work(self, numbers: Iterator[int]) -> Iterator[tuple[int, Answer]]:
        with self._runner() as runner:
            for number in numbers:
                thorough = number % THOROUGH == 0
                yield number, runner.mutant(self.seed, number, thorough=thorough)

    def _keep(self, name: str, number: int, folder: Path) -> Path:
        """Write the smallest mutant that fails in this way, and beside it why."""
        with self._runner() as runner:

            def fails(made: Mutant) -> bool:
                return name in map(signature, runner.given(made).problems)

            made = mutant(self.seed, number)
            smallest = minimise(made, fails) if fails(made) else made
            problems = runner.given(smallest).problems
        target = next(_free(folder, f"{self.seed}-{number}"))
        write(smallest, target)
        about = [f"seed {self.seed}, number {number}, {made.kind} of {made.seed}", *problems]
        target.with_suffix(".txt").write_text("\n".join(about) + "\n", encoding="utf-8")
        return target


def _free(folder: Path, name: str) -> Iterator[Path]:
    for more in itertools.count():
        path = folder / (f"{name}-{more}" if more else name)
        if not path.exists():
            yield path


def repeat(folder: Path, *, check: str) -> int:
    """Judge a kept mutant again; 1 when it still fails."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    document = next((name for name in files if "oas." in name), next(iter(files)))
    files = {document: files.pop(document), **files}
    given: Given = "bytes" if len(files) == 1 and "/" not in document else "folder"
    with Runner(check=check) as runner:
        answer = runner.given(Mutant(kind="kept", seed=folder.name, files=files, given=given))
    print("\n".join(answer.problems) or "nothing is wrong any more")
    return 1 if answer.problems else 0
