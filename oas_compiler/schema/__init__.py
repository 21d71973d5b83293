"""JSON Schemas of flow files, and of one flow's inputs and outputs.

dialect.py        the schema of flow files, for editors
words.py          the meaning of each key of `metadata.cinatra`, in a sentence
cinatra.py        the part that is Cinatra's: `metadata.cinatra`
flow_schemas.py   inputs and outputs of one flow
"""
