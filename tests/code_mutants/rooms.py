"""Which code is broken, and which tests may catch it.

modules_of("gates")   ->   [cinatra_sdk/gates/answers.py, …]
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

ROOMS: dict[str, str] = {
    "gates": "cinatra_sdk/gates",
    "governed": "cinatra_sdk/governed",
    "effects": "cinatra_sdk/outside/effects",
    "governance": "cinatra_sdk/governance",
    "platform": "cinatra_sdk/outside/http_calls",
    "work": "cinatra_sdk/store/work",
}
"""Name → folder: where an error lets something happen that a person refused, or happen twice."""

TESTS: tuple[str, ...] = (
    "tests/gates", "tests/governed", "tests/effects", "tests/governance", "tests/platform",
    "tests/store", "tests/blocks", "tests/flow", "tests/values", "tests/agents", "tests/lower",
    "tests/host", "tests/engine", "tests/models", "tests/context", "tests/passthrough",
    "tests/first_turn", "tests/lending",
)  # fmt: skip
"""Those that run in one process: a test of the command line is a process, whose lines nobody sees."""


def modules_of(room: str, root: Path = ROOT) -> list[str]:
    """Its modules as paths below the root."""
    found = sorted((root / ROOMS[room]).rglob("*.py"))
    return [str(file.relative_to(root)) for file in found]


def room_of(module: str) -> str:
    """The name of the room that a module stands in."""
    for name, folder in ROOMS.items():
        if module.startswith(folder + "/"):
            return name
    raise ValueError(f"{module} stands in none of the rooms: {', '.join(ROOMS.values())}")


def files_of_tests(root: Path = ROOT) -> list[str]:
    """The files of tests that are looked through."""
    found = {file for folder in TESTS for file in (root / folder).rglob("test_*.py")}
    return sorted(str(file.relative_to(root)) for file in found)
