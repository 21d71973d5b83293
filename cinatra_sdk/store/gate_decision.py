"""One row of the table of decisions, as an auditor reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal, Self

from cinatra_sdk.store.paging import read_objects


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GateDecision(Mapping[str, Any]):
    """Who decided what at which visit of a gate, when and why.  The row never changes.

    Its members can be read by name as well: `record["decided_by"]`, `dict(record)`.
    """

    run_id: str
    gate_id: str
    """The gate, with the number of its visit from the second visit on: `review`, `review#2`,
    `drafts/approve`.
    """
    tenant: str
    node: str
    visit: int
    """The first visit is 1."""
    step: int
    """Number of the step of the approval policy; 0 is the setup."""
    kind: Literal["approved", "rejected", "denied", "auto_skipped"]
    answer: Mapping[str, Any]
    """The JSON that resumes the gate; for a setup gate `{input: value}` under `value`."""
    decided_by: str
    """The given name of the person; `policy` where no person was asked."""
    decided_at: datetime
    """Time of the database's clock."""
    reason: str
    payload_sha256: str
    """Hash of the gate's payload, as JSON with sorted keys; empty where the gate showed nothing."""
    policy_sha256: str
    """Hash of the approval policy in force."""
    unreadable: tuple[str, ...] = ()
    """What is wrong with an answer that cannot be read, and is empty here; no member of the mapping."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        objects, problems = read_objects(dict(row), "answer")
        return cls(**{name: row[name] for name in _NAMES} | objects, unreadable=problems)

    def to_json(self) -> dict[str, Any]:
        """The record as JSON; the time in ISO 8601, with its zone."""
        told = {**self, "decided_at": self.decided_at.isoformat()}
        return {**told, "unreadable": list(self.unreadable)} if self.unreadable else told

    def __getitem__(self, name: str) -> Any:
        if name not in _NAMES:
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


_NAMES = tuple(field.name for field in fields(GateDecision) if field.name != "unreadable")
