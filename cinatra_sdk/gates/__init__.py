"""Gates: a run pauses, a person decides, the run goes on or ends.

hitl.py       `build_hitl_gate`
gate.py       a waiting gate and its id
answers.py    the JSON that answers a gate
dialects.py   the answers of other clients, as that JSON
contradiction.py    a value that decides by itself inside an approval
forms/        the answers that a gate accepts, one module for each kind of gate
decisions.py  who decided what
shown.py      what a gate showed, by its hash
said.py       what was said before a gate
visits.py     how often a gate may be reached
"""
