"""How a test of a rule looks at its findings: an invalid case beside the valid twin it differs from.

assert found(bad, "OAS044") == ["/control_flow_connections/1"]
assert found(good, "OAS044") == []
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oas_compiler import Finding, check

Json = dict[str, Any]


def findings(source: Any, code: str, **options: Any) -> list[Finding]:
    """The findings of one rule; a mapping is written out first, so that lines are known."""
    if isinstance(source, Mapping):
        source = json.dumps(source, indent=1).encode()
    return [finding for finding in check(source, **options) if finding.code == code]


def found(source: Any, code: str, **options: Any) -> list[str]:
    """The pointers of the findings of one rule, in file order; each has a line and a column."""
    every = findings(source, code, **options)
    assert all(finding.line and finding.column and finding.message for finding in every)
    return [finding.pointer for finding in every]


def package_of(folder: Path, flow: Json, manifest: Json | None = None, **files: str) -> Path:
    """Write an agent package: cinatra/oas.json, package.json and other files by their name.

    `files`: name to text; write other names than identifiers as `**{"scripts/a.py": "…"}`.
    """
    (folder / "cinatra").mkdir(parents=True, exist_ok=True)
    (folder / "cinatra" / "oas.json").write_text(json.dumps(flow, indent=1), encoding="utf-8")
    if manifest is not None:
        (folder / "package.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
