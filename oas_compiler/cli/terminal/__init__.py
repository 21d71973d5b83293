"""The terminal: streams, keys, exit codes, arguments as they are typed.

streams.py          the streams stdout and stderr; lines, lists and tables at any width; pure:
                    data -> shown text, or JSON
exits.py            exit codes, and the one place where errors become sentences; a command line
                    that cannot be parsed, in one line
findings_view.py    pure: data -> shown text, or JSON
argument_values.py  their values
location.py         where a run is: the words for its tenant and its database
keyboard.py         typing, reading, filling in; Ctrl-C, while a node runs and while a person is
                    asked
"""
