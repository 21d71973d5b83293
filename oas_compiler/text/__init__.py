"""Bytes and texts: read strictly, with the place of every value, and bounded.

source.py         a path, bytes or a mapping -> `Source`: text, value, places
json_text.py      JSON with duplicate keys, depth and places looked at;  json_flaws.py  what is wrong with it
yaml_text.py      the same of YAML;  python_value.py  the same of a value that is no text
yaml_words.py     words that YAML reads the same without quotes
marks.py          JSON Pointers and where they stand
bounds.py         how large a document may be
files.py          the one door to files;  tree.py  the packages below a folder
visible.py plain_text.py   controls and directions as visible characters
safe.py           an author's name, as text for one line;  descriptions.py  JSON values in words
secrets.py        credentials of a well-known shape as their kind and stars
header_names.py   headers that a call may carry;  allow_entries.py  entries of a `url_allow_list`
"""
