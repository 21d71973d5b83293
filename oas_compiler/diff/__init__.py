"""Two flows in, what differs between them out.

comparison.py    puts it together
matching.py      which node of one is which of the other: by path, renamed, or moved
content.py       what a node says, apart from its id; where two JSON values differ
strictness.py    whether one answer schema is as strict as another
changes.py       nodes and ports that were added, removed or changed
edges.py         control edges and data edges that were
guarded.py       one of the two flows: its gates, what acts, which gate is on every way to which
weakening.py     gates, sends and other calls: what got less guarded
difference.py    the result
"""

from oas_compiler.diff.comparison import diff
from oas_compiler.diff.difference import Change, Difference

__all__ = ["Change", "Difference", "diff"]
