"""Runs of older versions: what becomes of them under this version, and their checkpoints made again.

    store.foretell_upgrades()      ->  (Forecast(run_id="r1", outcome="unchanged"), …)      changes nothing
    store.upgrade()                ->  the same, carried out
    store.verify("r1")             ->  RunComparison(run_id="r1", status="waiting", differences=())

A run that nobody upgrades is upgraded by whoever works on it next.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from cinatra_sdk.errors import FlowError, InputInvalid
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.postgres.connection import Row
from cinatra_sdk.store.arguments import check_arguments, check_names
from cinatra_sdk.store.async_twins import in_thread
from cinatra_sdk.store.flows.context_owner import bound_context
from cinatra_sdk.store.flows.flow_protocol import DurableFlow
from cinatra_sdk.store.runs.layouts import OtherLayout, read_other_layouts
from cinatra_sdk.store.runs.rebuilding import (
    Forecast,
    RunComparison,
    compare_run,
    foretell,
)
from cinatra_sdk.store.runs.replay import Replay, RunEvidence, load_evidence, replay_run
from cinatra_sdk.store.runs.run_rows import explain_unrepeatable, identity_of, load_row
from cinatra_sdk.store.runs.upkeep import RunKeeper

if TYPE_CHECKING:
    from collections.abc import Iterator

log = logging.getLogger("oasflow.store")
PAGE: Final = 100
"""Runs that are looked up at once."""


@check_arguments
class RunUpgrader(RunKeeper):
    """Replays runs from their evidence."""

    def verify(
        self,
        run_id: str,
        *,
        flow: DurableFlow | None = None,
        tenant: str | None = None,
        context: HostContext | None = None,
    ) -> RunComparison:
        """Carry the run out again in memory, from its evidence alone, and compare it with what is stored.

        Nothing is called and nothing changes; a run that has ended can be verified until it is archived.

        Raises: `InputInvalid` for a run that cannot be carried out again, which says why; `RunNotFound`;
        `FlowChanged`; `NotConfigured` where this process lacks what the run needs.
        """
        row, replay, evidence = self._replay(run_id, flow=flow, tenant=tenant, context=context)
        return compare_run(row, replay, evidence)

    def foretell_upgrades(self, *, tenant: str | None = None) -> tuple[Forecast, ...]:
        """What becomes of each run that has not ended and that another version left; nothing changes."""
        return tuple(self._foretell_upgrade(row) for row in self._list_old_runs(tenant))

    def list_other_layouts(self, *, tenant: str | None = None) -> tuple[OtherLayout, ...]:
        """Runs that have not ended and that another version left, older or newer; nothing is read of them."""
        return tuple(self._list_old_runs(tenant))

    def _list_old_runs(self, tenant: str | None) -> Iterator[OtherLayout]:
        check_names(tenant=tenant)
        after = ""
        while True:
            with self._database.connection() as connection:
                page = read_other_layouts(connection, tenant=tenant, limit=PAGE, after=after)
            yield from page
            if len(page) < PAGE:
                return
            after = page[-1].run_id

    def _foretell_upgrade(self, run: OtherLayout) -> Forecast:
        try:
            return foretell(*self._replay(run.run_id, tenant=run.tenant))
        except FlowError as problem:
            return Forecast(run_id=run.run_id, outcome="cannot", reason=str(problem))

    def _replay(
        self,
        run_id: str,
        *,
        flow: DurableFlow | None = None,
        tenant: str | None = None,
        context: HostContext | None = None,
    ) -> tuple[Row, Replay, RunEvidence]:
        # Imported late: listing runs must not load the engine.
        from cinatra_sdk.store.work.rebuilt_checkpoints import RebuiltCheckpoints

        with self._database.connection() as connection:
            row = load_row(connection, run_id, tenant)
            lent = self._flows.lend(context, identity_of(row), flow)
            host = bound_context(lent, run_id=run_id, tenant=row["tenant"], named=tenant)
            flow = self._flows.flow_of(connection, row, flow)
            why = explain_unrepeatable(row, flow)
            if why:
                raise InputInvalid(f"run '{run_id}' cannot be carried out again: {why}")
            evidence = load_evidence(connection, row)
        replay = replay_run(flow, row, evidence, host, saver=RebuiltCheckpoints())
        return row, replay, evidence

    alist_other_layouts = in_thread(list_other_layouts)
    averify = in_thread(verify, long=True)
    aforetell_upgrades = in_thread(foretell_upgrades, long=True)
