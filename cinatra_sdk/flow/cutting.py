"""Whether a rejection cut off branches of the flow that runs now.

    with listening_for_a_cut() as was_cut: …      # around the flow
    tell_of_a_cut()                               # by the node whose branch was rejected

A node that cuts its branches off ends, and the engine still raises the pauses of those branches, as
if the flow around the node had paused itself.  Whoever runs that flow lets the engine go on: it then
takes in what the node came to.  Without this, a flow two nodes deep would wait for a further step,
in which branches beside it could act.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_cuts: ContextVar[list[bool] | None] = ContextVar("cinatra_cuts", default=None)


@contextmanager
def listening_for_a_cut() -> Iterator[Callable[[], bool]]:
    """A function that says whether a node of the flow has told of a cut; not one deeper inside."""
    cuts: list[bool] = []
    token = _cuts.set(cuts)
    try:
        yield lambda: bool(cuts)
    finally:
        _cuts.reset(token)


def tell_of_a_cut() -> None:
    cuts = _cuts.get()
    if cuts is not None:
        cuts.append(True)
