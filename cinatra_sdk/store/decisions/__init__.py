"""Decisions of people: recorded in one transaction, and read again.

decision_entry.py  a decision, or several, checked and recorded; who may approve at gates of packs
decision_rows.py   the rows of decisions; `GateDecision`, one row for auditors
asked_gates.py     one gate as it was asked, open or decided
repeated_answers.py  the same answer by the same person, given again
"""
