"""A thread of LangGraph: its state, its own line, and whether a node may act there.

By documented names; private ones of LangGraph stand in `langgraph_internals/`.

state_channels.py  the governed channels of a graph: which write counts
list_channels.py   channels of lists that only grow: decisions and messages; messages as JSON
host_context.py    the host's context of a run: identity, policy, credentials
graph_input.py     the input and the answers of a caller, and the threads of other graphs: what is refused
tasks.py           the origin of a node's state; the visits of a hand-written graph, and its events
lineage.py         the line of a thread, its forks, and where nodes may act
reentry.py         continues an inner graph after a further input
serializer.py      checkpointers with a strict serializer
"""
