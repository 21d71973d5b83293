"""Explains what a flow does, before it runs.

explainer.py    a flow file -> its `Explanation`; the data that Cinatra's compiler would derive
explanation.py  the records of an explanation; the sources and readers of each node

explain("agents/email-outreach").gates[0].guards   ->  ("sender_flow/sender-send",)
"""

from __future__ import annotations

from oas_compiler.explain.explainer import explain
from oas_compiler.explain.explanation import Explanation

__all__ = ["Explanation", "explain"]
