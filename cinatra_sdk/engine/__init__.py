"""Everything the SDK asks of LangGraph: where a node stands, and whether it may act there.

runtime_context.py   the host's context for a run
tasks.py             the running graph, node and task;  visits.py  how often a node was reached
checkpoints.py checkpoint_ids.py   savers with a strict serializer; the order of checkpoints
id_clock.py          ids above the checkpoints that are there, whatever the clock says
lineage.py acting.py               a thread's own line, its forks, and where nodes may act
pausing.py           pauses of a node's own code
telling.py           what nodes of graphs that are written by hand tell the host
reentry.py           continues inside a subgraph;  own_thread.py  one graph per thread
start_input.py       the input that begins a flow, of which nothing is lost
answering.py         an answer without an id is for the pause that waits; no empty Command
"""
