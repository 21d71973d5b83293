"""Compares two flows.  In: two flows.  Out: their differences.

comparison.py         the whole comparison; weaker gates in front of sends and calls
difference.py         `Difference`, the result; pairs of nodes: by path, renamed, or moved
changes.py            flows, nodes, ports and edges that were added, removed or changed
schema_strictness.py  whether one answer schema is as strict as another
"""

from oas_compiler.diff.comparison import diff
from oas_compiler.diff.difference import Change, Difference

__all__ = ["Change", "Difference", "diff"]
