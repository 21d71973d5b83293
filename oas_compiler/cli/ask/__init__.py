"""Dialogues with a person: at gates, for inputs, before files change.

run_dialogue.py   a run from stop to stop, and its progress
gate_dialogue.py  the question of one gate: approve, reject, or leave the gate waiting
input_form.py     a form of several fields; the missing inputs of a run
decision.py       a decision of the command line: gate, decision, next stop of the run
batch.py          several targets of one command, shown and then decided
fix_dialogue.py   the diff, the question and the writing of commands that change files
"""
