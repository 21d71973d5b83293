"""Pages of a list: each begins where the one before ended, whatever is added meanwhile.

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
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.gates.gate import Gate

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """A part of a list."""

    items: Sequence[T]
    next: str
    """The cursor of the next page; empty where this page is the last."""


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


def write_cursor(moment: datetime, *names: str) -> str:
    text = json.dumps([moment.isoformat(), *names], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(cursor: str, *, names: int) -> tuple[datetime | None, tuple[str, ...]]:
    """The moment and the names of a cursor; None and empty names for an empty one.

    Raises: `InputInvalid`.
    """
    if not cursor:
        return None, ("",) * names
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        moment, *kept = json.loads(text)
        at = datetime.fromisoformat(moment)
    except (ValueError, TypeError, binascii.Error):
        raise _build_error(cursor) from None
    if len(kept) != names or at.tzinfo is None or not all(isinstance(one, str) for one in kept):
        raise _build_error(cursor)
    return at, tuple(kept)


def _build_error(cursor: str) -> InputInvalid:
    return InputInvalid(
        f"'{cursor[:100]}' is no cursor of this list", hint="give the cursor that a page ended with"
    )
