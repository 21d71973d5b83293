"""What lists of runs, of gates and of what needs a person are filtered by, and in which order runs come.

RunStore.page(status=["waiting", "failed"], order="oldest-start", limit=20)
RunStore.count(status="waiting", tenant="acme")
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from typing import Final, Literal, TypeAlias, TypedDict, get_args

from cinatra_sdk.contract import STATUSES, Status
from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.postgres.connection import Row
from cinatra_sdk.store.arguments import check_names, check_word
from cinatra_sdk.store.runs.needs import NeedKind

MOST_IDS: Final = 1_000
"""Runs that one filter names."""

RunOrder: TypeAlias = Literal["newest-change", "oldest-change", "newest-start", "oldest-start"]
RUN_ORDERS: Final[tuple[RunOrder, ...]] = get_args(RunOrder)
NEWEST_CHANGE: Final[RunOrder] = RUN_ORDERS[0]
LIST_OF: Final[dict[RunOrder, str]] = {
    "newest-change": "list_runs",
    "oldest-change": "list_runs_oldest_change",
    "newest-start": "list_runs_newest_start",
    "oldest-start": "list_runs_oldest_start",
}
"""The statement of each order."""
PLACE_BEHIND: Final[Mapping[str, Callable[[Row], Row]]] = {
    **dict.fromkeys(
        LIST_OF.values(),
        lambda row: {"after_at": row["listed_at"], "after_run": row["run_id"]},
    ),
    "list_gates": lambda row: {
        "after_at": row["opened_at"], "after_run": row["run_id"], "after_gate": row["gate_id"]
    },
    "list_needs": lambda row: {
        "after_at": row["since"], "after_run": row["run_id"], "after_kind": row["kind"],
        "after_name": row["name"],
    },
    "list_feed": lambda row: {
        "after_told": row["told"], "after_run": row["run_id"], "after_seq": row["seq"]
    },
}  # fmt: skip
"""The statements that list what several runs have, and the place behind a row of each."""


class RunCondition(TypedDict, total=False):
    """What runs are chosen by; None sets no condition.  Each condition has an index."""

    status: Status | Collection[Status] | None
    """One of them, or several."""
    run_ids: Collection[str] | None
    """Only these runs, at most `MOST_IDS`; an id that no run has is passed over."""
    tenant: str | None
    flow: str | None
    """The name of the flow, with any version of its file."""
    started_by: str | None
    older_than: timedelta | None
    """Runs without a change for at least this time, by the database's clock."""
    newer_than: timedelta | None


class RunFilter(RunCondition, total=False):
    """A filter for a list of runs."""

    order: RunOrder | None
    """None: `newest-change`."""
    limit: int
    after: str
    """The cursor that the page before ended with, of the same order; empty: the first page."""


class GateCondition(TypedDict, total=False):
    """What open gates are chosen by; None sets no condition."""

    tenant: str | None
    flow: str | None
    started_by: str | None
    older_than: timedelta | None
    """Gates that have been open for at least this time, by the database's clock."""
    newer_than: timedelta | None
    run_id: str | None
    risk: str | None
    """Risk class of the step."""
    step: int | None
    """Number of the step of the approval policy."""
    text: str | None
    """A text that it shows somewhere, in large or small letters."""


class GateFilter(GateCondition, total=False):
    """A filter for a list of open gates."""

    limit: int
    after: str


class NeedFilter(GateFilter, total=False):
    """A filter for what needs a person; None sets no condition.

    A step and a risk class are those of gates and calls: a failed run has none.
    """

    kind: NeedKind | None


def read_conditions(wanted: RunCondition) -> Row:
    """The conditions as a statement takes them: every one, the statuses and the ids as lists.

    Raises: `InputInvalid` for a status that no run has, and for what are no ids.
    """
    given: Row = {**dict.fromkeys(RunCondition.__annotations__), **wanted}
    statuses = _list_words("status", given.pop("status"))
    for one in statuses or ():
        check_word("status", one, STATUSES)
    ids = _list_words("run_ids", given["run_ids"])
    for one in ids or ():
        check_names(run_id=one)
    if ids is not None and len(ids) > MOST_IDS:
        raise InputInvalid(
            f"'run_ids' names {len(ids):,} runs",
            hint=f"name {MOST_IDS:,} at most, in several lists",
        )
    return {**given, "statuses": statuses, "run_ids": ids}


def _list_words(name: str, given: object) -> list[str] | None:
    """Several words, or one, as a list; None sets no condition, and no words at all fit nothing."""
    if given is None:
        return None
    words = [given] if isinstance(given, str) else given
    if not isinstance(words, Collection) or not all(isinstance(one, str) for one in words):
        raise InputInvalid(
            f"'{name}' is a {type(given).__name__}, not a text, nor several of them",
            hint="give one, or a list",
        )
    return [*words]
