"""`RunEvent`: one thing that happened in a run.

    RunEvent(kind="node", name="started", path="outer#2/each[3]/draft", visit=1)
    RunEvent(kind="node", name="finished", path="review", data={"next": "send"})

| kind | names | data |
|---|---|---|
| `run` | `created`, `started`, `resumed`, `stopped` (and every other status at which it comes to rest), `archived` | `by`, `reason` |
| `node` | `started`; `finished`, `paused`, `failed` | `next`, `branch`, `decision`; `gate`; `error`, `code` |
| `gate` | `opened`, `closed` | `gate` |
| `decision` | `approved`, `rejected`, `denied`, `auto_skipped` | `gate`, `by`, `reason` |
| `effect` | `begun`, `done`, `replayed`, `failed`, `refused`, `unknown`, `settled` | `kind`, `capability`, `key`; `code`, `error` |
| `message` | `said` | `role`, `content` |
| `usage` | `spent` | what it counts |
| `token` | `said`; `dropped`: the model is asked again | `text`; live only, never stored |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias
from urllib.parse import unquote

from pydantic import JsonValue

Kind = Literal["run", "node", "gate", "decision", "effect", "message", "usage", "token"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """One thing that happened in a run; holds no credential."""

    kind: Kind
    name: str
    path: str = ""
    """The node: the nodes around it with their visits and items, then its own id; empty: the run.

    Its parts are escaped as in ids of gates (`cinatra_sdk.gates.gate.label`).
    """
    visit: int = 0
    """Of the node, from 1; 0 where the event is no node's."""
    data: Mapping[str, JsonValue] = field(default_factory=dict)
    run_id: str = ""
    """Set, like `seq` and `at`, by the store that keeps the event."""
    seq: int = 0
    """Number in its run, from 1 without a gap."""
    at: datetime | None = None
    """The database's time."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """The author's ids of the nodes around the node, from the outermost on, then its own."""
        return tuple(node for node, _ in split_path(self.path))

    @property
    def node(self) -> str:
        """The author's id of the node; empty for an event of the run."""
        return self.nodes[-1] if self.path else ""


Tell: TypeAlias = Callable[[RunEvent], None]


def split_path(path: str) -> tuple[tuple[str, int | None], ...]:
    """The author's id of each node of a path, from the outermost on, with its item.

    `outer#2/each[3]/draft` → (outer, None), (each, 3), (draft, None): a `#` or `[` of an id itself is
    escaped.
    """
    return tuple(_split_part(part) for part in path.split("/")) if path else ()


def _split_part(part: str) -> tuple[str, int | None]:
    label, _, item = part.partition("[")
    number = item.rstrip("]")
    return unquote(label.partition("#")[0]), int(number) if number.isdecimal() else None
