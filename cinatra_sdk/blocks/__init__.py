"""Nodes for graphs that are written by hand.

step.py         a node with inputs and outputs that are templates
host_node.py    the governed keys, and the end of a run
proposing.py    a change of tastes or notes that a person approves
subgraph.py     a graph inside a node;  child_agent.py llm_step.py  calls of the platform
"""
