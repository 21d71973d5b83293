"""Settling a call, pausing and stopping a run, archiving ended ones, and comparing rows after a failover."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, TypedDict

from cinatra_sdk.contract import ENDED
from cinatra_sdk.errors import (
    AnswerInvalid,
    InputInvalid,
    RunBusy,
    RunNotEnded,
    StoreError,
    StoreUnreachable,
)
from cinatra_sdk.governed.person import Person, PersonRecord
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row, every, one
from cinatra_sdk.runs import Run
from cinatra_sdk.store.arguments import check_arguments, check_names, check_reason, read_actor
from cinatra_sdk.store.async_twins import in_thread
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.evidence.reconciliation import Receipt, Reconciliation, reconcile
from cinatra_sdk.store.evidence.record_writer import follow_record
from cinatra_sdk.store.lists.feed import FeedReader
from cinatra_sdk.store.runs.run_rows import load_row, refuse_ended, run_of
from cinatra_sdk.store.runs.settlement import settle_effect
from cinatra_sdk.store.subjects import make_run_subject, refuse_other_tenant
from cinatra_sdk.store.work.brakes import PAUSED, Brakes

# ----------------------------------------------------------------------------
# Archiving ended runs: rows that only a continuation needs are removed, and the evidence stays.
#
#     archive_old_runs(database, older_than=timedelta(days=90), …)  ->  Archived(runs=12, checkpoints=340, …)
#
# Checkpoints and the results of calls are removed; the hashes of the results stay.  The run, its decisions, its
# gates with their payloads, its calls, settlements, selections and events stay.  Each run is
# one transaction, so a process that dies in the middle leaves whole runs only, and the next call goes on;
# of two at once each run is archived by one.


log = logging.getLogger("oasflow.store")

BATCH: Final = 100
"""Runs that are looked up at once."""
_COUNTED: Final = ("checkpoints", "blobs", "writes", "results")


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What was removed, or with `dry_run` would be."""

    runs: int = 0
    checkpoints: int = 0
    blobs: int = 0
    """Values that checkpoints refer to."""
    writes: int = 0
    """What nodes wrote between checkpoints."""
    results: int = 0
    """Results of calls."""
    left: int = 0
    """Runs that could not be archived, because their rows are damaged, or the policy of the host fails at
    them; the log names them.
    """

    def plus(self, removed: Row) -> Archived:
        """With one run more."""
        sums = {name: getattr(self, name) + removed[name] for name in _COUNTED}
        return replace(self, runs=self.runs + 1, **sums)


class Which(TypedDict):
    """Which runs are archived."""

    tenant: str | None
    """None: of every tenant."""
    dead_letters: bool
    """Failed runs too that are not tried again until a person resumes them."""


def archive_old_runs(
    database: Database,
    which: Which,
    *,
    older_than: timedelta,
    by: str,
    limit: int | None,
    dry_run: bool,
    allows: Callable[[str], bool],
) -> Archived:
    """Archive runs that have not changed for `older_than`, the oldest first; at most `limit`.

    allows: whether whoever asks may archive a run; others are left.

    A run that somebody has at this moment is left for the next call; one whose rows are damaged, or at
    which `allows` raises `NotConfigured`, is counted and left.  Raises: `StoreError`.
    """
    done = Archived()
    for due in _list_due(database, {**which, "run_id": None, "older_than": older_than}, dry_run):
        if limit is not None and done.runs >= limit:
            break
        try:
            if not allows(due["run_id"]):
                continue
            removed = due if dry_run else _archive(database, due["run_id"], which, by)
        except StoreUnreachable:
            raise
        except StoreError as error:  # one run must not keep all newer ones from being archived
            log.warning("run '%s' cannot be archived: %s", due["run_id"], error)
            done = replace(done, left=done.left + 1)
            continue
        done = done if removed is None else done.plus(removed)
    return done


def archive_run(
    database: Database, run_id: str, which: Which, *, by: str, dry_run: bool
) -> Archived:
    """Archive one run; nothing where it is archived.

    Raises: `RunNotFound`, `RunNotEnded`; `RunBusy` where somebody has it.
    """
    _check_ended(database, run_id, which)
    if dry_run:
        due = _list_due(database, {**which, "run_id": run_id, "older_than": None}, counted=True)
        removed = next(due, None)
    else:
        removed = _archive(database, run_id, which, by)
    if removed is not None:
        return Archived().plus(removed)
    if _check_ended(database, run_id, which)["archived_at"] is None:
        raise RunBusy(f"another process has run '{run_id}'", hint="try again")
    return Archived()


def _check_ended(database: Database, run_id: str, which: Which) -> Row:
    with database.connection() as connection:
        row = load_row(connection, run_id, which["tenant"])
    is_dead = row["status"] == "failed" and row["retry_at"] is None
    if row["archived_at"] is None and row["status"] not in ENDED:
        if is_dead and not which["dead_letters"]:
            raise RunNotEnded(
                f"run '{run_id}' failed, and a person may resume it",
                hint="archive it with dead_letters=True, or stop it first",
            )
        if not is_dead:
            raise RunNotEnded(
                f"run '{run_id}' is {row['status']}, and only a run that has ended is archived",
                hint="stop it first",
            )
    return row


def _list_due(database: Database, asked: Row, counted: bool) -> Iterator[Row]:
    place: Row = {"after_at": None, "after_run": ""}
    while True:
        about = {**asked, **place, "counted": counted, "limit": BATCH}
        with database.connection() as connection:
            rows = every(connection, "list_archivable", about)
        yield from rows
        if len(rows) < BATCH:
            return
        place = {"after_at": rows[-1]["updated_at"], "after_run": rows[-1]["run_id"]}


def _archive(database: Database, run_id: str, which: Which, by: str) -> Row | None:
    """What was removed; None where the run was archived before, or somebody has it."""
    with database.connection() as connection:
        return one(connection, "archive_run", {**which, "run_id": run_id, "by": by})


def check_age(older_than: timedelta | None) -> timedelta:
    """Raises: `InputInvalid` where there is none, or one below 0."""
    if older_than is None or older_than < timedelta():
        raise InputInvalid("nothing says which runs to archive", hint="give run_id or older_than")
    return older_than


@check_arguments
class RunKeeper(FeedReader):
    """A run store without the work on runs; safe to share between threads."""

    _brakes: Brakes
    """Of the runs that this store works on."""

    def settle(
        self,
        run_id: str,
        key: str,
        *,
        happened: bool,
        value: Mapping[str, Any] | None = None,
        by: str | Person,
        reason: str = "",
        channel: str = "",
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
            self._database, self._flows, run_id, key, said,
            by=by, reason=reason, channel=channel, tenant=tenant,
        )  # fmt: skip
        return self._get(run_id)

    def stop(
        self,
        run_id: str,
        *,
        by: str | Person = "",
        reason: str = "",
        channel: str = "",
        tenant: str | None = None,
    ) -> Run:
        """End a run for good without a decision, in any status but completed or rejected.

        The flow and the gates are not read.  A process that drives the run right now makes no
        further call.  Who, why and when are kept in the run's row; stopping a stopped run changes
        nothing.

        Raises: `RunEnded` for a run that is completed, rejected or archived; `AnswerInvalid` for a
        name or a reason that a gate would refuse too.
        """
        check_names(run_id=run_id, tenant=tenant)
        stopper = PersonRecord.of(by, channel)
        said = {
            "run_id": run_id, "tenant": tenant, "by": stopper.name,
            **stopper.list_columns("stopped"),
        }  # fmt: skip
        with self._database.connection() as connection:
            said["reason"] = check_reason(reason)
            with connection.transaction():
                # First the lock: a statement that waits for it does not see which gates were opened.
                one(connection, "lock_run_row", {"run_id": run_id})
                if isinstance(by, Person):
                    subject = make_run_subject(load_row(connection, run_id, tenant))
                    refuse_other_tenant(by, "stop", subject)
                stopped = one(connection, "stop_run", said)
                if stopped is not None:
                    why = f"{said['by'] or 'somebody'} stopped it: {said['reason']}".strip(": ")
                    now = load_row(connection, run_id, tenant)
                    follow_record(connection, now, "stopped", reason=why, signer=self._flows.signer)
            row = load_row(connection, run_id, tenant)
            if stopped is None and row["status"] != "stopped":
                refuse_ended(row)
            return run_of(row)

    def pause(self, run_id: str, *, by: str | Person = "", tenant: str | None = None) -> Run:
        """Let nobody go on with a run until a person does (`resume`); it keeps its status.

        Returns at once: a process that drives the run right now begins no further call and stops before
        its next step, and what it did is kept.  Sweeps leave the run alone, and `work` does nothing.  Its
        open gates take answers, which are carried out when it goes on; it can be stopped.  An event says
        who paused it; pausing a paused run changes nothing.

        A node of a hand-written graph that has begun is refused its next call, too, and begins again when
        the run goes on; what it did without the door for effects, it does twice.

        Raises: `RunEnded`, `RunNotFound`; `AnswerInvalid` for a name that a gate would refuse.
        """
        check_names(run_id=run_id, tenant=tenant)
        about = {"run_id": run_id, "tenant": tenant, "by": read_actor(by)}
        with self._database.connection() as connection:
            paused = one(connection, "pause_run", about)
            row = load_row(connection, run_id, tenant)
            refuse_ended(row)
        if paused is not None:
            self._brakes.pull(run_id, PAUSED)
        return run_of(row)

    def archive(
        self,
        run_id: str | None = None,
        *,
        older_than: timedelta | None = None,
        tenant: str | None = None,
        by: str | Person = "",
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
            allows=self._allows_archiving,
        )  # fmt: skip

    def _allows_archiving(self, _run_id: str) -> bool:
        """Of many at once: the host itself archives what it likes."""
        return True

    def reconcile(
        self, receipts: Iterable[Receipt] = (), *, tenant: str | None = None
    ) -> Reconciliation:
        """Compare what the rows say with each other, and with what others know (`receipts`), after a
        failover or a restore.  Changes nothing.

        receipts: from `cinatra_sdk.store`: `list_receipts` (the database before),
        `read_receipts` (a file).  Raises: `StoreError`.
        """
        check_names(tenant=tenant)
        return reconcile(self._database, receipts=receipts, tenant=tenant)

    asettle = in_thread(settle)
    apause = in_thread(pause)
    astop = in_thread(stop)
    aarchive = in_thread(archive)
    areconcile = in_thread(reconcile)


def _read_outputs(happened: bool, value: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The outputs of a call that happened; None of one that did not."""
    if not isinstance(happened, bool):
        raise AnswerInvalid("'happened' is neither True nor False", hint="say which")
    return ({} if value is None else value) if happened else None
