"""The state of a flow after nodes that have run without the engine.

after = StateAfter({"cursor": {"seq": 1, "next": "a"}})
after.take(frame_of_a, update_of_a)     "b", which has the turn next; after.state is what it reads
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.names import CURSOR, DECISIONS, MESSAGES
from cinatra_sdk.governed.growing import read_said
from cinatra_sdk.governed.state import SEAL_KEY, seal, unseal

GROWING: Final = (MESSAGES, DECISIONS)
"""State keys to which several nodes of one superstep may add."""


class StateAfter:
    """The state after nodes that have run without the engine, as its channels would have it."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state
        self.added: dict[str, list[Any]] = {}
        """Messages and decisions, each in order."""

    def take(self, frame: Frame, update: dict[str, Any]) -> str:
        """Apply a node's update; the id of the node that has the turn next, empty for none."""
        record = update[frame.channel]
        for key, value in update.items():
            if key in GROWING:
                self._add(key, value)
            else:
                self._apply(key, value)
        self.state[CURSOR] = {"seq": record["seq"], "next": record["next"]}
        return record["next"] or ""

    def fill(self, values: Mapping[str, Any]) -> None:
        """Take in keys that no node has read before; values: before the first node of these ran."""
        for key, value in values.items():
            self.state[key] = [*value, *self.added.get(key, ())] if key in GROWING else value

    def collect(self) -> dict[str, Any]:
        """The state with messages and decisions."""
        return {**self.state, **{key: self.added.get(key, []) for key in GROWING}}

    def _add(self, key: str, value: Any) -> None:
        more = read_said(value) if key == MESSAGES else unseal(value)
        self.added.setdefault(key, []).extend(more)
        if key in self.state:  # a node after this one reads it
            self.state[key] = [*self.state[key], *more]

    def _apply(self, key: str, value: Any) -> None:
        if type(value) is dict:
            self.state[key] = {name: item for name, item in value.items() if name != SEAL_KEY}
        elif isinstance(value, bytes):
            if key != CURSOR:  # every other sealed key is written once
                self.state.setdefault(key, unseal(value))
        else:
            self.state[key] = value


def join_growing(added: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Messages and decisions as an update of the state."""
    said, decided = added.get(MESSAGES), added.get(DECISIONS)
    messages = {MESSAGES: said} if said else {}
    return {**messages, DECISIONS: seal(decided)} if decided else messages
