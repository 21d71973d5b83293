"""Decision records, packs and proposals of memory in the database.

decision_records.py  decision records, for auditors; their export, signed
evidence_source.py   files and artifacts as evidence
memory_proposals.py  what runs would like remembered
pack_store.py        published packs
record_writer.py     decision records, written with the change that they tell of
"""
