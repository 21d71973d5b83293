"""Loaded components in, IR out: every inference and implicit edge made explicit.

flows.py          one flow and its subflows
nodes/            one component -> one node of the IR
ports.py          inputs and outputs
patterns.py       regular expressions of nodes
script_words.py   what a template that was written as JavaScript should say
"""
