"""Attacks on the product, as data: what was tried, at which door, and what must come of it.

    book/<family>.yaml     the attacks and their harmless twins, as rows: door, form, expected refusal
    book.py                reads a family's rows
    families.py            makes the tests of a family from its rows and its `attempt`
    test_<family>.py       carries an attack of the family out, and opens doors for its controls

`./scripts/attacks` runs every row and prints the tally.  The default suite runs a spread of them:
the first form of every door, every thirty-second of the others, all twins and all controls.
"""
