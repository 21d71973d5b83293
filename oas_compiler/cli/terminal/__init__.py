"""The terminal: streams, keys, exit codes, arguments as they are typed.

streams.py          stdout and stderr of a command
layout.py           lines, lists and tables at any width
printable_text.py   texts from outside, made safe for a terminal and for the log of a build
exits.py            exit codes, and the one place where errors become sentences
keyboard.py         lines and texts that a person types; editor, pager, Ctrl-C
argument_values.py  values given at the command line
location.py         the options for the tenant and the database of a run
findings_view.py    findings as text, each below its line of the file
"""
