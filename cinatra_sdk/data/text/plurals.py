"""Numbers of things as people say them.

say_number(1, "run")                  ->  "1 run"
say_number(3, "run")                  ->  "3 runs"
say_number(2, "entry", "entries")     ->  "2 entries"
"""

from __future__ import annotations


def say_number(count: int, one: str, many: str = "") -> str:
    """many: the words for every other number than one; empty takes an s behind `one`."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
