"""Decision records of governed runs: made, signed, exported, verified, derived again; exports of runs.

story.py         a run as plain JSON (transcript) and as `RunStory`, from which its record is made
record_maker.py  a story -> its record: chained, hashed, signed
replay.py        a record derived again from its transcript, and compared
verifier.py      verifies an export; a program that needs nothing but Python
run_evidence.py  the lines of a run in an export: one of the four files of that program
signatures.py    signatures, verified: one of the four files of that program
exact_json.py    JSON with one text for each value: one of the four files of that program
"""
