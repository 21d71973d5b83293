"""One call of a run to the outside, as its ledger keeps it; without what the call gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal, Self, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.store.paging import read_objects

EffectStatus: TypeAlias = Literal["begun", "done", "failed", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRecord:
    """What was called, when, how often and with what end."""

    run_id: str
    key: str
    """Its Idempotency-Key."""
    kind: Literal["http", "tool", "model", "mcp", "a2a"]
    capability: str
    """What was called: method and url, the name of a tool, or provider and model."""
    path: str
    """The node, as events name it."""
    visit: int
    item: int | None
    """Element of a map, from 0; None outside of maps."""
    risk: str
    status: EffectStatus
    attempts: int
    usage: Mapping[str, Any]
    """What it cost; empty where it has not ended."""
    error: Mapping[str, Any]
    """`{"code": …, "message": …}` of a call that failed; else empty."""
    request_sha256: str
    shown_sha256: str
    """Of what a person approved; empty where nobody was asked."""
    result_sha256: str
    """Of the result of an archived run; empty while the result is there."""
    begun_at: datetime
    ended_at: datetime | None
    unreadable: tuple[str, ...] = ()
    """The columns that cannot be read, each with what is wrong; they are empty here."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        objects, problems = read_objects(dict(row), "usage", "error")
        return cls(**{**row, **objects, "unreadable": problems})

    def to_json(self) -> dict[str, JsonValue]:
        """The record as JSON; moments in ISO 8601, with their zone."""
        ended = None if self.ended_at is None else self.ended_at.isoformat()
        told = {"begun_at": self.begun_at.isoformat(), "ended_at": ended}
        return {**asdict(self), **told, "unreadable": list(self.unreadable)}
