"""What happens in a run, told while it happens.

event.py      `RunEvent`: one thing that happened
telling.py    from a node to the host: never raises
watching.py   from the host to whoever watches: a watcher that raises, hangs or goes away changes nothing
"""
