"""Texts and files: read strictly, within bounds.

author_files.py   the only access to files of packages, trees and users
documents.py      a JSON or YAML document of a host
folders.py        folders in which no link is followed; files rewritten, or read in pieces
header_names.py   the headers that an author may set
yaml_reader.py    the one reader of YAML
person_texts.py   names and other stored texts of people: one form, bounds, no invisible letters
message_words.py  `did you mean …?`; `1 run`, `2 runs`
"""
