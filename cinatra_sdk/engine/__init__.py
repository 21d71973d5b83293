"""What is asked of LangGraph: where a node stands, and whether it may act there.

runtime_context.py   what the host gives a run
tasks.py             which graph, node and task this is;  visits.py  how often a node was reached
checkpoints.py checkpoint_ids.py   savers with a strict serializer; the order of checkpoints
id_clock.py          how far this process is behind the one that made a checkpoint
lineage.py acting.py               a thread's own line, forks, and who may act in them
reentry.py           going on inside a subgraph;  own_thread.py  one graph per thread
"""
