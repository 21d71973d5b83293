"""A tree of agent packages on disk, written as a test reads best.

write_packages(tmp_path, {"a": {"version": "1.0.0", "wants": {"b": "^1.0.0"}}, "b": {…}})
    -> tmp_path/a/package.json with the name "@x/a", …
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_packages(root: Path, packages: Mapping[str, Mapping[str, Any]]) -> Path:
    """Folder → what is in it: `name`, `version`, `wants`, `listed`, `flow`, `cinatra`."""
    for folder, about in packages.items():
        home = root / folder
        home.mkdir(parents=True, exist_ok=True)
        cinatra: dict[str, Any] = dict(about.get("cinatra", {}))
        if "wants" in about:
            cinatra["agentDependencies"] = {full(k): v for k, v in about["wants"].items()}
        if "listed" in about:
            cinatra["dependencies"] = about["listed"]
        manifest: dict[str, Any] = {
            "name": about.get("name", full(folder.rpartition("/")[2])),
            "version": about.get("version", "1.0.0"),
            "cinatra": cinatra,
        }
        (home / "package.json").write_text(json.dumps(manifest, indent=2), "utf-8")
        if "flow" in about:
            (home / "cinatra").mkdir(exist_ok=True)
            text = about["flow"] if isinstance(about["flow"], str) else json.dumps(about["flow"])
            (home / "cinatra" / "oas.json").write_text(text, "utf-8")
    return root


def full(name: str) -> str:
    return name if name.startswith("@") else f"@x/{name}"


def listed(name: str, wanted: Any = "^1.0.0", **more: Any) -> dict[str, Any]:
    """An entry of the newer `dependencies`."""
    return {
        "packageName": full(name),
        "edgeType": "runtime",
        "versionConstraint": {"kind": "semver-range", "range": wanted},
        "requirement": "required",
        "kind": "agent",
        **more,
    }
