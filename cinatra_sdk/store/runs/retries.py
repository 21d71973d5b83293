"""Which failed runs are tried again, when, and how often; and the sweep that tries them.

    RetryPolicy().find_delay("transient", failures=2)   ->  60.0
    RetryPolicy().find_delay("transient", failures=5)   ->  None: a person has to resume the run

Transient is what `TRANSIENT_ERRORS` of `cinatra_sdk.effects` names, and what a host names by class
(`transient_errors`); everything else is permanent, such as a bug in the code of a node.  The next sweep
continues a run whose process died; the death counts as a failure too.  No failure, and no death, is what the
database did (a restart, a connection that was cut off, a limit on idle sessions): the run goes on where it
stands as soon as the database can be reached.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias, TypedDict

from psycopg.types.json import Json

from cinatra_sdk.errors import FlowError, ProcessEnding, RunBusy, RunEnded
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import FailureKind, kind_of, list_classes
from cinatra_sdk.postgres.connection import Row, every
from cinatra_sdk.runs import Run
from cinatra_sdk.store.database import Database

EXHAUSTED: Final = "attempts_exhausted"
"""The code of a run that failed as often as it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Seconds before each further try, by the class of the failure; the last number repeats."""

    transient: tuple[float, ...] = (10.0, 60.0, 300.0)
    """Of what a later try may help with: see `TRANSIENT_ERRORS`."""
    permanent: tuple[float, ...] = ()
    """Everything else; empty: such a run waits for a person at once."""
    most: int = 5
    """Failures in a row, deaths among them, after which a run waits for a person; at least 1."""
    transient_errors: tuple[type[BaseException], ...] = ()
    """Classes of errors that the host's own code raises, and those derived from them, that a later try may
    help with.  What a tool of a flow raises is permanent unless it is named here.
    """
    permanent_errors: tuple[type[BaseException], ...] = ()
    """As `transient_errors`, of errors that no later try helps with; these win."""

    def __post_init__(self) -> None:
        """Raises: `ValueError`."""
        given: object
        for name in ("transient_errors", "permanent_errors"):
            given = getattr(self, name)
            if not isinstance(given, tuple) or not all(
                isinstance(one, type) and issubclass(one, BaseException) for one in given
            ):
                raise ValueError(f"{name} is no tuple of classes of exceptions")
        if self.most < 1 or any(wait < 0 for wait in self.transient + self.permanent):
            raise ValueError("most is at least 1, and no wait is below 0 seconds")

    def classify(self, error: BaseException) -> FailureKind:
        """By the error and those that it was made from, whatever a node made of them."""
        classes = list_classes(error)
        for chosen, kind in _KINDS:
            if any(issubclass(one, getattr(self, chosen)) for one in classes):
                return kind
        return kind_of(error)

    def find_delay(self, kind: FailureKind, *, failures: int) -> float | None:
        """Seconds until the next try; None where there is none.

        failures: in a row, this one included.
        """
        waits = self._choose_waits(kind)
        if not waits or failures >= self.most:
            return None
        return waits[min(failures, len(waits)) - 1]

    def _choose_waits(self, kind: FailureKind) -> tuple[float, ...]:
        return self.transient if kind == "transient" else self.permanent

    def is_exhausted(self, kind: FailureKind, *, failures: int) -> bool:
        """Whether such a failure is tried again in general, and this one no more."""
        return bool(self._choose_waits(kind)) and failures >= self.most


_KINDS: Final[tuple[tuple[str, FailureKind], ...]] = (
    ("permanent_errors", "permanent"),
    ("transient_errors", "transient"),
)
"""What a host says of classes, in the order in which it counts."""


def plan_retry(
    policy: RetryPolicy, error: Exception, *, failures: int, told: Json
) -> dict[str, Any]:
    """The columns `error` and `retry_in` of a failed run; `told` is the error as it is kept."""
    kind = policy.classify(error)
    if policy.is_exhausted(kind, failures=failures):
        told = describe_exhausted(failures, told.obj)
    return {"error": told, "retry_in": policy.find_delay(kind, failures=failures)}


def describe_exhausted(failures: int, last: dict[str, Any] | None) -> Json:
    """The error of a run that failed or died as often as it may.

    last: the error of its last failure; None where its process died.
    """
    said = "its process died" if last is None else last["message"]
    times = "once" if failures == 1 else f"{failures} times in a row"
    return Json(
        {
            "code": EXHAUSTED,
            "message": f"the run failed {times} and is not tried again until it is resumed; "
            f"the last time: {said}"[:2000],
            "node": "" if last is None else last["node"],
            "cause": "died" if last is None else last["code"],
        }
    )


# ----------------------------------------------------------------------------
# Runs that nobody works on and that can go on: found, and gone on with.
#
#     sweep_runs(database, look, limit=100, …)  ->  [SweptRun(run_id="r1", reason="died", status="completed")]
#
# Due are runs that were created and never begun, whose worker died or gave no sign of life, that have
# a decision which was not carried out, and that failed and are to be tried again by now.  Several
# processes may sweep at once: a run is claimed by one of them, and the others leave it.


log = logging.getLogger("oasflow.store")

GRACE_SECONDS: Final = 30.0
"""How long a new run is left to whoever created it."""
WORKERS: Final = 4
"""Runs that one sweep goes on with at once."""

DueReason: TypeAlias = Literal["created", "died", "left", "decided", "failed"]
"""`left`: its worker stopped before a step, because its process ended or the database was cut off."""
CredentialsFor: TypeAlias = Callable[[Run], "HostContext | None"]
"""The context of a run that is gone on with without a person: its credentials, for this run alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueRun:
    """A run that can go on."""

    run_id: str
    tenant: str
    reason: DueReason
    since: datetime
    """When it was left, or when it was to be tried again."""
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptRun:
    """The result of a sweep for one run."""

    run_id: str
    tenant: str
    reason: DueReason
    status: str = ""
    """How the run stands now; empty where it was left as it is."""
    problem: str = ""
    """Why it was left; empty where another worker has it."""


class SweepOptions(TypedDict, total=False):
    """What a sweep may be told."""

    limit: int
    """Runs that are gone on with, at most; 100 by default."""
    tenant: str | None
    """Only runs of this tenant; None: of all."""
    workers: int
    """Runs that are gone on with at once."""
    grace: float
    """Seconds that a new run is left to whoever created it."""
    credentials_for: CredentialsFor | None
    """None: without credentials."""


Work: TypeAlias = Callable[[DueRun], Run]
"""Goes on with one run, unless it was worked on since."""


def sweep_runs(database: Database, work: Work, told: SweepOptions) -> list[SweptRun]:
    """Go on with runs that are due, the oldest first; one pass.

    A run that this process cannot go on with takes no place from others.  Raises: `StoreError`.
    """
    limit = told.get("limit", 100)
    swept: list[SweptRun] = []
    with ThreadPoolExecutor(told.get("workers", WORKERS), "oasflow-sweep") as workers:
        for page in list_pages(_ask(database), told):
            left = limit - sum(bool(one.status) for one in swept)
            if left <= 0:
                break
            swept.extend(workers.map(lambda due: _go_on(work, due), page[:left]))
    return swept


Ask: TypeAlias = Callable[[Row], list[Row]]
"""The rows of the statement `list_due_runs`."""


def _ask(database: Database) -> Ask:
    def ask(parameters: Row) -> list[Row]:
        with database.connection() as connection:
            return every(connection, "list_due_runs", parameters)

    return ask


def list_pages(ask: Ask, told: SweepOptions) -> Iterator[list[DueRun]]:
    """The runs that are due now, the oldest first; each page is read when it is asked for."""
    limit = told.get("limit", 100)
    asked: Row = {
        "tenant": told.get("tenant"), "grace": told.get("grace", GRACE_SECONDS), "limit": limit,
        "after_since": None, "after_run": "",
    }  # fmt: skip
    while True:
        rows = ask(asked)
        if rows:
            yield [DueRun(**row) for row in rows]
        if len(rows) < limit:
            return
        asked |= {"after_since": rows[-1]["since"], "after_run": rows[-1]["run_id"]}


def _go_on(work: Work, due: DueRun) -> SweptRun:
    status, problem = "", ""
    try:
        status = work(due).status
    except (RunBusy, RunEnded, ProcessEnding):
        pass  # somebody else was quicker, or will be
    except FlowError as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001 - one run, or the host's port, must not end the sweep
        problem = f"unexpected {type(error).__name__}"
    if problem:
        log.warning("run '%s' is left: %s", due.run_id, problem)
    return SweptRun(
        run_id=due.run_id, tenant=due.tenant, reason=due.reason, status=status, problem=problem
    )
