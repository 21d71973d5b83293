"""Where a run can stand."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Status: TypeAlias = Literal["running", "waiting", "completed", "rejected", "failed", "stopped"]
TERMINAL: Final[tuple[str, ...]] = ("completed", "rejected", "failed", "stopped")
