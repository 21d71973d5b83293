"""Exports of runs, and decision records, packs and proposals of memory in the database.

record_writer.py       decision records, written in the transaction of the change that they record
decision_records.py    `DecisionRecords`: pages, corrections, exports, for auditors
run_export.py          the lines of an export: of runs with their evidence, and of decision records
governance_sources.py  `StoredPacks`: published packs; attached files and pinned artifacts as evidence
memory_proposals.py    `MemoryProposals`: what runs propose to remember
"""
