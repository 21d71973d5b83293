"""Dialogues with a person: at gates, for inputs, before files change.

gate_dialogue.py  asks a person
input_form.py     typing, reading, filling in
run_dialogue.py   a run from stop to stop, with a person at the terminal; the running nodes
decision.py       a decision at the command line: finds the gate, decides, drives the run on; who
                  signs the record of a run that is stopped, or rejected without its flow
batch.py          several targets of one command, shown and then decided
fix_dialogue.py   the dialogue of commands that change files
"""
