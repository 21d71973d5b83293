"""Agent packages for tests of the guide: a complete one, from which each test takes or changes a thing.

agent(tmp_path)                                 nothing to say about it
agent(tmp_path, files={"scripts/a.py": "…"})    with a script
agent(tmp_path, manifest={"version": None})     without its version
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.checks.rule_case import findings, package_of
from tests.flows import Json, end, flow_of, gate, port, start

NAME = "@test/agent"
SKILL = """---
name: agent-agent
description: Tests the guide.
---

Reads the topic.

## What I retrieve myself (MCP)

Nothing.
"""


def flow(*nodes: Json, about: Json | None = None, **fields: Any) -> Json:
    """A flow of the package; `about` is added to its `metadata.cinatra`."""
    made = flow_of(*(nodes or (start(port("topic")), end())), **fields)
    made["metadata"]["cinatra"] |= about or {}
    return made


def gated(**cinatra: Any) -> Json:
    return flow(start(), gate("review", **cinatra), end())


def agent(
    folder: Path,
    made: Json | None = None,
    *,
    manifest: Json | None = None,
    cinatra: Json | None = None,
    skill: str | None = SKILL,
    files: dict[str, str] | None = None,
) -> Path:
    """Write a package; `manifest` and `cinatra` change package.json, and `None` takes a key out."""
    about = {"kind": "agent", "dependencies": [], "agentDependencies": {}, **(cinatra or {})}
    whole = {"name": NAME, "version": "1.0.0", "license": "Apache-2.0"} | (manifest or {})
    whole["cinatra"] = {key: value for key, value in about.items() if value is not None}
    texts = {**(files or {}), **({"SKILL.md": skill} if skill is not None else {})}
    whole = {key: value for key, value in whole.items() if value is not None}
    return package_of(folder, made if made is not None else flow(), whole, **texts)


def script(folder: Path, text: str, name: str = "scripts/work.py") -> Path:
    """A package with one script."""
    return agent(folder, files={name: text})


def told(source: Any, code: str) -> list[tuple[str, int, int]]:
    """(file within the package, line, column) of each finding of one rule."""
    return [
        (Path(finding.file).relative_to(source).as_posix(), finding.line, finding.column)
        for finding in findings(source, code)
    ]


def only(source: Any, code: str) -> Any:
    """The one finding of a rule."""
    found = findings(source, code)
    assert len(found) == 1, found
    return found[0]
