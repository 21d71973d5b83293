"""Flaws of values, separate from their reports.  Not a rule itself.

    Flaw("max_steps is 200", "/data/max_steps", "write a whole number from 1 to 20")
    misspelt('"usr" of data is read by nobody', "/data/usr", "user")
        ->  hint: did you mean "user"?, and an edit that gives the key its name

Rules that check values find flaws at any depth (`Iterator[Flaw]`) and report each with `tell`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from oas_compiler.findings.finding import Edit
from oas_compiler.findings.rules import Report
from oas_compiler.ir import Place


class Flaw(NamedTuple):
    """One problem and its place."""

    says: str
    pointer: str
    hint: str
    key: str = ""
    """The right name of a misspelt key; empty for other flaws."""


def misspelt(says: str, pointer: str, meant: str) -> Flaw:
    """The flaw of an unknown key that is almost a known key."""
    return Flaw(says, pointer, f'did you mean "{meant}"?', meant)


def tell(
    report: Report, flaw: Flaw, place: Callable[[str], Place], *, within: str = "", file: str = ""
) -> None:
    """Report a flaw with the edit that mends it, if there is one.

    `place`: makes a place of a pointer, in the document or in package.json; `within`: end of the
    message; `file`: as for `Report`.
    """
    report(
        f"{flaw.says}{within}",
        place(flaw.pointer),
        hint=flaw.hint,
        file=file,
        fix=(Edit(pointer=flaw.pointer, key=flaw.key),) if flaw.key else (),
    )
