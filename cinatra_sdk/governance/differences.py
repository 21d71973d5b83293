"""Where two JSON values differ, by place.

compare("", {"a": {"b": 1}}, {"a": {"b": 2}})   ->  [ReplayDifference("a/b", 1, 2)]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """Where a replay comes to something else."""

    place: str
    recorded: Any
    derived: Any


def compare(place: str, recorded: Any, derived: Any) -> list[ReplayDifference]:
    if isinstance(recorded, Mapping) and isinstance(derived, Mapping):
        return [
            one
            for key in sorted({*recorded, *derived})
            for one in compare(f"{place}/{key}".lstrip("/"), recorded.get(key), derived.get(key))
        ]
    return [] if recorded == derived else [ReplayDifference(place, recorded, derived)]
