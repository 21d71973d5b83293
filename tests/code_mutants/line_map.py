"""The tests that run a line, cheapest first.

    lines = LineMap.read_or_make(jobs=2)
    lines.tests_of(change)   ->   ["tests/gates/test_answers.py::test_…", …]

It is kept in `.tmp/mutants`, and made again for the files of tests that changed; for all of them where
a module of the rooms did.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.code_mutants.operators import Change, lines_of
from tests.code_mutants.rooms import ROOMS, ROOT, files_of_tests, modules_of, room_of
from tests.code_mutants.touched import FOLDER

KEPT = ROOT / ".tmp" / "mutants" / "lines.json"
SECONDS = 60.0
"""Of tests that one change is given; they took longer while their lines were written down."""
ROUND = 6
"""Tests of one file before those of the next."""
BATCH = 40
"""Files of tests after which what was learnt is kept."""
FILES = 20
"""Files of tests that one change is given: each is collected anew."""


@dataclass(kw_only=True)
class LineMap:
    """Test → seconds and lines, as `touched` writes them."""

    files: dict[str, dict[str, Any]]
    budget: float = SECONDS
    by_line: dict[tuple[str, int], set[tuple[str, str]]] = field(default_factory=dict)
    seconds: dict[tuple[str, str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found: dict[tuple[str, int], set[tuple[str, str]]] = defaultdict(set)
        for file, tests in self.files.items():
            for name, (seconds, modules) in tests.items():
                self.seconds[file, name] = seconds
                for module, lines in modules.items():
                    for line in lines:
                        found[module, line].add((file, name))
        self.by_line = dict(found)

    @classmethod
    def read_or_make(cls, *, jobs: int, only: Sequence[str] = ()) -> LineMap:
        """What is known, and what is looked up now: of every file of tests, or of those in `only`.

        Tests that fail without any change are told, and known by their lines all the same.
        """
        rooms = _digest(*(module for room in ROOMS for module in modules_of(room)))
        kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
        known = kept["files"] if kept.get("rooms") == rooms else {}
        digests = {file: _digest(file) for file in files_of_tests()}
        files = {file: found for file, found in known.items() if found[0] == digests.get(file)}
        old = [file for file in only or digests if file not in files]
        for begin in range(0, len(old), BATCH):
            batch = old[begin : begin + BATCH]
            print(f"lines of files of tests: {begin} of {len(old)}", flush=True)
            for file, tests in _look(batch, jobs=jobs).items():
                files[file] = [digests[file], tests]
            KEPT.parent.mkdir(parents=True, exist_ok=True)
            KEPT.write_text(json.dumps({"rooms": rooms, "files": files}), encoding="utf-8")
        return cls(files={file: tests for file, (_, tests) in files.items()})

    def tests_of(self, change: Change) -> list[tuple[str, str]]:
        """Those that run one of its lines: some of each file, then more of each, cheapest first.

        Files of the room itself come before others.
        """
        met: set[tuple[str, str]] = set()
        for line in lines_of(change):
            met |= self.by_line.get((change.module, line), set())
        by_file: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for test in sorted(met, key=lambda test: (self.seconds[test], test)):
            by_file[test[0]].append(test)
        # What is remembered between tests runs in the first of them alone: the others of its file, too.
        for file, direct in by_file.items():
            known = set(direct)
            for name, (_, modules) in self.files[file].items():
                if change.module in modules and (file, name) not in known:
                    direct.append((file, name))
        own = f"/{room_of(change.module)}/"
        files = sorted(by_file, key=lambda file: (own not in file, self.seconds[by_file[file][0]]))
        rounds = sorted(
            (place // ROUND, number, place)
            for number, file in enumerate(files[:FILES])
            for place in range(len(by_file[file]))
        )
        chosen: list[tuple[str, str]] = []
        spent = 0.0
        for _, number, place in rounds:
            test = by_file[files[number]][place]
            spent += self.seconds[test]
            if chosen and spent > self.budget:
                break
            chosen.append(test)
        return chosen


def _digest(*paths: str) -> str:
    """Of the files' bytes."""
    summed = hashlib.sha256()
    for path in paths:
        summed.update(path.encode() + b"\0" + (ROOT / path).read_bytes())
    return summed.hexdigest()


def _look(files: list[str], *, jobs: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="oasflow-lines-") as folder:
        ended = subprocess.run(
            [
                sys.executable, "-m", "pytest", "-q", "-p", "tests.code_mutants.touched",
                "-p", "no:cacheprovider", "-m", "not long", "--tb=short",
                "-n", str(jobs), "--dist", "loadfile", *files,
            ],
            cwd=ROOT,
            env={**os.environ, FOLDER: folder},
            check=False,
            stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        if ended.returncode:
            print(ended.stdout[-4000:])
        for written in Path(folder).glob("*.json"):
            found.update(json.loads(written.read_text(encoding="utf-8")))
    return found
