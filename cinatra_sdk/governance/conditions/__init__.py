"""Conditions in JsonLogic, which guess nothing.

operators.py  operators that only need the values of their arguments: ==, >, +, in, …; operators
              that decide which of their arguments are evaluated: if, and, map, …; patterns of
              `matches`, which hold for the whole of a text
condition.py  JSON -> a condition, and what it says of facts; which facts a condition reads
"""
