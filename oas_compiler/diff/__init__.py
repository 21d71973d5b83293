"""Compares two flows.  In: two flows.  Out: their differences.

comparison.py    puts it together
matching.py      pairs the nodes of the two flows: by path, renamed, or moved
content.py       the content of a node, apart from its id; places where two JSON values differ
strictness.py    whether one answer schema is as strict as another
changes.py       nodes and ports that were added, removed or changed
edges.py         control edges and data edges that were added, removed or changed
guarded.py       one of the two flows: its gates, its acting nodes, the gates before each node
weakening.py     gates, sends and other calls that got less guarded
difference.py    the result
"""

from oas_compiler.diff.comparison import diff
from oas_compiler.diff.difference import Change, Difference

__all__ = ["Change", "Difference", "diff"]
