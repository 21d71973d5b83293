"""Gates: a run pauses, a person decides, the run goes on or ends.

gate.py       a waiting gate and its id;  hitl.py  `build_hitl_gate` decisions.py  who decided what;
answers.py  the allowed answers of a gate visits.py     how often a gate may be reached
"""
