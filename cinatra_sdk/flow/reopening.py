"""Sends a choice that cannot be recorded any more back to the node that resolved its slot.

    resolve → gate → finalize      refused: the artifact was deleted after the decision
            → resolve → gate#2     asked again, about what there is now; both decisions stay

An autonomous slot resolves again without a person, a few times; then its error is the run's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cinatra_sdk.context.refusal import MOST_ALONE, MOST_ASKED

REFUSED: Final = "refused"
"""Member of a finalize's record: why it went back, and what had been chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBack:
    """From a finalize to the node that resolved its slot."""

    resolve: str
    gates: frozenset[str]
    """The gates between the two: where a person chose."""

    @property
    def most(self) -> int:
        return MOST_ASKED if self.gates else MOST_ALONE
