"""What is said about a file.

diagnostics.py   `Finding`, the changes that mend it, and the collection of all of them
rules.py         a rule of `oasflow check` and its card
spelling.py      the nearest known spelling
"""
