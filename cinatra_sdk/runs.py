"""Records of a run: its state at a stop, and its row in the store.

    Stop(status="waiting", gates=(Gate(…),))      the result of `activations.advance`
    Run(id="r1", status="waiting", …)             a row of the store

This module loads no engine, so that listing runs is fast; `activations.py` drives runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.contract import Status
from cinatra_sdk.errors import RunNotCompleted
from cinatra_sdk.events import RunEvent
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.governed.person import NOBODY, PersonRecord
from cinatra_sdk.light_imports.records import dataclass

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

OnEvent: TypeAlias = Callable[[RunEvent], None]
"""A watcher of a run: called in a thread of its own, in the order of the events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Where a run stands when it cannot continue without a person."""

    status: Status
    outputs: Mapping[str, JsonValue] | None = None
    branch: str | None = None
    """The branch name of the EndNode that was reached."""
    messages: tuple[Mapping[str, JsonValue], ...] = ()
    """What was said, in order: `{"role", "content", "node", "path", "id", …}`; see
    `cinatra_sdk.langgraph_threads.list_channels`.
    """
    decisions: tuple[Mapping[str, JsonValue], ...] = ()
    rejected_at: str = ""
    gates: tuple[Gate, ...] = ()
    """The waiting gates."""

    def conversation(self) -> list[BaseMessage]:
        """The messages as LangChain has them."""
        return _make_conversation(self.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as its row in the store has it."""

    id: str
    status: Status
    tenant: str = ""
    flow: str = ""
    """The flow's name."""
    file: str = ""
    """Path of the flow's file, for people; never opened; empty where there is no file."""
    digest: str = ""
    input: Mapping[str, JsonValue] = field(default_factory=dict)
    """The inputs at the start, and the inputs that were answered since at setup gates."""
    outputs: Mapping[str, JsonValue] | None = None
    branch: str | None = None
    messages: tuple[Mapping[str, JsonValue], ...] = ()
    """As in `Stop`."""
    waiting: tuple[Gate, ...] = ()
    """The gates that wait for a decision."""
    error: Mapping[str, JsonValue] | None = None
    """`{"code": …, "message": …, "node": …}` of a failed run, or of one that waits for a person who
    finds out whether a call happened (code `effect_unknown`), or for a run that it began
    (`child_waits`)."""
    attempts: int = 0
    stopped_by: str = ""
    """The person who stopped the run; empty where no name was given.  `updated_at` is the time of
    the stop.
    """
    stopper: PersonRecord = NOBODY
    """The same person, with what was proved of them and by which channel they came."""
    stop_reason: str = ""
    unreadable: tuple[str, ...] = ()
    """The unreadable parts of the stored run, as `waiting[0]: it has no "payload"`; empty without
    any.
    """
    started_by: str = ""
    """The person who started the run; empty where no name was given."""
    starter: PersonRecord = NOBODY
    """As `stopper`, of the person who started the run."""
    variables: tuple[str, ...] = ()
    """Names of the flow's placeholders; a process that continues the run supplies their values."""
    platform: Mapping[str, JsonValue] = field(default_factory=dict)
    """The platform's `describe()`; holds no secret."""
    owner: str = ""
    """The person or agent whose run it is; empty where nobody said."""
    session: str = ""
    """The conversation that the run belongs to."""
    parent: str = ""
    """Id of the run that began this run."""
    parent_path: str = ""
    """Path of the parent's node that began this run."""
    deadline: datetime | None = None
    failures: int = 0
    """Activations in a row that died or failed."""
    retry_at: datetime | None = None
    """When a sweep tries a failed run again; None: not until a person resumes it."""
    paused_at: datetime | None = None
    """When somebody paused the run; None: it is not paused, or has ended.  A person resumes it."""
    paused_by: str = ""
    """The person who paused it; empty where no name was given."""
    archived_at: datetime | None = None
    """When what only going on needs was removed; None: it was not.  The evidence stays."""
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def result(self) -> Mapping[str, JsonValue]:
        """The outputs of a completed run.

        Raises: `RunNotCompleted` for every other run, with the error of a failed run.
        """
        if self.status == "completed":
            return self.outputs or {}
        raise RunNotCompleted(
            f"run '{self.id}' {self._describe_status()}",
            status=self.status,
            code=str((self.error or {}).get("code", "")),
            node=str((self.error or {}).get("node", "")),
        )

    def conversation(self) -> list[BaseMessage]:
        """The messages as LangChain has them: for a chat model, or another graph."""
        return _make_conversation(self.messages)

    def _describe_status(self) -> str:
        if self.error is not None and self.status == "waiting":
            if self.error.get("code") == "child_waits":
                return f"waits for another run: {self.error.get('message', '')}"
            return f"waits for a person: {self.error.get('message', '')}"
        if self.error is not None:
            return f"failed at '{self.error.get('node', '')}': {self.error.get('message', '')}"
        if self.status == "waiting":
            return f"waits at {', '.join(gate.id for gate in self.waiting)}"
        return f"is {self.status}"


def _make_conversation(records: Iterable[Mapping[str, JsonValue]]) -> list[BaseMessage]:
    from cinatra_sdk.langgraph_threads.list_channels import make_messages  # loads LangChain

    return make_messages(records)
