"""What governed runs came to: records, signatures, exports, replays.

exact_json.py    an export verified, with the standard library alone
record_maker.py  decision records
replay.py        records derived again
signatures.py    an export verified, with the standard library alone
story.py         decision records
verifier.py      an export verified, with the standard library alone
"""
