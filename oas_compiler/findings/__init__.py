"""Findings about a file.

finding.py       `Finding`, its fix, and the collection of all findings
rules.py         a rule of `oasflow check` and its card
spelling.py      the nearest known spelling
"""
