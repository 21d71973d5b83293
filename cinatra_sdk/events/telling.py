"""From a node to the host: what happens is told, and telling it never makes a node fail."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from cinatra_sdk.events.event import RunEvent, Tell

log = logging.getLogger("oasflow.events")
_TOLD: Final[set[str]] = set()
"""Errors of listeners that this process has logged already."""


def tell_event(tell: Tell, event: RunEvent) -> None:
    """Hand an event on; an error of the listener is logged once."""
    try:
        tell(event)
    except Exception as error:  # noqa: BLE001 - whoever listens must not change the run
        name = type(error).__name__
        if name not in _TOLD:
            _TOLD.add(name)
            log.warning("a listener to events fails with %s; the run goes on", name)


def tell_node(
    tell: Tell,
    name: str,
    *,
    path: str,
    visit: int,
    data: Mapping[str, JsonValue] | None = None,
) -> None:
    """Tell that a node started, finished, paused or failed."""
    tell_event(tell, RunEvent(kind="node", name=name, path=path, visit=visit, data=data or {}))
