"""One worker at a time on a run, and no write by a worker that lost the run.

claims.py               the claim on a run: lock, lease and fence; the heartbeat that renews leases
due_runs.py             runs that can go on and that nobody works on; the next one for a sweep
sweep.py                free slots that go on with them
brakes.py               each stops one activation before its next step: a pause, the end of the process
saver.py                `RunSaver`: checkpoints, gates and events of the run, under the fence
statement.py            the writes of the engine, gathered into one statement
event_rows.py           events that wait to be stored; rows as one JSON parameter (needs no engine)
checkpoint_cache.py     the newest checkpoints, as the worker knows them
rebuilt_checkpoints.py  checkpoints made again in memory, stored in place of a run's own
checkpoint_damage.py    whether checkpoints are whole
run_ledger.py           the ledger of a stored run, under the fence
"""
