"""Two flows in, what differs between them out: `oas_compiler.diff.diff` puts it together.

matching.py      which node of one is which of the other: by path, renamed, or moved
content.py       what a node says, apart from its id; where two JSON values differ
strictness.py    whether one answer schema is as strict as another
changes.py       nodes, edges and ports that were added, removed or changed
weakening.py     gates and sends: what got less guarded
difference.py    the result
"""
