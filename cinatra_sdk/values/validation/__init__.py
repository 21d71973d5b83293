"""Checking a value against an author's JSON Schema (Draft 2020-12), in counted steps.

    vocabulary.py   what each keyword takes, and the first flaw of a schema
    checker.py      one schema, made once; the first rule that a value breaks
    keywords.py     what each keyword asks
    breaks.py       the rule that a value breaks, and where
    evaluated.py    unevaluatedProperties, unevaluatedItems
    references.py   $ref and $dynamicRef, inside the schema only
    sameness.py     equal values, by a text of each

The verdicts are those of the library `jsonschema`.  What it adds are steps that grow with the
product of schema and value, and Python's own engine for patterns, which cannot be stopped.
Only `multipleOf` goes by the digits of a number: 0.07 is a multiple of 0.01.
"""
