"""Workspaces for tests, written from data: a name → what stands there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def build_tree(root: Path, files: Mapping[str, Any]) -> None:
    """Text as it is; `{"hex": …}`, `{"folder": true}`, `{"pipe": true}`, `{"link": "target"}`, or
    `{"before": …, "repeat": …, "times": …, "after": …}`.
    """
    for name, content in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            place.write_bytes(content.encode("utf-8"))
        elif "hex" in content:
            place.write_bytes(bytes.fromhex(content["hex"]))
        elif "folder" in content:
            place.mkdir()
        elif "pipe" in content:
            os.mkfifo(place)
        elif "link" in content:
            place.symlink_to(content["link"])
        else:
            repeated = content["repeat"] * content["times"]
            text = content.get("before", "") + repeated + content.get("after", "")
            place.write_bytes(text.encode("utf-8"))
