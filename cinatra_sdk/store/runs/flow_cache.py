"""The flows of stored runs in this process: given by the caller, or compiled from stored bytes.

    flows = KnownFlows(database, HostParts(env={"CRM": "https://crm"}))
    flows.flow_of(connection, row)          ->  the flow that the run was started with

A rebuilt flow calls the platform that the row of the run describes, as far as this process allows.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import psycopg

from cinatra_sdk.api.permission import MayPolicy
from cinatra_sdk.contract import BASE_URL
from cinatra_sdk.errors import FlowError, NotConfigured
from cinatra_sdk.governed.host_keys import refuse_runtime_names
from cinatra_sdk.host_parts.host_parts import AttachmentsFor, HostParts, RunIdentity, lend_context
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.outside.http_calls.description import ALLOW, OPAQUE
from cinatra_sdk.outside.http_calls.protocol import SECRET_NAMES, Nowhere, Platform
from cinatra_sdk.outside.models.clients import ask_key, find_key, find_lent
from cinatra_sdk.outside.models.config import ModelConfig
from cinatra_sdk.outside.models.totals import Price
from cinatra_sdk.postgres.connection import Row, Rows, one
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.evidence.record_writer import govern_flow, require_governed
from cinatra_sdk.store.flows.flow_protocol import (
    DurableFlow,
    load_flow,
    platform_of,
    unfilled,
    values_of,
)
from cinatra_sdk.store.runs.run_rows import refuse_other_flow, refuse_other_lowering

if TYPE_CHECKING:
    from cinatra_sdk.attachments import AttachmentPorts
    from cinatra_sdk.outside.models.uploads import ProviderFiles


# ----------------------------------------------------------------------------
# `Recent`: the last used items, up to a number; the item that was unused for the longest time is dropped.
#
# `flows = Recent(2)`
# flows.keep("a", 1), flows.keep("b", 2), flows.get("a"), flows.keep("c", 3)      drops "b"


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Values by key; safe to share between threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def keep(self, key: K, value: V) -> V:
        dropped = []  # ends outside of the lock: an end may run code of its own
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                dropped.append(self._values.popitem(last=False))
        return value

    def clear(self) -> None:
        with self._lock:
            dropped, self._values = self._values, OrderedDict()
        dropped.clear()


# ----------------------------------------------------------------------------
# The flows that this process compiled from stored bytes, shared by the runs that may share them.
#
#     `flows = MadeFlows(database, HostParts(env={"CRM": "https://crm"}))`
#     flows.make(connection, row)        ->  the flow of the run's file, on the platform of its row
#
# A file is compiled once for all of its runs with the same values of placeholders.  Runs whose rows
# describe the same HTTP platform share it, and its connections; a simulation counts the calls of one
# run, so each run has its own.  What was not used for the longest time is dropped, and the connections
# of a dropped platform end as soon as nobody works with it any more.


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


# ----------------------------------------------------------------------------
# The attached files of a database for the models that stored runs ask.
#
#     `lend = lend_stored_files(database, host)`
#     lend(RunIdentity(id="r1", tenant="acme"), config)     the ports of "acme", under the key of the model
#     lend(RunIdentity(id="r1"), config)                    None: a run without a tenant reads no file
#
# Where the host lends the chat model itself, nothing is uploaded: nobody here knows its provider and key.


def lend_stored_files(database: Database, host: HostParts) -> AttachmentsFor:
    """What a process lends that says nothing else of its files."""

    def lend(run: RunIdentity, config: ModelConfig) -> AttachmentPorts | None:
        # Late: most runs have no files.
        from cinatra_sdk.store.artifacts.attachment_store import AttachmentStore

        return AttachmentStore(database).ports(run.tenant, _open_files(host, config))

    return lend


def _open_files(host: HostParts, config: ModelConfig) -> dict[str, ProviderFiles]:
    from cinatra_sdk.outside.models.uploads import open_provider_files

    try:
        if find_lent(config, host.models) is not None:
            return {}
        return open_provider_files(config, ask_key(config, host.api_key_for) or find_key(config))
    except NotConfigured:
        return {}


log = logging.getLogger("oasflow.store")

KNOWN_FLOWS: Final = 128
"""Recently used runs whose flows are kept as a caller gave them."""


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
        self._host = host
        self._database = database
        # By run and not by file: two tenants' flows may have the same bytes but different
        # placeholder values, tools and credentials.
        self._given: Recent[str, DurableFlow] = Recent(KNOWN_FLOWS)
        self._made = MadeFlows(database, host)
        self.stored: Recent[str, bool] = Recent(KNOWN_FLOWS)
        """By digest: files whose bytes this process has seen in the database."""
        self.lent_signer: Any = None
        """In place of that of the host's governance."""

    @property
    def price(self) -> Price:
        """The host's prices of models."""
        return self._host.price

    @property
    def may(self) -> MayPolicy | None:
        """The host's policy on what people do."""
        return self._host.may

    @property
    def signer(self) -> Any:
        """Signs decision records that are written without a flow; None: nobody does."""
        if self.lent_signer is not None:
            return self.lent_signer
        governance = self._host.governance
        return None if governance is None else governance.ports.signer

    def govern(self, flow: DurableFlow) -> DurableFlow:
        """The flow of a new run, under the packs that this process has for every flow, if any."""
        return govern_flow(flow, self._host.governance)

    def _require_governed(self, row: Row, flow: DurableFlow) -> DurableFlow:
        return require_governed(row, flow, self._host.governance)

    def close(self) -> None:
        """Close the connections of platforms that were made here."""
        self._made.close()

    def lend(
        self, context: HostContext | None, run: RunIdentity, flow: DurableFlow | None = None
    ) -> HostContext:
        """The context of a run, completed by what its flow was made with, then by this process.

        flow: the run's flow, where the caller gave it; else the one that was given before counts.

        Raises: `NotConfigured` where a function of the host fails.
        """
        known = flow or self._given.get(run.id)
        own = () if known is None else (known.host,)
        files = lend_stored_files(self._database, (*own, self._host)[0])
        return lend_context(context, run, *own, self._host, HostParts(attachments_for=files))

    def remember(self, run_id: str, flow: DurableFlow) -> DurableFlow:
        """Keep the flow that a caller gave for a run."""
        return self._given.keep(run_id, flow)

    def flow_of(
        self,
        connection: Rows,
        row: Row,
        given: DurableFlow | None = None,
        *,
        to_reject: bool = False,
    ) -> DurableFlow:
        """The run's flow: the given one, or the stored bytes compiled, once for all runs of a file.

        to_reject: the flow then needs no resources of this process, and makes no calls.

        Raises: `FlowChanged` where the flow is not the run's, `NotConfigured` where this process
        lacks something that the run needs.
        """
        if given is not None:
            refuse_runtime_names(given.env)
            refuse_other_flow(row, given)
            refuse_other_lowering(row, given)
            return self.remember(row["run_id"], self._require_governed(row, given))
        known = self._given.get(row["run_id"])
        if known is not None:
            refuse_other_lowering(row, known)
            return self._require_governed(row, known)
        try:
            flow = self._made.make(connection, row)
        except NotConfigured:
            if not to_reject:
                raise
            # Nothing runs after a rejection, so a rejection must not require a process to lend
            # resources to a hostile run.
            flow = self._made.make_to_reject(connection, row)
        refuse_other_lowering(row, flow)
        if row["governed"]:
            # Kept: the rules of a flow remember its runs.
            return self.remember(row["run_id"], self._require_governed(row, flow))
        return flow

    def flow_to_decide(
        self, connection: Rows, row: Row, given: DurableFlow | None, *, rejects: bool
    ) -> DurableFlow | None:
        """The run's flow, as far as this process can make it; None where it cannot: neither a broken file
        nor tools that are elsewhere prevent a decision.

        Raises: `FlowChanged` where `given` is another flow.
        """
        if given is not None:
            refuse_other_flow(row, given)
        return self._find_flow(connection, row, given, doing="rejected" if rejects else "decided")

    def flow_to_settle(self, connection: Rows, row: Row) -> DurableFlow | None:
        """The run's flow, as far as this process can read it; None where it cannot."""
        return self._find_flow(connection, row, None, doing="settled")

    def flow_to_export(self, connection: Rows, row: Row) -> DurableFlow | None:
        """The run's flow, as far as this process can make it; None where it cannot."""
        return self._find_flow(connection, row, None, doing="exported")

    def _find_flow(
        self, connection: Rows, row: Row, given: DurableFlow | None, *, doing: str
    ) -> DurableFlow | None:
        try:
            return self.flow_of(connection, row, given, to_reject=True)
        except psycopg.Error:
            raise
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the flow, it is not needed
            # Without its hint: what would lend the flow is not needed for this.
            why = error.message if isinstance(error, FlowError) else "it does not compile any more"
            log.warning("run '%s' is %s without its flow: %s", row["run_id"], doing, why)
            return None
