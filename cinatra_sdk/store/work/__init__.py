"""One worker at a time on a run, and no write by a worker that lost the run.

claims.py            the claim on a run: lock, lease and fence; the heartbeat that renews leases
saver.py             `RunSaver`: checkpoints, gates and events of the run, under the fence
statement.py         the writes of the engine and the events that wait, gathered into one statement
checkpoint_cache.py  the newest checkpoints, as the worker knows them
run_ledger.py        the ledger of a stored run, under the fence
"""
