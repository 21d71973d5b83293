"""Stand-ins for `check` that are broken on purpose: the harness must see through each.

Each is `check` followed by one more rule, planted here and nowhere in the product.  It breaks
at a component without a name, which some mutants have and no seed has.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from typing import Any

from oas_compiler import Diagnostics, Finding, check
from oas_compiler.checks.compile_rules import run_rules
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.document.scope import Document
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import Place
from oas_compiler.text.source import read_source


def _planted(breaks: Callable[[Written, Report], object]) -> Callable[[Any], Diagnostics]:
    @rule(
        code="OAS040", name="planted", severity="error", needs="document",
        summary="Planted.", fix="None.", source="this harness",
    )  # fmt: skip
    def planted(subject: Subject, report: Report) -> None:
        for component in subject.components:
            if not component.text("name"):
                breaks(component, report)

    def checked(source: Any) -> Diagnostics:
        found, own = check(source), Diagnostics()
        read = read_source(source, own)
        if read is not None:
            run_rules(Subject(document=Document(read, read.value, own)), found, (planted,))
        return found

    return checked


def _raise(component: Written, _report: Report) -> None:
    raise LookupError(component.pointer)


def _loop(_component: Written, _report: Report) -> None:
    while True:
        pass


def _stay_in_c_code(_component: Written, _report: Report) -> None:
    # one call that looks at no signal
    sum(range(10**12))


def _swallow(_component: Written, _report: Report) -> None:
    try:
        _loop(_component, _report)
    except BaseException:  # a rule may be as wrong as this
        return


def _hoard(_component: Written, _report: Report) -> None:
    bytearray(os.urandom(1)) * (100 * 1024 * 1024)


def _take_all(_component: Written, _report: Report) -> None:
    kept = []
    while True:
        kept.append(bytearray(64 * 1024 * 1024))


def _nest(component: Written, _report: Report) -> None:
    _nest(component, _report)


raises = _planted(_raise)
recurses = _planted(_nest)
loops = _planted(_loop)
swallows = _planted(_swallow)
sleeps = _planted(lambda *_: time.sleep(3600))
is_stuck = _planted(_stay_in_c_code)
dies = _planted(lambda *_: os._exit(3))
hoards = _planted(_hoard)
takes_all = _planted(_take_all)
warns = _planted(lambda *_: warnings.warn("planted", FutureWarning, stacklevel=1))
points_outside = _planted(lambda _, report: report("planted", Place("/nodes", 10**6, 1)))
has_no_place = _planted(lambda _, report: report("planted"))
leads_nowhere = _planted(lambda at, report: report("planted", Place(at.at("no", "such"), 1, 1)))


def says_too_much(source: Any) -> Diagnostics:
    found = check(source)
    # recorded past Diagnostics.add, which would cut the message
    place = Place("", 1, 1)
    found.findings.append(
        Finding(code="OAS040", severity="error", message="x" * 10_000, place=place)
    )
    return found


def has_no_card(source: Any) -> Diagnostics:
    found = check(source)
    found.error("OAS999", "planted", Place("", 1, 1))
    return found


def reads_nothing(_source: Any) -> Diagnostics:
    """Finds nothing at all, even where nothing could be read."""
    return Diagnostics()
