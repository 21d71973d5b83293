"""Compares two flows as graphs, not as texts.  In: two flows.  Out: all their differences.

    difference = diff(compile_ir("old.json").ir, compile_ir("new.json").ir)
    difference.weakened     for reviewers: gates that guard less, sends without a gate
    difference.to_json()

The order of keys and lists, and where things stand in the file, make no difference.
"""

from __future__ import annotations

from oas_compiler.diff.changes import plain_changes
from oas_compiler.diff.difference import Change, Difference
from oas_compiler.diff.matching import match
from oas_compiler.diff.weakening import weakenings
from oas_compiler.ir import FlowIR

__all__ = ["Change", "Difference", "diff"]


def diff(first: FlowIR, second: FlowIR) -> Difference:
    """The differences of `second` from `first`; both flows must compile."""
    made = match(first, second)
    return Difference((*weakenings(made), *plain_changes(made)))
