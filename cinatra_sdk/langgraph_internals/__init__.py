"""Every name of LangGraph that is private or undocumented, and what this project makes of it.

No other module of the project uses such a name (tests/test_house.py counts them), and
tests/langgraph_internals/test_langgraph_names.py says of each what breaks when LangGraph changes it.

keys.py            LangGraph's own strings in configurations and metadata
task_facts.py      graph, thread and answers of the running node; the mark of an answer that does not fit
nodes.py           nodes in two forms, tasks, and branches that run without a task
channels.py        the base classes of channels
checkpoint_ids.py  the ids of checkpoints, read without their values; new ids above the old ones
postgres_saver.py  the statements of LangGraph's Postgres saver, and its cursor
"""
