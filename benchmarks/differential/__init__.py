"""The same flows through three runtimes: ours, the LangGraph adapter of pyagentspec, and WayFlow.

cases.py     the flows, their inputs and the answers of people;  documents.py  a file for each component type
peers.py     runs one case in the environment of the peers; imports nothing of ours
compare.py   all of them, and docs/agent-spec.md

    .venv/bin/python -m benchmarks.differential.compare --write
"""
