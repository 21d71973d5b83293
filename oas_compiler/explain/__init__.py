"""What a flow does, said before it runs.

    records.py     what an explanation consists of
    wiring.py      what each node reads and writes
    guarding.py    which gates stand before which sends
    host.py        what Cinatra's compiler derives: policy, schemas, mappings, dependencies
    explaining.py  all of it for one file

    explain("agents/email-outreach").gates[0].guards   ->  ("sender_flow/sender-send",)

Named `explanation` so that `explain` is the function, wherever it is imported from.
"""

from __future__ import annotations

from oas_compiler.explain.explaining import explain
from oas_compiler.explain.records import Explanation

__all__ = ["Explanation", "explain"]
