"""One worker at a time on a run, and nothing written by a worker that lost it.

checkpoint_cache.py  what a worker knows of the checkpoints
claims.py            who works on a run: lock, lease and fence; the lease, renewed; stores what
                     has waited for a moment
event_rows.py        records as its parameters; events that wait to be stored
run_ledger.py        effects, under the fence
saver.py             `RunSaver`: the engine's checkpoints, with the run's gates and events, under
                     the fence
statement.py         what the engine writes, as one statement
"""
