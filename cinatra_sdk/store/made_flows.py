"""The flows that this process compiled from stored bytes, shared by the runs that may share them.

    flows = MadeFlows(database, HostParts(env={"CRM": "https://crm"}))
    flows.make(connection, row)        ->  the flow of the run's file, on the platform of its row

A file is compiled once for all of its runs with the same values of placeholders.  Runs whose rows
describe the same HTTP platform share it, and its connections; a simulation counts the calls of one
run, so each run has its own.  What was not used for the longest time is dropped, and the connections
of a dropped platform end as soon as nobody works with it any more.
"""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

from cinatra_sdk.contract import BASE_URL
from cinatra_sdk.lending.host_parts import HostParts
from cinatra_sdk.platform.nowhere import Nowhere
from cinatra_sdk.platform.own_settings import ALLOW, OPAQUE
from cinatra_sdk.platform.protocol import SECRET_NAMES, Platform
from cinatra_sdk.postgres.connection import Row, Rows, one
from cinatra_sdk.postgres.database import Database
from cinatra_sdk.store.flows import DurableFlow, load_flow, platform_of, unfilled, values_of
from cinatra_sdk.store.recent import Recent

MOST_FLOWS: Final = 128
"""Compiled files that are kept, and flows on their platforms."""
_SETTINGS: Final = (BASE_URL, ALLOW, OPAQUE, *SECRET_NAMES)
"""What a platform takes from the process beside its description."""


class MadeFlows:
    """Compiled flows of one store; safe to share between threads."""

    def __init__(self, database: Database, host: HostParts, *, most: int = MOST_FLOWS) -> None:
        self._database = database
        self._host = host
        self._compiled: Recent[Hashable, DurableFlow] = Recent(most)
        """By digest and values, on no platform."""
        self._flows: Recent[Hashable, DurableFlow] = Recent(most)
        """On the platforms of rows."""
        self._closers: list[Callable[[], Any]] = []
        """One for each platform that was made here and is in use: ends its connections, once."""
        self._lock = threading.Lock()
        """Held while a flow is made: two threads must not compile the same file."""

    def close(self) -> None:
        """End the connections of the platforms that were made here; lent ones stay open."""
        self._compiled.clear()
        self._flows.clear()
        with self._lock:
            closers, self._closers = self._closers, []
        for close in closers:
            close()

    def make(self, connection: Rows, row: Row) -> DurableFlow:
        """The run's flow, on the platform of the host or of the run's row.

        Raises: `NotConfigured` where this process lacks something; the errors of the loader.
        """
        values = values_of(row, self._host.env)
        key = (row["digest"], *sorted(values.items()), *self._name_platform(row))
        with self._lock:
            return self._flows.get(key) or self._flows.keep(
                key, self._put_on_platform(self._compile(connection, row, values), row)
            )

    def make_to_reject(self, connection: Rows, row: Row) -> DurableFlow:
        """The run's flow for a decision after which nothing runs: it needs no resources."""
        with self._lock:
            return self._compile(connection, row, unfilled(row), to_reject=True)

    def _compile(
        self, connection: Rows, row: Row, values: Mapping[str, str], *, to_reject: bool = False
    ) -> DurableFlow:
        key = (row["digest"], to_reject, *sorted(values.items()))
        known = self._compiled.get(key)
        if known is not None:
            return known
        stored = one(connection, "load_flow", {"digest": row["digest"]})
        assert stored is not None  # the run's row refers to this flow
        host = self._host.with_parts(env=values, platform=Nowhere())
        if to_reject:
            host = host.with_parts(secrets=None)
        made = load_flow(bytes(stored["source"]), digest=row["digest"], host=host)
        return self._compiled.keep(key, made)

    def _put_on_platform(self, flow: DurableFlow, row: Row) -> DurableFlow:
        if self._host.platform is not None:
            return flow.with_platform(self._host.platform)
        platform = self._make_platform(row)
        made = flow.with_platform(platform)
        close = getattr(getattr(platform, "beyond", None) or platform, "close", None)
        if callable(close):
            # Who works with the platform holds the flow: its end is that of the last of them.
            closer = weakref.finalize(made, close)
            closer.atexit = False
            self._closers = [kept for kept in self._closers if getattr(kept, "alive", True)]
            self._closers.append(closer)
        return made

    def _make_platform(self, row: Row) -> Platform:
        host = self._host
        return platform_of(
            row,
            self._database,
            settings=self._read_settings(),
            record=None if host.record is None else os.fspath(host.record),
            allow=host.allow,
            host=host,
        )

    def _name_platform(self, row: Row) -> tuple[Hashable, ...]:
        """What tells the platform of a run from those of other runs."""
        if self._host.platform is not None:
            return ()
        if not _can_be_shared(row["platform"]):
            return (row["run_id"],)
        settings = self._read_settings()
        own = tuple(settings.get(name) for name in _SETTINGS)
        return (json.dumps(row["platform"], sort_keys=True), own)

    def _read_settings(self) -> Mapping[str, str]:
        return os.environ if self._host.settings is None else self._host.settings


def _can_be_shared(description: object) -> bool:
    """Whether a platform with this description keeps nothing of the runs that call it.

    A simulation does, and nobody knows of a kind that another package made.
    """
    if not isinstance(description, Mapping):
        return False
    beyond = description.get("beyond")
    if description.get("kind") == "local":
        return beyond is None or _can_be_shared(beyond)
    return description.get("kind") == "http"
