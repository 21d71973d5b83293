"""The runs of a store: created, driven, listed, tried again, ended.

creation.py    a new run, checked and stored
activation.py  one activation of a run, to its next stop
flow_cache.py  the flows in this process, shared by the runs that may share them
run_rows.py    a row of the table `runs` <-> `Run`
lists.py       one run, lists of runs, their decisions and flows; runs by a shortened id
run_events.py  the events of a run, read and followed
needs.py       gates to decide, calls to settle, failed runs to resume
retries.py     when a failed run is tried again
settlement.py  a person's word on a call that may have happened
replay.py      a run carried out again from its evidence, in memory
layouts.py     runs that another version left, and what people are told of them
rebuilding.py  checkpoints made again from it; what becomes of a run, and whether it is what is stored
upgrades.py    runs of other versions; verifying a run
upkeep.py      settle, stop, archive
"""
