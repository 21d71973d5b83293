"""The connection that hears news of runs: what it says when the database goes away."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cinatra_sdk.errors import StoreUnreachable
from cinatra_sdk.postgres import notifications
from cinatra_sdk.postgres.notifications import Listening

OUTAGES, TRIES = 2, 5
"""Outages one after the other; tries to connect within each that fail."""


class Restarting:
    """A database that goes away again and again."""

    def __init__(self) -> None:
        self.tries = 0
        self.is_done = threading.Event()

    @contextmanager
    def connect(self, _dsn: str) -> Iterator[Any]:
        self.tries += 1
        if self.tries % TRIES:
            raise StoreUnreachable("away")
        yield self

    def execute(self, _statement: str) -> None:
        if self._is_back():
            self.is_done.set()

    def notifies(self, *, timeout: float) -> list[Any]:
        del timeout
        if self._is_back():
            return []
        raise StoreUnreachable("gone while it was listening")

    def _is_back(self) -> bool:
        """Whether it stays, after the last outage."""
        return self.tries == OUTAGES * TRIES


def test_an_outage_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    database = Restarting()
    monkeypatch.setattr(notifications, "connect", database.connect)
    monkeypatch.setattr(notifications, "_TURN", 0.001)
    with caplog.at_level(logging.WARNING, "oasflow.store"):
        news = Listening("")
        with news.subscribe("r1"):
            assert database.is_done.wait(60)
            told = [one for one in caplog.records if "cannot be heard" in one.message]
        news.close()
    assert len(told) == OUTAGES
