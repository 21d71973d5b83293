"""Runs in the database: created, worked on, decided, listed, ended.

activation.py      one activation of a run, to its next stop; whether a run can be gone on with
                   from its checkpoints
creation.py        a new run, stored
approver_rules.py  who may approve at gates of packs
decision_entry.py  decisions of people, recorded
decision_rows.py   decisions in the database; as an auditor reads them
flow_cache.py      the flows in this process; flows compiled from stored bytes, once for many
                   runs; what was used last; what stored runs read of them
lists.py           what it tells of its runs; runs by a shortened id
needs.py           what needs a person: gates, calls to settle, failed runs
retries.py         when a failed run is tried again; runs that nobody works on, gone on with
run_events.py      the events of a run, read and followed; as an auditor reads them
run_rows.py        rows of the table `runs`
settlement.py      calls that may have happened
upkeep.py          what people do beside that: settle, stop; runs that have ended, made small
"""
