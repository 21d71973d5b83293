"""The runs of a database as a platform that is served over HTTP knows them.

    runs = ServedRuns(database, settings, tenant="")
    runs.run_of_conversation("r1")     "r1", where the database has such a run of the tenant
    runs.scope("r1").org_id            the organisation of the settings

Who serves the platform speaks for one organisation: every run of the tenant is that organisation's, also
one that another process drives and whose row names no owner.  A run's conversation has the id of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.host.runs import RunScope
from cinatra_sdk.host.settings import LocalSettings
from cinatra_sdk.host.stored_runs import StoredRun, StoredRuns, build_run_scope
from cinatra_sdk.platform.protocol import PlatformCall
from cinatra_sdk.postgres.database import Database
from cinatra_sdk.routed.call import RunOwner


@dataclass(frozen=True, slots=True)
class ServedRuns:
    """See above; safe to share between threads."""

    database: Database
    settings: LocalSettings
    tenant: str
    stored_runs: StoredRuns

    @classmethod
    def of(cls, database: Database, settings: LocalSettings, *, tenant: str = "") -> ServedRuns:
        return cls(database, settings, tenant, StoredRuns(database))

    def scope(self, run_id: str) -> RunScope | None:
        stored = self._find(run_id)
        if stored is None:
            return None
        return build_run_scope(run_id, replace(stored, settings=self.settings))

    def run_of_conversation(self, context_id: str) -> str | None:
        return None if self._find(context_id) is None else context_id

    def _find(self, run_id: str) -> StoredRun | None:
        if not run_id or "\x00" in run_id:
            return None
        stored = self.stored_runs.stored(run_id)
        return stored if stored is not None and stored.tenant == self.tenant else None


def identify_by(runs: ServedRuns) -> Callable[[PlatformCall], RunOwner]:
    """Whose call it is: of the run that the proofs of a request name; nobody's where there is none."""

    def identify(call: PlatformCall) -> RunOwner:
        try:
            scope = runs.scope(call.run_id) if call.run_id else None
        except ContextError:
            scope = None  # it has ended, or its flow cannot be read: nobody acts for it
        if scope is None or scope.actor is None:
            return RunOwner()
        return RunOwner(run_id=call.run_id, tenant=scope.org_id, person=scope.actor.principal_id)

    return identify
