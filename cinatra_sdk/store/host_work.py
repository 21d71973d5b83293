"""What the host alone does with a store, refused to persons: sweeping, draining, upgrading, reconciling."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from cinatra_sdk.errors import NotAllowed
from cinatra_sdk.store.evidence.reconciliation import Receipt, Reconciliation
from cinatra_sdk.store.run_store import RunStore, SweptRuns
from cinatra_sdk.store.runs.layouts import OtherLayout
from cinatra_sdk.store.runs.rebuilding import Forecast
from cinatra_sdk.store.work.sweep import SweepOptions


class WithoutHostWork(RunStore):
    """A store that does none of it, whoever asks."""

    def sweep(self, **_told: Unpack[SweepOptions]) -> SweptRuns:
        """Raises: `NotAllowed`: the host sweeps, and no person."""
        raise NotAllowed("a sweep is the work of the host", hint="sweep with the host's own store")

    def reconcile(
        self,
        receipts: Iterable[Receipt] = (),  # noqa: ARG002 - nobody may
        *,
        tenant: str | None = None,  # noqa: ARG002 - nobody may
    ) -> Reconciliation:
        """Raises: `NotAllowed`: the host looks after its database, and no person."""
        raise NotAllowed(
            "to reconcile a database is the work of the host", hint="use the host's own store"
        )

    def drain(self, *, wait: float | None = None) -> bool:  # noqa: ARG002 - nobody may
        """Raises: `NotAllowed`: the host ends its process, and no person."""
        raise NotAllowed("draining is the work of the host", hint="use the host's own store")

    def list_other_layouts(self, *, tenant: str | None = None) -> tuple[OtherLayout, ...]:  # noqa: ARG002 - see `upgrade`
        """Raises: `NotAllowed`, as `upgrade`."""
        raise NotAllowed("an upgrade is the work of the host", hint="use the host's own store")

    def foretell_upgrades(self, *, tenant: str | None = None) -> tuple[Forecast, ...]:  # noqa: ARG002 - see `upgrade`
        """Raises: `NotAllowed`, as `upgrade`."""
        raise NotAllowed("an upgrade is the work of the host", hint="use the host's own store")

    def upgrade(self, *, tenant: str | None = None) -> tuple[Forecast, ...]:  # noqa: ARG002 - nobody may
        """Raises: `NotAllowed`: the host upgrades runs, and no person."""
        raise NotAllowed("an upgrade is the work of the host", hint="use the host's own store")
