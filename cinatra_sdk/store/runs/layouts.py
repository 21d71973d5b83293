"""Runs that have not ended and whose checkpoints another version laid out: which, and what to do.

    list_other_layouts(connection, tenant=None)   ->  (OtherLayout(run_id="r1", layout=3, kind="older"), …)
    describe_layouts(found)                       ->  ("2 runs (r1, r2) were left by an older version: …",)

`older`   goes on: whoever works on it next makes its checkpoints again from its evidence
`lost`    of a layout from which no version makes them again: a person ends it
`newer`   of a version newer than this one, which alone goes on with it
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, TypeAlias

from cinatra_sdk import contract
from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row, Rows, every

LayoutKind: TypeAlias = Literal["older", "lost", "newer"]
OLDER_SECONDS: Final = 60.0
"""How long a due run of an older layout is left to workers of that version: a deploy lets them finish."""
_NAMED: Final = 3
"""Runs that a sentence names."""
_WHAT: Final[dict[LayoutKind, tuple[str, str, str]]] = {
    "older": (
        "was left by an older version",
        "were left by an older version",
        "whoever works on it next brings it over; oasflow upgrade --check says what becomes of each",
    ),
    "lost": (
        "is of a layout that no version goes on with",
        "are of a layout that no version goes on with",
        "end each: oasflow stop RUN, or reject its gate; then start another",
    ),
    "newer": (
        "is of a newer version",
        "are of a newer version",
        "only that version goes on; this one can reject or stop",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherLayout:
    """A run that has not ended and that another version left."""

    run_id: str
    tenant: str
    layout: int
    status: str
    can_go_on: bool
    """Whether a decision waits to be carried out."""

    @property
    def kind(self) -> LayoutKind:
        if self.layout > contract.LAYOUT:
            return "newer"
        return "older" if self.layout >= contract.FIRST_LAYOUT else "lost"


def list_own_layouts() -> dict[str, Any]:
    """The parameters by which statements tell the layouts of this version from others."""
    return {
        "layout": contract.LAYOUT,
        "graph_layout": contract.GRAPH_LAYOUT,
        "older_wait": OLDER_SECONDS,
    }


def read_other_layouts(
    connection: Rows, *, tenant: str | None, limit: int, after: str = ""
) -> list[OtherLayout]:
    """In the order of their ids, from those behind `after` on."""
    about: Row = {**list_own_layouts(), "tenant": tenant, "limit": limit, "after": after}
    return [OtherLayout(**row) for row in every(connection, "list_runs_of_layouts", about)]


def list_other_layouts(
    connection: Rows, *, tenant: str | None = None, limit: int = 1_000
) -> tuple[OtherLayout, ...]:
    """limit: of runs that are looked up, the first by their ids."""
    return tuple(read_other_layouts(connection, tenant=tenant, limit=limit))


def describe_layouts(found: Iterable[OtherLayout]) -> tuple[str, ...]:
    """A sentence for each kind: how many runs, some of their ids, and what to do."""
    return tuple(_describe(list(found)))


def _describe(found: list[OtherLayout]) -> Iterator[str]:
    for kind, (one, many, todo) in _WHAT.items():
        names = [run.run_id for run in found if run.kind == kind]
        if not names:
            continue
        more = ", …" if len(names) > _NAMED else ""
        counted = say_number(len(names), "run", "runs")
        verb = one if len(names) == 1 else many
        yield f"{counted} ({', '.join(names[:_NAMED])}{more}) {verb}: {todo}"
