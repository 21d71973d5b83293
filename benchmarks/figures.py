"""Figures and how they are shown.

In: lists of seconds, rows of figures.  Out: medians and 95th percentiles, and a table as text.
"""

from __future__ import annotations

import functools
import gc
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any


def timed(work: Callable[[], object]) -> float:
    """Seconds that `work` takes by the wall clock, with the garbage of earlier work gone."""
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def timed_and_busy(work: Callable[[], object]) -> tuple[float, float]:
    """As `timed`, and the seconds of processor time that this process took for it."""
    gc.collect()
    start, began = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - began


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile (nearest rank)."""
    ranked = sorted(seconds)
    return {
        "median_ms": round(statistics.median(ranked) * 1e3, 2),
        "p95_ms": round(ranked[-(-len(ranked) * 95 // 100) - 1] * 1e3, 2),
    }


def forget_caches() -> None:
    """Empty every function cache of ours, so that a repeated compilation is a first one."""
    for found in gc.get_objects():
        if type(found) is functools._lru_cache_wrapper and found.__module__.startswith(
            ("oas_compiler", "cinatra_sdk")
        ):
            found.cache_clear()


def table(title: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """The rows as a Markdown table under their title."""
    rows = list(rows)
    heads = list(dict.fromkeys(key for row in rows for key in row))
    cells = [heads, *([_cell(row.get(head, "")) for head in heads] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(heads))]
    lines = [_line(line, widths) for line in cells]
    return "\n".join(
        [f"### {title}", "", lines[0], _line(["-" * w for w in widths], widths), *lines[1:]]
    )


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return "| " + " | ".join(padded) + " |"


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
