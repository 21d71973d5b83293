"""Gates: a run pauses, a person decides, the run goes on or ends.

gate.py       what is shown, and its id;  hitl.py  `build_hitl_gate`
decisions.py  who decided what;  answers.py  what an answer may be
visits.py     how often a gate may be reached
"""
