"""Durable runs: every run in Postgres, so that any process can continue it.

run_store.py        `RunStore`: create, decide, work, and their short forms start and answer
reading.py          what it tells of its runs;  in_thread.py  its methods for `await`
creating.py         a new run, stored;  deciding.py  decisions of people, recorded
rows.py             rows of the table `runs`;  short_names.py  runs by a shortened id;  paging.py  pages of a list
decisions.py        decisions in the database;  gate_decision.py, effect_record.py  as an auditor reads them
flows.py            the flow of a stored run, rebuilt;  known_flows.py  the flows in this process
made_flows.py       flows compiled from stored bytes, once for many runs;  recent.py  what was used last
flow_kinds.py       the kind in front of a flow's bytes;  graph_flow.py  a hand-written graph as a flow
written_flow.py     a flow that a module writes with `FlowGraph`
contexts.py         checks that a host's context belongs to the run
activating.py       one activation of a run, to its next stop;  retrying.py  when a failed run is tried again
keeping.py          what people do beside that: settle, stop;  archiving.py  runs that have ended, made small
actors.py           the names of who acts;  arguments.py  ids and tenants that no row has
needs.py            what needs a person: gates, calls to settle, failed runs
sweeping.py         runs that nobody works on, gone on with;  examining.py  what is wrong with a store
work/               one worker at a time on a run
following.py        the events of a run, read and followed;  settling.py  calls that may have happened
artifacts.py        `ArtifactStore`: artifacts, the candidates of a slot;  loading.py  many at once
attachments.py      `AttachmentStore`: attached files;  attachment_rows.py  their rows and bytes
attachment_lending.py  what stored runs read of them
attachment_ports.py the resolver's ports of one tenant;  attachment_uploads.py  what providers have
saved_objects.py    objects that runs save by tools, in versions
recording.py        decision records, written with the change that they tell of;  approvers.py  who may approve at gates of packs
records.py          decision records, for auditors;  record_export.py  their export, signed;  packs.py  published packs;  evidence.py  files and artifacts as evidence;  memory.py  what runs would like remembered
plans.py            the refs that a slot was offered;  selections.py  the refs that were chosen
chosen.py           selections in words for people

`RunStore` is imported on first use: what a store is made of is used below it, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cinatra_sdk.store.run_store import RunStore

__all__ = ["RunStore"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cinatra_sdk.store.run_store import RunStore

    return RunStore
