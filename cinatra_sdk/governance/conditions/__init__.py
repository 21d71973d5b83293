"""Conditions in JsonLogic, which guess nothing.

reading.py       JSON -> a condition, and what it says of facts
forms.py         operators that decide which of their arguments are evaluated: if, and, map, …
fact_names.py    which facts a condition reads
plain.py         operators that only need the values of their arguments: ==, >, +, in, …
whole_texts.py   patterns of `matches`, which hold for the whole of a text
"""
