"""Packs: from a folder or a database, and joined into the rules of one run.

pack_registry.py  one exact version of a pack, by its reference; which packs fit each other
rulebook.py       all packs of a run, joined and checked
pack_policy.py    rulebook and facts -> the word of the packs on one call
plan_outputs.py   the outputs that a plan may have, each taken from a result
"""
