"""Compares two flows.  In: two flows.  Out: their differences.

comparison.py         puts it together; gates, sends and other calls that got less guarded; one of
                      the two flows: its gates, its acting nodes, the gates before each node
changes.py            nodes and ports that were added, removed or changed; control edges and data
                      edges that were added, removed or changed
difference.py         the result; the content of a node, apart from its id; places where two JSON
                      values differ; pairs the nodes of the two flows: by path, renamed, or moved
schema_strictness.py  whether one answer schema is as strict as another
"""

from oas_compiler.diff.comparison import diff
from oas_compiler.diff.difference import Change, Difference

__all__ = ["Change", "Difference", "diff"]
