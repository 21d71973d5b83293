"""Texts and files: read strictly, within bounds.

author_files.py  the one door to files
documents.py     JSON and YAML files of hosts
folders.py       folders below which no link is followed; a file changed by one writer at a time;
                 lines of long files
header_names.py  headers that a call may carry
nearest_name.py  `did you mean …?`
plurals.py       `1 run`, `2 runs`
person_texts.py  names of people who decide; how long a kept text may be; characters that a person
                 does not see and a model reads
yaml_reader.py   the one reader of YAML
"""
