"""Bytes and texts: read strictly, with the place of every value, and bounded.

safe_text.py     an author's name, as text for one line; controls and directions as visible
                 characters; credentials of a well-known shape as their kind and stars
marks.py         JSON Pointers and where they stand
input_bounds.py  how large a document may be
file_access.py   the one door to files
flow_files.py    the packages below a folder
json_text.py     JSON with duplicate keys, depth and places looked at; what is wrong with it
yaml_text.py     the same of YAML
source.py        a path, bytes or a mapping -> `Source`: text, value, places; the same of a value
                 that is no text; words that YAML reads the same without quotes
"""
