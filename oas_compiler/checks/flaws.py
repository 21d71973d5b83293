"""What is wrong with a value, found apart from how it is told; no rule itself.

    Flaw("max_steps is 200", "/data/max_steps", "write a whole number from 1 to 20")
    misspelt('"usr" of data is read by nobody', "/data/usr", "user")
        ->  hint: did you mean "user"?, and an edit that gives the key its name

Rules that look into values find flaws at any depth (`Iterator[Flaw]`) and tell each with `tell`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from oas_compiler.findings.finding import Edit
from oas_compiler.findings.rules import Report
from oas_compiler.ir import Place


class Flaw(NamedTuple):
    """One thing that is wrong, and where."""

    says: str
    pointer: str
    hint: str
    key: str = ""
    """The name that a misspelt key gets; empty for a flaw that is none."""


def misspelt(says: str, pointer: str, meant: str) -> Flaw:
    """A key that is read by nobody, because it is almost another one."""
    return Flaw(says, pointer, f'did you mean "{meant}"?', meant)


def tell(
    report: Report, flaw: Flaw, place: Callable[[str], Place], *, within: str = "", file: str = ""
) -> None:
    """Report a flaw with the edit that mends it, if there is one.

    `place`: of the document or of package.json, whichever the pointer is of; `within`: ends the
    message; `file`: as for `Report`.
    """
    report(
        f"{flaw.says}{within}",
        place(flaw.pointer),
        hint=flaw.hint,
        file=file,
        fix=(Edit(pointer=flaw.pointer, key=flaw.key),) if flaw.key else (),
    )
