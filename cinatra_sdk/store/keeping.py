"""What people do to a run beside its work: settle a call, stop the run, archive it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.postgres.connection import one
from cinatra_sdk.runs import Run
from cinatra_sdk.store.actors import check_reason, read_actor
from cinatra_sdk.store.archiving import (
    Archived,
    Which,
    archive_old_runs,
    archive_run,
    check_age,
)
from cinatra_sdk.store.arguments import check_arguments, check_names
from cinatra_sdk.store.in_thread import in_thread
from cinatra_sdk.store.reading import RunReader
from cinatra_sdk.store.recording import follow_record
from cinatra_sdk.store.rows import load_row, refuse_ended, run_of
from cinatra_sdk.store.settling import settle_effect


@check_arguments
class RunKeeper(RunReader):
    """A run store without the work on runs; safe to share between threads."""

    def settle(
        self,
        run_id: str,
        key: str,
        *,
        happened: bool,
        value: Mapping[str, Any] | None = None,
        by: str,
        reason: str = "",
        tenant: str | None = None,
    ) -> Run:
        """A person's word on a call of which nobody knows whether it happened (`unknown`).

        happened: True: the run goes on with `value`, the outputs of the node; False: the call is made
        when the run is worked on.  Nothing is carried out here: `work` does that.

        Raises: `EffectSettled` where no call with this key is unknown; `AnswerInvalid` for a value that
        does not fit the node's outputs, where this process can read the flow; `RunNotFound`.
        """
        said = _read_outputs(happened, value)
        settle_effect(
            self._database, self._flows, run_id, key, said, by=by, reason=reason, tenant=tenant
        )
        return self.get(run_id)

    def stop(
        self, run_id: str, *, by: str = "", reason: str = "", tenant: str | None = None
    ) -> Run:
        """End a run for good without a decision, in any status but completed or rejected.

        The flow and the gates are not read.  A process that drives the run right now makes no
        further call.  Who, why and when are kept in the run's row; stopping a stopped run changes
        nothing.

        Raises: `RunEnded` for a run that is completed, rejected or archived; `AnswerInvalid` for a
        name or a reason that a gate would refuse too.
        """
        check_names(run_id=run_id, tenant=tenant)
        said = {"run_id": run_id, "tenant": tenant, "by": read_actor(by)}
        with self._database.connection() as connection:
            said["reason"] = check_reason(reason)
            with connection.transaction():
                # First the lock: a statement that waits for it does not see which gates were opened.
                one(connection, "lock_run_row", {"run_id": run_id})
                stopped = one(connection, "stop_run", said)
                if stopped is not None:
                    why = f"{said['by'] or 'somebody'} stopped it: {said['reason']}".strip(": ")
                    now = load_row(connection, run_id, tenant)
                    follow_record(connection, now, "stopped", reason=why, signer=self._flows.signer)
            row = load_row(connection, run_id, tenant)
            if stopped is None and row["status"] != "stopped":
                refuse_ended(row)
            return run_of(row)

    def archive(
        self,
        run_id: str | None = None,
        *,
        older_than: timedelta | None = None,
        tenant: str | None = None,
        by: str = "",
        dead_letters: bool = False,
        limit: int | None = None,
        dry_run: bool = False,
    ) -> Archived:
        """Remove what only going on needs of runs that have ended: one run, or all that have not
        changed for `older_than`, by the database's clock.

        The evidence stays: see `archiving`.  dead_letters: failed runs too that nobody tries again.
        limit: runs of this call at most.  dry_run: counts, and changes nothing.  Several processes may
        do this at once, and a later call goes on where one died.

        Raises: of one run `RunNotFound`, `RunNotEnded` and `RunBusy`; `InputInvalid` without a run and
        without an age; `AnswerInvalid` for a name that a gate would refuse; `StoreError`.
        """
        who = read_actor(by)
        check_names(run_id=run_id, tenant=tenant)
        which: Which = {"tenant": tenant, "dead_letters": dead_letters}
        if run_id is not None:
            return archive_run(self._database, run_id, which, by=who, dry_run=dry_run)
        return archive_old_runs(
            self._database, which,
            older_than=check_age(older_than), by=who, limit=limit, dry_run=dry_run,
        )  # fmt: skip

    asettle = in_thread(settle)
    astop = in_thread(stop)
    aarchive = in_thread(archive)


def _read_outputs(happened: bool, value: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The outputs of a call that happened; None of one that did not."""
    if not isinstance(happened, bool):
        raise AnswerInvalid("'happened' is neither True nor False", hint="say which")
    return ({} if value is None else value) if happened else None
