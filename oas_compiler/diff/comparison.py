"""Two flows in, everything that differs between them out: on the graph, not on the text.

    difference = diff(compile_ir("old.json").ir, compile_ir("new.json").ir)
    difference.weakened     what a reviewer must see: gates that guard less, sends nobody is asked about
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
    """How `second` differs from `first`; both are flows that compile."""
    made = match(first, second)
    return Difference((*weakenings(made), *plain_changes(made)))
