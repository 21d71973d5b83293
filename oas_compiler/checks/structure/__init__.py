"""Conditions of lowering: Agent Spec's rules for control edges, data edges, types and ports.

gaps.py, edges.py, reach.py and ports_of.py are no rules; rules share them.
"""
