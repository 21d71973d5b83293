"""Printed commands, with a word in place of the hash of what a gate shows."""

from __future__ import annotations

import re


def hashed(text: str) -> str:
    """`… --shown 465109e7b24f …` as `… --shown HASH …`."""
    return re.sub(r"--shown [0-9a-f]{16}\b", "--shown HASH", text)
