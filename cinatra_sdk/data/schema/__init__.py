"""Values checked against an author's JSON Schema (Draft 2020-12), in counted steps.

problems.py           `first_problem`: the first broken rule, as a sentence that quotes no value
checker.py            one schema, made once; its first broken rule; the targets of $ref and $dynamicRef
keywords.py           the rule of each keyword; `Break`, a broken rule and its place; whether two values are equal
vocabulary.py         the metaschema as a table: the first flaw of a schema
samples.py            a value that a schema accepts

The verdicts are those of the library `jsonschema`, whose steps grow with the product of schema and value,
and whose patterns Python's own engine searches, which cannot be stopped.  Only `multipleOf` differs: it
goes by the digits of a number, so 0.07 is a multiple of 0.01.
"""
