"""Explains what a flow does, before it runs.

records.py     the records of an explanation
wiring.py      what each node reads and writes
guarding.py    the gates before each send
host.py        data that Cinatra's compiler derives: policy, schemas, mappings, dependencies
explaining.py  all of it for one file

explain("agents/email-outreach").gates[0].guards   ->  ("sender_flow/sender-send",)
"""

from __future__ import annotations

from oas_compiler.explain.explaining import explain
from oas_compiler.explain.records import Explanation

__all__ = ["Explanation", "explain"]
