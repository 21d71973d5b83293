"""JSON Schemas of flow files, and of what one flow takes and gives.

dialect.py        the schema of flow files, for editors
words.py          what each part of a flow file means, in a sentence
cinatra.py        the part that is Cinatra's: `metadata.cinatra`
flow_schemas.py   inputs and outputs of one flow
"""
