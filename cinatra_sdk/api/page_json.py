"""Lists of runs and of what belongs to them, as JSON: pages, and rows that cannot be read.

make_run_page(store.page(), {})  ->  {"runs": [{"id": "3f2a…", …}], "next": "WyIyMDI2…"}

In: pages of the store.  Out: dicts of JSON values; `run_json.py` and `gate_json.py` have their items.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import with_config
from typing_extensions import TypedDict

from cinatra_sdk.api.gate_json import (
    DESCRIBED,
    NeedJson,
    OpenGateJson,
    make_need,
    make_open_gate,
)
from cinatra_sdk.api.run_json import (
    DecisionJson,
    EventJson,
    RunSummaryJson,
    make_decision,
    make_event,
    make_run_summary,
)

if TYPE_CHECKING:
    from cinatra_sdk.events import RunEvent
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store.decisions.decision_rows import GateDecision
    from cinatra_sdk.store.pages import Page
    from cinatra_sdk.store.runs.needs import NeedPage


@with_config(DESCRIBED)
class UnreadableJson(TypedDict):
    """A row of a list that cannot be read."""

    run: str
    problem: str
    """The row's name, and what is wrong with it."""


@with_config(DESCRIBED)
class PageEndJson(TypedDict):
    """What a page of a list tells beside its items."""

    next: str | None
    """The cursor of the next page, which a later request names as `after`; null: this is the last."""
    unreadable: list[UnreadableJson]


@with_config(DESCRIBED)
class RunPageJson(TypedDict):
    """A part of the list of runs, the latest change first."""

    runs: list[RunSummaryJson]
    next: str | None


@with_config(DESCRIBED)
class NeedPageJson(PageEndJson):
    """A part of the list of what needs a person, the longest wait first."""

    needs: list[NeedJson]
    gates: list[OpenGateJson]
    """Those of `needs` that are gates, with what they show and ask."""


@with_config(DESCRIBED)
class DecisionPageJson(TypedDict):
    """A part of the decisions of a run, in their order."""

    decisions: list[DecisionJson]
    next: str | None


@with_config(DESCRIBED)
class EventListJson(TypedDict):
    """Events of a run, in the order of their numbers."""

    events: list[EventJson]


def make_run_page(page: Page[Run], unknown: Mapping[str, Sequence[str]]) -> RunPageJson:
    """unknown: run id → the keys of its calls that have to be settled, as `RunStore.unknown_keys` has them;
    without them a run would seem to need nobody.
    """
    runs = [make_run_summary(run, unknown.get(run.id, ())) for run in page.items]
    return {"runs": runs, "next": page.next or None}


def make_need_page(page: NeedPage, now: datetime) -> NeedPageJson:
    """now: by the clock of the database."""
    return {
        "needs": [make_need(need, now) for need in page.items],
        "gates": [make_open_gate(need, now) for need in page.items if need.kind == "gate"],
        **make_page_end(page),
    }


def make_decision_page(page: Page[GateDecision]) -> DecisionPageJson:
    return {"decisions": [make_decision(one) for one in page.items], "next": page.next or None}


def make_event_list(events: Iterable[RunEvent]) -> EventListJson:
    return {"events": [make_event(event) for event in events]}


def make_page_end(page: Page[Any]) -> PageEndJson:
    unreadable: list[UnreadableJson] = [
        {"run": one.run_id, "problem": one.problem} for one in page.unreadable
    ]
    return {"next": page.next or None, "unreadable": unreadable}
