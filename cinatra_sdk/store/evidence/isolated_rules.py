"""The rules of a governed run for a replay: rules of their own, which ask the host nothing about today.

    flow = isolate_rules(flow, row, first_record={…}, roles=frozenset({"finance"}), clock=ReplayClock(created_at))

Rules remember each run that they judge: its budget, its evidence, the calls of which persons are asked.  A
replay counts all of it again, so it has rules of its own, and neither the host's rules nor the store's records
learn of it.

A replay takes place at the times of its evidence.  What held then may hold no more: a claim is over, a person
has another role.  So its clock stands at the moment of the last decision, claims and delegations hold, and
whoever decided had the role that the gate asked for.  The run itself goes on under the host's own rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from cinatra_sdk.postgres.connection import Row
from cinatra_sdk.store.evidence.record_writer import describe_run, find_recorder


class ReplayClock:
    """Stands at a moment until it is moved on, and never goes back."""

    def __init__(self, begins: datetime) -> None:
        self._now = begins

    def __call__(self) -> datetime:
        return self._now

    def move_to(self, moment: datetime) -> None:
        self._now = max(self._now, moment)


def isolate_rules(
    flow: Any,
    row: Row,
    *,
    first_record: Mapping[str, Any] | None,
    roles: frozenset[str],
    clock: ReplayClock,
) -> Any:
    """The flow of a governed run under rules of its own, which know of the run what its first record tells.

    row: of the table `runs`.  roles: those that the decided gates asked for.

    Raises: as the rules do: `FlowChanged` where the packs are not those that the run began with.
    """
    lent = flow.host.governance
    ports = replace(
        lent.ports, clock=clock, roles_of=lambda _tenant, _person: roles, claim_holds=None,
        delegation_holds=None, heartbeat=None, signer=None,
    )  # fmt: skip
    alone = flow.under(replace(lent, ports=ports))
    recorder = find_recorder(alone)
    if recorder is not None and first_record is not None:
        recorder.restore(describe_run(row), first_record, (), ())
    return alone
