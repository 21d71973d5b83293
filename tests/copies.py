"""Copies of folders that may be read-only, as input beside the project can be."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path


def copied(source: Path, target: Path) -> Path:
    """`target`, a copy of the folder `source` in which everything may be changed."""
    shutil.copytree(source, target)
    for path in (target, *target.rglob("*")):
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
    return target
