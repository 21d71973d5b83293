"""`did you mean …?` for a whole run, within bounds.

    nearest("strat", {"start", "end"}, findings)   ->   'did you mean "start"?'

One hint compares the word with every known name.  A document with thousands of wrong names and
thousands of known names would take minutes, so hints stop when they become expensive.
"""

from __future__ import annotations

from collections.abc import Collection

from cinatra_sdk.text.spelling import did_you_mean
from oas_compiler.findings.finding import Findings

_BUDGET = 20_000
"""Findings so far, times known names; 400 names still get hints for the first 50 findings."""


def nearest(word: str, known: Collection[str], findings: Findings) -> str:
    """The hint, or an empty string where no name is near or the comparison costs too much."""
    if (len(findings) + 1) * len(known) > _BUDGET:
        return ""
    return did_you_mean(word, known)
