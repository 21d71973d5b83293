"""Bytes and texts: read strictly, with the place of every value, and bounded.

source.py        a path, bytes or a mapping -> `Source`: text, value, places
json_text.py     JSON text -> value and places; flaws in words
yaml_text.py     YAML text -> value and places
marks.py         the place of every JSON Pointer in the text
input_bounds.py  the bounds of a document
file_access.py   the compiler's only access to files
flow_files.py    the flow files in the given paths
safe_text.py     text for one line: controls visible, credentials starred
"""
