"""One worker at a time on a run, and nothing written by a worker that lost it.

claims.py     who works on a run: lock, lease and fence;  heartbeat.py  the lease, renewed
saver.py      `RunSaver`: the engine's checkpoints, with the run's gates and events, under the fence
gathered.py   what the engine writes, as one statement;  columns.py  records as its parameters
newest.py     what a worker knows of the checkpoints;  flushing.py  stores what has waited for a moment
events.py     events that wait to be stored;  ledger.py  effects, under the fence
going_on.py   whether a run can be gone on with from its checkpoints
"""
