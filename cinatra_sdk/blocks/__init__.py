"""Nodes for graphs that are written by hand.

host_node.py       the governed keys, and the end of a run
platform_steps.py  calls of the platform
proposal_graph.py  a change of tastes or notes that a person approves
step.py            a node with inputs and outputs that are templates
subgraph.py        a graph inside a node
"""
