"""Every name of LangGraph that is private or undocumented, and what this project makes of it.

No other module of the project uses such a name (tests/test_house.py counts them), and
tests/langgraph_internals/test_langgraph_names.py says of each what breaks when LangGraph changes it.

keys.py            the strings by which LangGraph speaks to itself in configurations and metadata
running_task.py    what LangGraph tells a running node about its graph, thread and answers
nodes.py           nodes in two forms, tasks, and branches that run without a task
channels.py        the classes from which channels are made
answer_errors.py   the mark of an answer that does not fit
checkpoint_ids.py  ids of checkpoints, without their values; ids above those that are there
postgres_saver.py  the statements of LangGraph's Postgres saver, and its cursor
"""
