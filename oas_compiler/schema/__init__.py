"""JSON Schemas of flow files, and of one flow's inputs and outputs.

dialect.py       the schema of flow files, for editors; the part that is Cinatra's:
                 `metadata.cinatra`; the meaning of each key of `metadata.cinatra`, in a sentence
flow_schemas.py  inputs and outputs of one flow
"""
