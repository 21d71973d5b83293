"""The flows of stored runs in this process: given by the caller, cached, or compiled again.

    flows = KnownFlows(database, HostParts(env={"CRM": "https://crm"}))
    flows.flow_of(connection, row)          ->  the flow that the run was started with

A rebuilt flow calls the platform that the run's row describes, as far as this process allows.
"""

from __future__ import annotations

import functools
import logging
import os
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final

import psycopg

from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.errors import FlowError, NotConfigured
from cinatra_sdk.governed.placeholders import refuse_runtime_names
from cinatra_sdk.lending.host_parts import HostParts, RunIdentity
from cinatra_sdk.lending.lent_context import lend_context
from cinatra_sdk.platform.nowhere import Nowhere
from cinatra_sdk.platform.protocol import Platform
from cinatra_sdk.postgres.connection import Row, Rows, one
from cinatra_sdk.postgres.database import Database
from cinatra_sdk.store.flows import DurableFlow, load_flow, platform_of, unfilled, values_of
from cinatra_sdk.store.rows import refuse_other_flow, refuse_other_lowering

log = logging.getLogger("oasflow.store")

KNOWN_FLOWS: Final = 128
"""Number of compiled flows that are cached, one per recently used run."""


def refuse_other_names(given: Iterable[str], known: type, of: str) -> None:
    """Raise `TypeError` for a keyword that the record `known` does not have, as Python does.

    At run time Python itself does not check keywords that are typed by a `TypedDict`.
    """
    for name in given:
        if name not in known.__annotations__:
            raise TypeError(f"{of} got an unexpected keyword argument '{name}'")


class KnownFlows:
    """Flows by run; safe to share between threads."""

    def __init__(self, database: Database, host: HostParts) -> None:
        self._database = database
        self._host = host
        # Cached by run and not by file: two tenants' flows may have the same bytes but different
        # placeholder values, tools and credentials.
        self._flows: OrderedDict[str, DurableFlow] = OrderedDict()
        self._made: list[Callable[[], Platform | None]] = []
        """Platforms made again from rows: their connections end with the store."""

    def close(self) -> None:
        """Close the connections of platforms that this object made."""
        for platform in self._made:
            if callable(close := getattr(platform(), "close", None)):
                close()

    def lend(
        self, context: HostContext | None, run: RunIdentity, flow: DurableFlow | None = None
    ) -> HostContext:
        """The context of a run, completed by what its flow was made with, then by this process.

        flow: the run's flow, where the caller gave it; else the cached one counts.

        Raises: `NotConfigured` where a function of the host fails.
        """
        known = flow or self._flows.get(run.id)
        own = () if known is None else (known.host,)
        return lend_context(context, run, *own, self._host)

    def remember(self, run_id: str, flow: DurableFlow) -> DurableFlow:
        """Cache the flow of a run; the least recently used flow is dropped first."""
        self._flows[run_id] = flow
        self._flows.move_to_end(run_id)
        while len(self._flows) > KNOWN_FLOWS:
            self._flows.popitem(last=False)
        return flow

    def flow_of(
        self,
        connection: Rows,
        row: Row,
        given: DurableFlow | None = None,
        *,
        to_reject: bool = False,
    ) -> DurableFlow:
        """The run's flow: the given one, a cached one, or the stored bytes compiled again.

        to_reject: the flow then needs no resources of this process, and makes no calls.

        Raises: `FlowChanged` where the flow is not the run's, `NotConfigured` where this process
        lacks something that the run needs.
        """
        if given is not None:
            refuse_runtime_names(given.env)
            refuse_other_flow(row, given)
            refuse_other_lowering(row, given)
            return self.remember(row["run_id"], given)
        known = self._flows.get(row["run_id"])
        if known is not None:
            return known
        stored = one(connection, "load_flow", {"digest": row["digest"]})
        assert stored is not None  # the run's row refers to this flow
        make = functools.partial(load_flow, bytes(stored["source"]), digest=row["digest"])
        host = self._host
        try:
            platform = host.platform or self._own_platform(row)
            flow = make(host=host.with_parts(env=values_of(row, host.env), platform=platform))
        except NotConfigured:
            if not to_reject:
                raise
            # Nothing runs after a rejection, so a rejection must not require a process to lend
            # resources to a hostile run.
            flow = make(host=host.with_parts(env=unfilled(row), platform=Nowhere()))
            refuse_other_lowering(row, flow)
            return flow
        refuse_other_lowering(row, flow)
        return self.remember(row["run_id"], flow)

    def flow_to_reject(
        self, connection: Rows, row: Row, given: DurableFlow | None
    ) -> DurableFlow | None:
        """The run's flow; None where it cannot be rebuilt: a broken file must not prevent a
        rejection.

        Raises: `FlowChanged` where `given` is another flow.
        """
        if given is not None:
            refuse_other_flow(row, given)
        try:
            return self.flow_of(connection, row, given, to_reject=True)
        except psycopg.Error:
            raise
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the flow, it is not needed
            why = str(error) if isinstance(error, FlowError) else "it does not compile any more"
            log.warning("run '%s' is rejected without its flow: %s", row["run_id"], why)
            return None

    def _own_platform(self, row: Row) -> Platform:
        host = self._host
        made = platform_of(
            row,
            self._database,
            settings=os.environ if host.settings is None else host.settings,
            record=None if host.record is None else os.fspath(host.record),
            allow=host.allow,
        )
        # Platforms that are no longer used are dropped.
        self._made = [kept for kept in self._made if kept() is not None]
        self._made.append(_make_weak_reference(getattr(made, "beyond", None) or made))
        return made


def _make_weak_reference(platform: Platform) -> Callable[[], Platform | None]:
    """A reference that keeps the platform only while other code uses it; a lasting reference where
    its class allows no weak references.
    """
    try:
        return weakref.ref(platform)
    except TypeError:  # a class with `__slots__`, from another package
        return lambda: platform
