"""What a surface tells of many runs at once, beyond pages of them: how many there are, and what happens to them.

make_count(store.count(status="waiting"))  ->  {"count": 14}
make_feed_page(store.feed_page())          ->  {"items": [{"kind": "gate", "name": "opened", …}], "next": "WyIx…", …}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import with_config
from typing_extensions import TypedDict

from cinatra_sdk.api.gate_json import DESCRIBED, format_time

if TYPE_CHECKING:
    from cinatra_sdk.store.lists.feed import FeedItem, FeedPage


@with_config(DESCRIBED)
class CountJson(TypedDict):
    """How many runs, or open gates, fit."""

    count: int


@with_config(DESCRIBED)
class FeedItemJson(TypedDict):
    """A change of a run or of one of its gates."""

    cursor: str
    """The place behind it, which a later request names as `after`."""
    kind: Literal["run", "gate"]
    name: Literal[
        "created",
        "waiting",
        "completed",
        "rejected",
        "failed",
        "stopped",
        "paused",
        "resumed",
        "archived",
        "opened",
        "decided",
        "closed",
    ]
    """The last three are those of gates.  The end of a run closes its gates."""
    run: str
    seq: int
    """Number of the event in its run."""
    at: str | None
    tenant: str
    flow: str
    started_by: str
    gate: str | None
    payload_sha256: str
    """Of what the gate shows, where it opened; else empty."""
    decision: Literal["approved", "rejected", "denied"] | None
    by: str
    """Who did it; empty where no person did, or no name was given."""


@with_config(DESCRIBED)
class FeedPageJson(TypedDict):
    """A part of the feed of all runs and gates, the oldest first."""

    items: list[FeedItemJson]
    next: str
    """The cursor that goes on where this page ended; there always is one."""
    is_end: bool
    """Whether this is all that can be told at this moment."""


def make_feed_item(item: FeedItem) -> FeedItemJson:
    return {
        "cursor": item.cursor,
        "kind": item.kind,
        "name": item.name,
        "run": item.run_id,
        "seq": item.seq,
        "at": format_time(item.at),
        "tenant": item.tenant,
        "flow": item.flow,
        "started_by": item.started_by,
        "gate": item.gate_id or None,
        "payload_sha256": item.payload_sha256,
        "decision": item.decision or None,
        "by": item.by,
    }


def make_feed_page(page: FeedPage) -> FeedPageJson:
    return {
        "items": [make_feed_item(item) for item in page.items],
        "next": page.next,
        "is_end": page.is_end,
    }


def make_count(number: int) -> CountJson:
    return {"count": number}
