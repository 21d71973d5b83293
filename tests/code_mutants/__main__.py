"""`scripts/mutants`: changes of the code, tried out one by one; what no test caught.

Exit code 0: of the changes that a caller could notice at least 95 of 100 were caught, and the
controls came out as they must.  1: fewer, or a control did not.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence

from tests.code_mutants.campaign import Campaign, Report
from tests.code_mutants.controls import harmful, harmless
from tests.code_mutants.line_map import SECONDS, LineMap
from tests.code_mutants.operators import Change, changes_of
from tests.code_mutants.rooms import ROOMS, ROOT, modules_of
from tests.code_mutants.sample import sample

GOAL = 0.95


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the copies and their servers go, too
    every = [
        change
        for room in ROOMS
        for module in modules_of(room)
        for change in changes_of(module, (ROOT / module).read_text(encoding="utf-8"))
    ]
    chosen = sample(every, count=asked.count, seed=asked.seed)
    if asked.only:
        chosen = [each for each in every if each.name in asked.only]
    controls = harmful(every)
    nothing = harmless(every)
    # One of the sample may be a control, too; it is counted where it was chosen.
    print(f"seed {asked.seed}: {len(chosen)} of {len(every)} changes", flush=True)
    if asked.show:
        for each in chosen:
            print(f"{each.name} {each.module}:{each.line} {each.operator}: {each.shown}")
        return 0
    lines = LineMap.read_or_make(jobs=asked.jobs, only=asked.tests)
    lines.budget = asked.seconds
    tried = list(dict.fromkeys([nothing, *controls, *chosen]))
    report = Campaign(changes=tried, lines=lines).run(jobs=asked.jobs)
    wrong = [each for each in controls if not report.is_caught(each)]
    if report.is_caught(nothing):
        wrong.append(nothing)
    for each in {nothing, *controls} - set(chosen):
        del report.outcomes[each]
    return _tell(report, wrong)


def _tell(report: Report, wrong: Sequence[Change]) -> int:
    print(report.table())
    alive = report.unjudged()
    for each in alive:
        print(f"alive {each.name} {each.key}  ({each.module}:{each.line})")
    for each in wrong:
        print(f"a control that came out wrong: {each.key}")
    caught = sum(map(report.is_caught, report.outcomes))
    return int(bool(wrong) or caught < GOAL * (caught + len(alive)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=260, help="changes to try (260)")
    parser.add_argument("--seed", type=int, default=35, help="which of them (35)")
    parser.add_argument("--jobs", type=int, default=2, help="side by side (2)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="the changes with these names")
    parser.add_argument(
        "--tests", nargs="+", default=(), metavar="FILE",
        help="learn which lines run in these files of tests only, and use what is known of others",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="of tests for one change (60)"
    )
    parser.add_argument("--show", action="store_true", help="print the changes, try none")
    return parser


if __name__ == "__main__":
    sys.exit(main())
