"""One run as records: where it stands, what happens in it, and what the store knows of it.

    Stop(status="waiting", gates=(Gate(…),))      what `advancing.advance` comes to
    Event(kind="finished", node="review")         what it tells on the way
    Run(id="r1", status="waiting", …)             a row of the store

Whoever only looks at runs loads no engine: see `advancing.py` for what drives them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from pydantic import JsonValue

from cinatra_sdk.contract import Status
from cinatra_sdk.errors import RunNotCompleted
from cinatra_sdk.gates.gate import Gate

OnEvent: TypeAlias = Callable[["Event"], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened during an activation, for people to watch."""

    kind: str
    """`started` or `finished`: one visit of one node."""
    node: str
    """Name of the node in the graph."""
    path: tuple[str, ...] = ()
    """The FlowNodes around it."""
    waits: bool = False
    """The node stopped at a gate."""
    error: str = ""
    decision: Mapping[str, JsonValue] | None = None
    """What was decided at the gate that finished: `{"approved", "skipped", "by", "reason", …}`."""
    next: str | None = None
    """Id of the node whose turn it is then, where the finished one says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Where a run stands when nothing more can be done without a person."""

    status: Status
    outputs: Mapping[str, JsonValue] | None = None
    branch: str | None = None
    """The branch name of the EndNode that was reached."""
    messages: tuple[Mapping[str, JsonValue], ...] = ()
    decisions: tuple[Mapping[str, JsonValue], ...] = ()
    rejected_at: str = ""
    gates: tuple[Gate, ...] = ()
    """Those that wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as the store knows it."""

    id: str
    status: Status
    tenant: str = ""
    flow: str = ""
    """The flow's name."""
    file: str = ""
    """Path of the file that it was started from, for people: nothing opens it; empty for none."""
    digest: str = ""
    input: Mapping[str, JsonValue] = field(default_factory=dict)
    """What it was started with, and what was answered since at its setup gates."""
    outputs: Mapping[str, JsonValue] | None = None
    branch: str | None = None
    messages: tuple[Mapping[str, JsonValue], ...] = ()
    waiting: tuple[Gate, ...] = ()
    """The gates that wait for a decision."""
    error: Mapping[str, JsonValue] | None = None
    """`{"code": …, "message": …, "node": …}` of a failed run."""
    attempts: int = 0
    stopped_by: str = ""
    """Who stopped a stopped run; empty where nobody said.  `updated_at` is when that was."""
    stop_reason: str = ""
    unreadable: tuple[str, ...] = ()
    """What of the stored run cannot be read, `waiting[0]: it has no "payload"`; empty: nothing."""
    started_by: str = ""
    """Who started it; empty where nobody said."""
    variables: tuple[str, ...] = ()
    """Names of the placeholders that it was started with: whoever goes on gives their values."""
    platform: Mapping[str, JsonValue] = field(default_factory=dict)
    """Where it calls, as its platform's `describe()` says it; no secret."""
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def result(self) -> Mapping[str, JsonValue]:
        """The outputs of a completed run.

        Raises: `RunNotCompleted` for every other one, with the error of a failed one.
        """
        if self.status == "completed":
            return self.outputs or {}
        raise RunNotCompleted(
            f"run '{self.id}' {self._describe_status()}",
            status=self.status,
            code=str((self.error or {}).get("code", "")),
            node=str((self.error or {}).get("node", "")),
        )

    def _describe_status(self) -> str:
        if self.error is not None:
            return f"failed at '{self.error.get('node', '')}': {self.error.get('message', '')}"
        if self.status == "waiting":
            return f"waits at {', '.join(gate.id for gate in self.waiting)}"
        return f"is {self.status}"
