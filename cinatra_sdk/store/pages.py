"""Pages of a list: each page begins where the page before ended, whatever is added meanwhile.

    page = store.page(status="failed", limit=100)
    page.items                                       the first hundred runs
    store.page(status="failed", limit=100, after=page.next)    the next ones; an empty `next`: no more

A cursor is the place of the last item in the list's order, as text; it holds no secret and grants
nothing.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Generic, TypeVar

from cinatra_sdk.errors import FlowError, InputInvalid
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row
from cinatra_sdk.store.arguments import MOST, check_kinds, is_short

PAGE: Final = 100
"""Items of a page where the caller says nothing."""

_NUMBER: Final = re.compile("[0-9]{1,19}")
_MOST_BIG: Final = 2**63 - 1
"""Of the numbers that the database calls bigint."""
_NO_NAME: Final = re.compile("[\x00\ud800-\udfff]")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableRow:
    """A row of a list that cannot be read: damaged, or of another version.  It hides no other row."""

    run_id: str
    problem: str
    """The row's name, and what is wrong with it."""

    def to_json(self) -> dict[str, str]:
        return {"run": self.run_id, "problem": self.problem}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """A part of a list."""

    items: Sequence[T]
    next: str
    """The cursor of the next page; empty where this page is the last."""
    unreadable: Sequence[UnreadableRow] = ()
    """The rows that have their place on this page and cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenGate:
    """A gate that waits for a decision, with its run."""

    run_id: str
    tenant: str
    flow: str
    """The flow's name."""
    started_by: str
    opened_at: datetime
    gate: Gate


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableGate(UnreadableRow):
    """A gate that waits for a decision and cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatePage(Page[OpenGate]):
    """A part of the list of open gates."""

    unreadable: Sequence[UnreadableGate] = ()
    """The gates that have their place on this page and cannot be read."""


def read_rows(
    rows: Sequence[Row], read: Callable[[Row], T], name: Callable[[Row], str]
) -> tuple[list[T], list[UnreadableRow]]:
    """The items of a page, and the rows of it that `read` cannot make into one.

    name: what people call a row: `record dr_r1_3`.
    """
    items: list[T] = []
    unreadable: list[UnreadableRow] = []
    for row in rows:
        try:
            items.append(read(row))
        except (
            FlowError,
            ValueError,
            TypeError,
            LookupError,
            AttributeError,
            RecursionError,
        ) as error:
            # Of another library's error only the kind is told: its text may hold what the row holds.
            why = str(error) if isinstance(error, FlowError) else "it is of another form"
            unreadable.append(UnreadableRow(run_id=row["run_id"], problem=f"{name(row)}: {why}"))
    return items, unreadable


def read_objects(row: Row, *columns: str) -> tuple[dict[str, Mapping[str, Any]], tuple[str, ...]]:
    """JSON columns that hold an object or nothing, and what is wrong with those that do not.

    A column that is null, or cannot be read, is empty.
    """
    objects = {name: row[name] if isinstance(row[name], Mapping) else {} for name in columns}
    problems = (
        f"{name}: it is of another form"
        for name in columns
        if row[name] is not None and not isinstance(row[name], Mapping)
    )
    return objects, tuple(problems)


def read_page(
    read: Callable[[int], Sequence[Row]], limit: int, write: Callable[[Row], str]
) -> tuple[Sequence[Row], str]:
    """The rows of a page, and the cursor of the next page.

    read:  at most so many rows of the list, from where the page begins.
    write: the cursor of the place behind a row.

    Raises: `InputInvalid` for a limit below 1.
    """
    check_kinds(limit=limit)
    if limit is None:
        raise InputInvalid("a page has a limit", hint="give a number, or leave it out")
    rows = read(limit + 1)
    kept = rows[:limit]
    return kept, write(kept[-1]) if len(rows) > limit else ""


def write_cursor(moment: datetime, *names: str) -> str:
    text = json.dumps([moment.isoformat(), *names], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(cursor: str, *, names: int) -> tuple[datetime | None, tuple[str, ...]]:
    """The moment, in UTC, and the names of a cursor; None and empty names for an empty one.

    Raises: `InputInvalid`.
    """
    given: object = cursor
    if given is not None and not isinstance(given, str):
        raise _build_error(str(given) if is_short(given) else f"a {type(given).__name__}")
    if not cursor:
        return None, ("",) * names
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        moment, *kept = json.loads(text)
        at = datetime.fromisoformat(moment)
        if at.tzinfo is None:
            raise _build_error(cursor)
        # Python takes zones that the database does not, and moments that are none in UTC.
        at = at.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, RecursionError, binascii.Error):
        raise _build_error(cursor) from None
    if len(kept) != names or not all(map(_is_name, kept)):
        raise _build_error(cursor)
    return at, tuple(kept)


def read_numbers(cursor: str, *, names: int) -> tuple[int, ...]:
    """As `read_cursor`, where each name is a number; zeros for an empty cursor."""
    _, kept = read_cursor(cursor, names=names)
    return tuple(read_number(cursor, name, _MOST_BIG) for name in kept)


def read_number(cursor: str, name: str, most: int = MOST) -> int:
    """The number of a row, as a name of the cursor has it; 0 for none.

    Raises: `InputInvalid` for a name that is no number, or none that a row could have.
    """
    if not name:
        return 0
    if not _NUMBER.fullmatch(name) or int(name) > most:
        raise _build_error(cursor)
    return int(name)


def _is_name(value: object) -> bool:
    """Whether a row of a list may have it as a name: a text that the database takes."""
    return isinstance(value, str) and not _NO_NAME.search(value)


def _build_error(cursor: str) -> InputInvalid:
    return InputInvalid(
        f"'{cursor[:100]}' is no cursor of this list", hint="give the cursor that a page ended with"
    )
