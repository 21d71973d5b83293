"""An author's regular expressions, in bounded time: the one engine for all of them.

automaton.py  a search whose time grows with the text only
search.py     which of the three, and what it costs; how many steps Python's own engine takes at
              most; any other search: in a process of its own, limited in time and memory
syntax.py     the syntax: a pattern is read, not compiled; why a text is no pattern, in words

A pattern means what it means to Python's `re`, wherever it is searched.
"""
