"""Checking a value against an author's JSON Schema (Draft 2020-12), in counted steps.

checker.py            one schema, made once; the first rule that a value breaks
keywords.py           what each keyword asks; unevaluatedProperties, unevaluatedItems
problems.py           JSON Schema: checks values, and schemas themselves
samples.py            a value that a schema takes
schema_references.py  $ref and $dynamicRef, inside the schema only
violation.py          the rule that a value breaks, and where; equal values, by a text of each
vocabulary.py         what each keyword takes, and the first flaw of a schema

The verdicts are those of the library `jsonschema`.  What it adds are steps that grow with the
product of schema and value, and Python's own engine for patterns, which cannot be stopped.
Only `multipleOf` goes by the digits of a number: 0.07 is a multiple of 0.01.
"""
