"""What came of the attacks, family by family, from the reports of their tests.

    count_reports({"passed": [report, …], "skipped": […]})  ->  {("rows", "refused"): 12, …}

An attack that was skipped, whose fixtures or whose harness failed, whose process died or whose module
could not be imported did not start: nobody knows whether it would have been refused.  One that there is
none of on this machine has a column of its own, and `list_lacking` says what the machine lacks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tests.attacks.book import BOOK, read_family
from tests.attacks.families import DID_NOT_START, NOT_HERE

COLUMNS: Final[Mapping[tuple[str, str], str]] = {
    ("attack", "passed"): "refused",
    ("attack", "failed"): "OPENED",
    ("any", DID_NOT_START): "DID NOT START",
    ("any", NOT_HERE): "NOT HERE",
    ("twin", "passed"): "twins that work",
    ("twin", "failed"): "broken",
    ("control", "passed"): "controls caught",
    ("control", "failed"): "MISSED",
}
_TEST: Final = re.compile(r"test_(\w+)\.py::test_(attack|twin|control)")
_MODULE: Final = re.compile(r"test_(\w+)\.py$")
Counted = Counter[tuple[str, str]]
"""By the family and the title of the column."""


def count_reports(reports: Mapping[str, Iterable[Any]]) -> Counted:
    """reports: by the names that pytest's terminal gives them (`passed`, `failed`, `error`, `skipped`)."""
    counted: Counted = Counter()
    for outcome, several in reports.items():
        for report in several:
            counted.update(_count_one(report, outcome))
    return counted


def _count_one(report: Any, outcome: str) -> Counted:
    properties = dict(getattr(report, "user_properties", ()))
    found, when = _TEST.search(report.nodeid), getattr(report, "when", "collect")
    kinds = [kind for kind in ("attack", "twin", "control") if kind in properties]
    if not kinds and found is None:
        return _count_module(report.nodeid) if when == "collect" else Counter()
    kind = kinds[0] if kinds else str(found and found[2])
    family = properties.get(kind) or str(found and found[1])
    if when == "teardown":
        return Counter()  # its call was counted
    if _is_not_here(report, outcome):
        return Counter({(family, COLUMNS["any", NOT_HERE]): 1})
    did_not = when != "call" or outcome == "skipped" or DID_NOT_START in properties
    column = COLUMNS["any", DID_NOT_START] if did_not else COLUMNS[kind, outcome]
    return Counter({(family, column): 1})


def _is_not_here(report: Any, outcome: str) -> bool:
    properties = dict(getattr(report, "user_properties", ()))
    return outcome == "skipped" and getattr(report, "when", "") == "call" and NOT_HERE in properties


def _count_module(nodeid: str) -> Counted:
    """Every row of a family whose module was not imported."""
    found = _MODULE.search(nodeid)
    if found is None or not (BOOK / f"{found[1]}.yaml").is_file():
        return Counter()
    family = read_family(found[1])
    rows = len(family.attacks) + len(family.twins)
    return Counter({(family.name, COLUMNS["any", DID_NOT_START]): rows})


def write_table(counted: Counted) -> list[str]:
    """The lines of the tally; none where no attack was reported."""
    families = sorted({family for family, _ in counted})
    if not families:
        return []
    head = tuple(COLUMNS.values())
    rows = [[counted[family, title] for title in head] for family in families]
    totals = [sum(column) for column in zip(*rows, strict=True)]
    width = max(map(len, [*families, "all together"])) + 2
    lines = [" " * width + "  ".join(head)]
    for family, row in [*zip(families, rows, strict=True), ("all together", totals)]:
        cells = (str(n).rjust(len(title)) for n, title in zip(row, head, strict=True))
        lines.append(family.ljust(width) + "  ".join(cells))
    return lines


def list_lacking(reports: Mapping[str, Iterable[Any]]) -> list[str]:
    """What this machine lacks, with the attacks that there are none of for that reason."""
    lacking: dict[str, list[str]] = {}
    for report in reports.get("skipped", ()):
        if _is_not_here(report, "skipped"):
            reason = str(dict(report.user_properties)[NOT_HERE])
            lacking.setdefault(reason, []).append(report.nodeid.rpartition("::")[2])
    return [f"not here, for want of {why}: {', '.join(ids)}" for why, ids in lacking.items()]


def count_not_started(counted: Counted) -> int:
    return sum(n for (_, title), n in counted.items() if title == COLUMNS["any", DID_NOT_START])
