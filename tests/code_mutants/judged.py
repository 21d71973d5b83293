"""Survivors that were looked at, each with its reason.

    JUDGED["cinatra_sdk/…::f compare: a < b → a <= b"]   ->   "the same: b is never reached"

The key is `Change.key`.  Written here is only what no caller can notice; for the others a test was
written, and whether it catches the change is tried out each time.
"""

from __future__ import annotations

JUDGED: dict[str, str] = {}
