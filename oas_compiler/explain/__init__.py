"""Explains what a flow does, before it runs.

explainer.py    all of it for one file; the gates before each send; data that Cinatra's compiler
                derives: policy, schemas, mappings, dependencies
explanation.py  the records of an explanation; what each node reads and writes

explain("agents/email-outreach").gates[0].guards   ->  ("sender_flow/sender-send",)
"""

from __future__ import annotations

from oas_compiler.explain.explainer import explain
from oas_compiler.explain.explanation import Explanation

__all__ = ["Explanation", "explain"]
