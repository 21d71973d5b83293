"""The plugin that writes down which test runs which line of the rooms.

    OASFLOW_TOUCHED=folder pytest -p tests.code_mutants.touched …   ->   folder/PID.json

    {"tests/gates/test_answers.py": {"TEST": [seconds, {"cinatra_sdk/gates/answers.py": [12, 13]}]}}

A line that runs in another process, or while a module is imported, is not seen.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from tests.code_mutants.rooms import ROOMS, ROOT

FOLDER = "OASFLOW_TOUCHED"

_below = tuple(f"{ROOT / folder}/" for folder in ROOMS.values())
_watched: dict[CodeType, bool] = {}
_lines: set[tuple[str, int]] = set()
_found: dict[str, dict[str, Any]] = defaultdict(dict)


def _on_call(frame: FrameType, _event: str, _about: Any) -> Any:
    code = frame.f_code
    watched = _watched.get(code)
    if watched is None:
        watched = _watched[code] = code.co_filename.startswith(_below)
    if not watched:
        return None
    _lines.add((code.co_filename, frame.f_lineno))
    return _on_line


def _on_line(frame: FrameType, event: str, _about: Any) -> Any:
    if event == "line":
        _lines.add((frame.f_code.co_filename, frame.f_lineno))
    return _on_line


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _lines.clear()
    begun = time.perf_counter()
    threading.settrace(_on_call)
    sys.settrace(_on_call)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        file, _, name = item.nodeid.partition("::")
        by_module: dict[str, list[int]] = defaultdict(list)
        for path, line in sorted(_lines):
            by_module[str(Path(path).relative_to(ROOT))].append(line)
        _found[file][name] = [round(time.perf_counter() - begun, 3), by_module]


def pytest_sessionfinish() -> None:
    if _found:
        target = Path(os.environ[FOLDER]) / f"{os.getpid()}.json"
        target.write_text(json.dumps(_found), encoding="utf-8")
