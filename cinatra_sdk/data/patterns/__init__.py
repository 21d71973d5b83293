"""Regular expressions of authors, in bounded time: the one engine for all of them.

search.py     `Matcher`: chooses Python's engine, the automaton or a process of its own
automaton.py  whether a pattern is found, in time that grows with the text only
syntax.py     a pattern, read into its tree without compiling it; flaws in words

A pattern means the same as in Python's `re`, wherever it is searched.
"""
