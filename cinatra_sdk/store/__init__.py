"""Durable runs: every run in Postgres, so that any process can continue it.

run_store.py    `RunStore`: create, decide, work, and their short forms start and answer
person_store.py `PersonStore`: the same methods for one person, each asked about first
host_work.py    what the host alone does with a store, refused to persons
runs/           the runs: created, driven, listed, tried again, ended
lists/          what is read of many runs at once: filters, the feed
decisions/      decisions of people: recorded, and read again
flows/          the flows of stored runs, and how a process makes them again
work/           one worker at a time on a run: lock, lease, fence, checkpoints
artifacts/      artifacts, attached files, saved objects, selections
evidence/       decision records, packs, proposals of memory
database.py     the database: its address, tables and pools of connections
subjects.py     what `may` is asked about: runs, gates, calls
arguments.py    checks of the arguments of all methods: names, ids, tenants, limits
pages.py        pages of a list, with cursors
async_twins.py  the methods for `await`
health.py       problems of a store, for `oasflow doctor`

`RunStore` is imported on first use, because the modules below it use other names of this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.postgres.migration import migrate
    from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
    from cinatra_sdk.store.artifacts.attachment_store import AttachmentStore, StoredParent
    from cinatra_sdk.store.database import Database
    from cinatra_sdk.store.decisions.asked_gates import AskedGate
    from cinatra_sdk.store.decisions.decision_rows import GateDecision
    from cinatra_sdk.store.evidence.decision_records import DecisionRecords
    from cinatra_sdk.store.evidence.erasure import Erasure, erase_person
    from cinatra_sdk.store.evidence.governance_sources import StoredPacks, stored_evidence
    from cinatra_sdk.store.evidence.memory_proposals import MemoryProposals
    from cinatra_sdk.store.evidence.reconciliation import (
        Disagreement,
        Receipt,
        Reconciliation,
        list_receipts,
        read_receipts,
    )
    from cinatra_sdk.store.lists.feed import FeedItem, FeedPage
    from cinatra_sdk.store.pages import OpenGate, Page
    from cinatra_sdk.store.person_store import PersonStore
    from cinatra_sdk.store.run_store import RunStore
    from cinatra_sdk.store.runs.retries import RetryPolicy
    from cinatra_sdk.store.runs.run_events import EffectRecord, Stretch
    from cinatra_sdk.store.runs.upkeep import Archived
    from cinatra_sdk.store.work.sweep import SweptRun

_LATER: Final = {
    "RunStore": "store.run_store",
    "Database": "store.database",
    "migrate": "postgres.migration",
    "RetryPolicy": "store.runs.retries",
    "SweptRun": "store.work.sweep",
    "Archived": "store.runs.upkeep",
    "AskedGate": "store.decisions.asked_gates",
    "GateDecision": "store.decisions.decision_rows",
    "EffectRecord": "store.runs.run_events",
    "Stretch": "store.runs.run_events",
    "FeedItem": "store.lists.feed",
    "FeedPage": "store.lists.feed",
    "OpenGate": "store.pages",
    "Page": "store.pages",
    "PersonStore": "store.person_store",
    "DecisionRecords": "store.evidence.decision_records",
    "StoredPacks": "store.evidence.governance_sources",
    "MemoryProposals": "store.evidence.memory_proposals",
    "Disagreement": "store.evidence.reconciliation",
    "Receipt": "store.evidence.reconciliation",
    "Reconciliation": "store.evidence.reconciliation",
    "list_receipts": "store.evidence.reconciliation",
    "read_receipts": "store.evidence.reconciliation",
    "Erasure": "store.evidence.erasure",
    "erase_person": "store.evidence.erasure",
    "stored_evidence": "store.evidence.governance_sources",
    "ArtifactStore": "store.artifacts.artifacts",
    "AttachmentStore": "store.artifacts.attachment_store",
    "StoredParent": "store.artifacts.attachment_store",
}

__all__ = [
    "RunStore",
    "Database",
    "migrate",
    "RetryPolicy",
    "SweptRun",
    "Archived",
    "AskedGate",
    "GateDecision",
    "EffectRecord",
    "Stretch",
    "FeedItem",
    "FeedPage",
    "OpenGate",
    "Page",
    "PersonStore",
    "DecisionRecords",
    "StoredPacks",
    "MemoryProposals",
    "Disagreement",
    "Receipt",
    "Reconciliation",
    "list_receipts",
    "read_receipts",
    "Erasure",
    "erase_person",
    "stored_evidence",
    "ArtifactStore",
    "AttachmentStore",
    "StoredParent",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)
