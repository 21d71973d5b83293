"""Decision records of governed runs: made, signed, exported, verified, derived again.

story.py         a run as plain JSON (transcript) and as `RunStory`, from which its record is made
record_maker.py  a story -> its record: chained, hashed, signed
replay.py        a record derived again from its transcript, and compared
verifier.py      verifies an export; a program that needs nothing but Python
signatures.py    signatures, verified: one of the three files of that program
exact_json.py    JSON with one text for each value: one of the three files of that program
"""
