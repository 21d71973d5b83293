"""`did you mean …?` for a whole run, within bounds.

    nearest("strat", {"start", "end"}, findings)   ->   'did you mean "start"?'

One hint compares the word with every known name.  A document with thousands of wrong names
among thousands of known ones would take minutes, so hints stop when they become expensive:
nobody reads the five-hundredth.
"""

from __future__ import annotations

from collections.abc import Collection

from oas_compiler.findings.diagnostics import Diagnostics, did_you_mean

_BUDGET = 20_000
"""Findings so far, times known names; 400 names still get hints for the first 50 findings."""


def nearest(word: str, known: Collection[str], findings: Diagnostics) -> str:
    """The hint, or an empty string where nothing is near or looking costs too much."""
    if (len(findings) + 1) * len(known) > _BUDGET:
        return ""
    return did_you_mean(word, known)
