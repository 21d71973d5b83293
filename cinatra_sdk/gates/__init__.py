"""Gates: a run pauses, a person decides, the run goes on or ends.

answers.py    the JSON that answers a gate
decisions.py  who decided what; what a gate showed, by its hash
dialects.py   the answers of other clients, as that JSON; a value that decides by itself inside an
              approval
gate.py       a waiting gate and its id
hitl.py       `build_hitl_gate`; what was said before a gate; how often a gate may be reached
forms/        the answers that a gate accepts, one module for each kind of gate
"""
