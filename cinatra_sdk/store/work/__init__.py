"""One worker at a time on a run, and nothing written by a worker that lost it.

saver.py     `RunSaver`: the engine's checkpoints, with the run's gates and events, under the fence
gathered.py  what the engine writes at once, as one statement
events.py    events that wait for the next write
"""
