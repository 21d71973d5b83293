"""Exports of runs; decision records, packs and proposals of memory; what was lost, and what is erased.

record_writer.py       decision records, written in the transaction of the change that they record
decision_records.py    `DecisionRecords`: pages, corrections, exports, for auditors
run_export.py          the lines of an export: of runs with their evidence, and of decision records
governance_sources.py  `StoredPacks`: published packs; attached files and pinned artifacts as evidence
isolated_rules.py      the rules of a governed run for a replay, which leave no trace
memory_proposals.py    `MemoryProposals`: what runs propose to remember
reconciliation.py      what a failover lost: rows compared with what others know
erasure.py             a person's values erased, with all chains still valid
"""
