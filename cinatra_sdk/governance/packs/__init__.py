"""Packs: where they come from, and the rules that they make together.

pack_registry.py  packs by pinned references, and the intents that they take
rulebook.py       what the packs allow: a pure function
plan_outputs.py   plans, what is said of them, and what their ends claim
"""
