"""JSON Schemas of flow files, and of one flow's inputs and outputs.

dialect.py       the schema of flow files, for editors, with Cinatra's `metadata.cinatra`
flow_schemas.py  inputs and outputs of one flow
"""
