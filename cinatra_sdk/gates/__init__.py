"""Gates: a run pauses, a person decides, the run goes on or ends.

hitl.py       `build_hitl_gate`: the node that pauses, and the identity of a gate
gate.py       `Gate`: a waiting gate with its payload and its id
decisions.py  `Decision`: approve, reject or deny; the hash of what the gate showed
answers.py    the JSON that answers a gate
dialects.py   answers in the words of other clients -> that JSON
forms/        the answers that a gate accepts, one module for each kind of gate
"""
