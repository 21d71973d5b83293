"""What a first turn costs on a workspace that has grown for years.

In: how many lines of notes and of log.  Out: one row of figures for each size.

    measure([(100, 1_000), (10_000, 100_000)])
        ->  [{"notes_lines": 100, "log_lines": 1000, "median_ms": 0.9, "peak_kb": 310, …}, …]
"""

from __future__ import annotations

import json
import tempfile
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import milliseconds, timed
from cinatra_sdk.first_turn import read_context

SIZES = [(100, 1_000), (1_000, 10_000), (10_000, 100_000)]


def measure(sizes: Sequence[tuple[int, int]] = SIZES, *, repeat: int = 41) -> list[dict[str, Any]]:
    """One row for each pair of (lines of notes, lines of log and of gaps)."""
    with tempfile.TemporaryDirectory() as folder:
        return [_figures(Path(folder) / str(log), notes, log, repeat) for notes, log in sizes]


def build_workspace(root: Path, notes: int, log: int) -> None:
    image, tastes = root / "work" / "img", root / "tastes"
    image.mkdir(parents=True)
    tastes.mkdir()
    for name in ("_default", "underwater", "portrait"):
        lines = (f"- {name} likes number {number}\n" for number in range(100))
        (tastes / f"{name}.md").write_text("".join(lines) + "- soft light\n")
    (image / "brief.md").write_text("Tastes: [underwater, portrait]\nShow the blue.\n")
    (image / "notes.md").write_text("".join(f"note {n} {'y' * 60}\n" for n in range(notes)))
    for name, entry in (("log", {"op": "crop"}), ("vocabulary_gaps", {"description": "a haze"})):
        lines = (json.dumps({"timestamp": n, **entry, "note": "x" * 60}) + "\n" for n in range(log))
        (image / f"{name}.jsonl").write_text("".join(lines))


def _figures(root: Path, notes: int, log: int, repeat: int) -> dict[str, Any]:
    build_workspace(root, notes, log)

    def read() -> None:
        turn = read_context(root / "work", "img", tastes_dir=root / "tastes")
        assert len(turn.recent_log) == 10

    read()
    seconds = [timed(read) for _ in range(repeat)]
    tracemalloc.start()
    read()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "notes_lines": notes,
        "log_lines": log,
        **milliseconds(seconds),
        "peak_kb": round(peak / 1_000),
    }
