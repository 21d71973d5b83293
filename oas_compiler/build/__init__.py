"""The wire model in, the IR out: every inference made explicit, every default and edge named.

flows.py        one flow: its nodes, each built by its kind, and its edges
"""
