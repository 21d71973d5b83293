"""Plans: the refs that a slot was offered, kept so that a choice from them holds when artifacts
change.

    plan = ContextPlan(org_id="o1", parent_run_id="r1", …, refs=resolution.candidates)
    plan.token                  "9c1f…"; the same offer has the same token
    keep(connection, plan)      stores the plan; storing it again only renews its time
    load(connection, token)     the plan; None for an unknown token
    last_for(connection, plan)  the last offer to the owner of `plan`
    forget(connection, moment)  deletes plans that were last offered before then: they are no evidence

A token is a name and not a secret: the caller must compare the plan's owner with the asker.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from psycopg.types.json import Json
from pydantic import JsonValue

from cinatra_sdk.context.refs import ResolvedContextRef
from cinatra_sdk.postgres.connection import Row, Rows, every, one, run

_TOKEN: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPlan:
    """The refs that one slot of one run was offered, as they were at that time."""

    org_id: str
    parent_run_id: str
    parent_package_name: str
    slot_id: str
    refs: tuple[ResolvedContextRef, ...]

    @property
    def token(self) -> str:
        """sha256, in hex, of everything in the plan."""
        value = [*self.owner, self.wire()]
        return hashlib.sha256(json.dumps(value, separators=(",", ":")).encode()).hexdigest()

    @property
    def owner(self) -> tuple[str, str, str, str]:
        """Organisation, run, package and slot of the plan."""
        return self.org_id, self.parent_run_id, self.parent_package_name, self.slot_id

    def wire(self) -> list[JsonValue]:
        """The refs under their camelCase keys, without names: renaming an artifact does not change
        the offer.
        """
        return [dict(ref.pinned()) for ref in self.refs]


def keep(connection: Rows, plan: ContextPlan) -> None:
    run(
        connection,
        "insert_plan",
        {
            "token": plan.token,
            "org_id": plan.org_id,
            "parent_run_id": plan.parent_run_id,
            "parent_package_name": plan.parent_package_name,
            "slot_id": plan.slot_id,
            "refs": Json(plan.wire()),
        },
    )


def load(connection: Rows, token: str) -> ContextPlan | None:
    """The plan of `token`; `None` for an unknown or malformed token."""
    if _TOKEN.fullmatch(token) is None:
        return None
    return _read_plan_row(one(connection, "load_plan", {"token": token}))


def last_for(connection: Rows, asking: ContextPlan) -> ContextPlan | None:
    """The last plan for the owner of `asking`; `None` where there is no plan."""
    keys = ("org_id", "parent_run_id", "parent_package_name", "slot_id")
    return _read_plan_row(one(connection, "last_plan", dict(zip(keys, asking.owner, strict=True))))


def _read_plan_row(row: Row | None) -> ContextPlan | None:
    if row is None:
        return None
    refs = tuple(ResolvedContextRef.model_validate(ref) for ref in row.pop("refs"))
    return ContextPlan(refs=refs, **row)


def forget(connection: Rows, before: datetime) -> int:
    """Delete plans that were last offered before a moment; returns their number."""
    if before.tzinfo is None:
        raise ValueError("plans are forgotten before a moment with a time zone; this one has none")
    return len(every(connection, "delete_plans", {"before": before}))
