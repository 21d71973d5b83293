"""Decision records, packs and proposals of memory in the database.

record_writer.py     decision records, written in the transaction of the change that they record
decision_records.py  `DecisionRecords`: pages, corrections, exports, for auditors
evidence_source.py   attached files and pinned artifacts as evidence
pack_store.py        `StoredPacks`: published packs
memory_proposals.py  `MemoryProposals`: what runs propose to remember
"""
