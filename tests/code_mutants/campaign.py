"""Workers side by side, the controls, and the tests that fail without any change.

report = Campaign(changes=…, lines=…).run(jobs=2)
print(report.table())
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.code_mutants.judged import JUDGED
from tests.code_mutants.line_map import LineMap
from tests.code_mutants.operators import Change
from tests.code_mutants.rooms import ROOMS, room_of
from tests.code_mutants.trial import Outcome, Place, Running, Test, begin, preload

WAIT = 0.05
SLOWER = 6.0
"""How many times as long as they took a change's tests may take."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What became of each change."""

    outcomes: dict[Change, Outcome]
    unsure: frozenset[str]
    """Tests that failed without any change, too: what they caught was not caught."""

    def is_caught(self, change: Change) -> bool:
        outcome = self.outcomes[change]
        if outcome.ending == "too long":
            return True
        return outcome.ending == "caught" and outcome.by.strip() not in self.unsure

    def alive(self) -> list[Change]:
        """Those that no test caught."""
        return [change for change in self.outcomes if not self.is_caught(change)]

    def unjudged(self) -> list[Change]:
        """Those of them of which nobody said why a caller cannot notice them."""
        return [change for change in self.alive() if change.key not in JUDGED]

    def table(self) -> str:
        """Per room: made, caught, not noticeable, alive, and the part caught of the noticeable."""
        rows = ["| room | made | caught | nobody can notice | alive | caught of noticeable |"]
        rows.append("|---|---|---|---|---|---|")
        tried = {room_of(each.module) for each in self.outcomes}
        rows += [self._row(room) for room in ROOMS if room in tried]
        rows.append(self._row(None))
        return "\n".join(rows)

    def _row(self, room: str | None) -> str:
        made = [each for each in self.outcomes if room is None or room_of(each.module) == room]
        caught = sum(map(self.is_caught, made))
        alive = sum(each in made for each in self.unjudged())
        same = len(made) - caught - alive
        part = f"{100 * caught / max(1, caught + alive):.1f} %"
        return f"| {room or 'all'} | {len(made)} | {caught} | {same} | {alive} | {part} |"


@dataclass(kw_only=True)
class Campaign:
    """The trials of some changes."""

    changes: Sequence[Change]
    lines: LineMap
    outcomes: dict[Change, Outcome] = field(default_factory=dict)

    def run(self, *, jobs: int) -> Report:
        """Try each; raises RuntimeError where the control without a change is `caught`."""
        preload()
        places = [Place.make() for _ in range(jobs)]
        try:
            self._try_all(places)
            unsure = self._without_change(places[0])
        finally:
            for place in places:
                place.close()
        return Report(outcomes=self.outcomes, unsure=unsure)

    def _try_all(self, places: Sequence[Place]) -> None:
        waiting = list(reversed(self.changes))
        free = list(places)
        running: list[Running] = []
        while waiting or running:
            while waiting and free:
                change = waiting.pop()
                tests = self.lines.tests_of(change)
                if tests:
                    limit = SLOWER * sum(self.lines.seconds[test] for test in tests)
                    running.append(begin(free.pop(), change, tests, limit=limit))
                else:
                    self._note(change, Outcome(ending="no test"))
            time.sleep(WAIT)
            for each in list(running):
                outcome = each.outcome()
                if outcome is not None:
                    running.remove(each)
                    free.append(each.place)
                    assert each.change is not None
                    self._note(each.change, outcome)

    def _note(self, change: Change, outcome: Outcome) -> None:
        self.outcomes[change] = outcome
        known = change.key in JUDGED and outcome.ending in ("alive", "no test")
        word = "judged" if known else outcome.ending
        print(
            f"{len(self.outcomes):4} {word:8} {outcome.seconds:5.1f} s {outcome.tests:4} tests"
            f"  {change.name} {change.module}:{change.line} {change.function}"
            f" {change.operator}: {change.shown[:160]}"
            + (f"  [{outcome.by.strip()}]" if outcome.by else ""),
            flush=True,
        )

    def _without_change(self, place: Place) -> frozenset[str]:
        """Run every test that caught something on the tree as it is: those that fail there, too."""
        names = {each.by.strip() for each in self.outcomes.values() if each.ending == "caught"}
        tests: list[Test] = []
        for name in sorted(names):
            file, _, test = name.partition("::")
            if test:
                tests.append((file, test))
        if not tests:
            return frozenset()
        limit = 600 + SLOWER * sum(self.lines.seconds.get(test, 1.0) for test in tests)
        running = begin(place, None, tests, limit=limit)
        while (outcome := running.outcome()) is None:
            time.sleep(WAIT)
        failed = frozenset(outcome.by.split("\n")) - {""}
        if failed:
            print("fail without any change:", *sorted(failed), sep="\n  ")
        return failed
