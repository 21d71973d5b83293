"""Conditions of packs, in JsonLogic: a condition that cannot be decided is undecided, never guessed.

condition.py  JSON -> a condition; its value over facts; the facts that it reads
operators.py  the operators: comparison, arithmetic, `in`, `matches`; `if`, `and`, `or`, `map`, …
"""
