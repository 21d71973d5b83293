"""Everything the SDK asks of LangGraph: where a node stands, and whether it may act there.

conversation.py    messages, as JSON and as LangChain's
graph_input.py     an answer without an id is for the pause that waits; no empty Command; the
                   input that begins a flow, of which nothing is lost; pauses of a node's own code
host_context.py    the host's context for a run
lineage.py         a thread's own line, its forks, and where nodes may act
list_channels.py   channels of lists that only grow
reentry.py         continues inside a subgraph
serializer.py      savers with a strict serializer
state_channels.py  the channels of a governed graph: sealed, appended, host-only
tasks.py           the running graph, node and task; how often a node was reached; what nodes of
                   graphs that are written by hand tell the host
thread_owner.py    one graph per thread
"""
