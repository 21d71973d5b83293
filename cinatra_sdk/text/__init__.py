"""Texts and files: read strictly, within bounds.

files.py         the one door to files;  documents.py  JSON and YAML files of hosts
unlinked.py      folders below which no link is followed;  line_ends.py  lines of long files
rewriting.py     a file changed by one writer at a time
yaml_text.py     the one reader of YAML
header_names.py  headers that a call may carry
people.py        names of people who decide;  bounds.py  how long a kept text may be
spelling.py      `did you mean …?`;  counting.py  `1 run`, `2 runs`
"""
