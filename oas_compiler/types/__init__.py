"""Types of ports: read from JSON Schema, compared, and cast into each other.

schema_types.py   a JSON Schema -> a type of the IR
local_refs.py     `$ref` inside one schema
type_algebra.py   unions, and what two types have in common
casting.py        whether a value of one type can go where another is wanted
choices.py        the values that a schema lists
"""
