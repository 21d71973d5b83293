"""The flows of stored runs in this process: given by the caller, or compiled from stored bytes.

    flows = KnownFlows(database, HostParts(env={"CRM": "https://crm"}))
    flows.flow_of(connection, row)          ->  the flow that the run was started with

A rebuilt flow calls the platform that the run's row describes, as far as this process allows.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, Final

import psycopg

from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.errors import FlowError, NotConfigured
from cinatra_sdk.governed.placeholders import refuse_runtime_names
from cinatra_sdk.lending.host_parts import HostParts, RunIdentity
from cinatra_sdk.lending.lent_context import lend_context
from cinatra_sdk.models.totals import Price
from cinatra_sdk.postgres.connection import Row, Rows
from cinatra_sdk.postgres.database import Database
from cinatra_sdk.store.attachment_lending import lend_stored_files
from cinatra_sdk.store.flows import DurableFlow
from cinatra_sdk.store.made_flows import MadeFlows
from cinatra_sdk.store.recent import Recent
from cinatra_sdk.store.recording import govern_flow, require_governed
from cinatra_sdk.store.rows import refuse_other_flow, refuse_other_lowering

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
    def signer(self) -> Any:
        """Signs decision records that are written without a flow; None: nobody does."""
        governance = self._host.governance
        return self.lent_signer or (None if governance is None else governance.ports.signer)

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

    def flow_to_reject(
        self, connection: Rows, row: Row, given: DurableFlow | None
    ) -> DurableFlow | None:
        """The run's flow; None where it cannot be rebuilt: a broken file must not prevent a
        rejection.

        Raises: `FlowChanged` where `given` is another flow.
        """
        if given is not None:
            refuse_other_flow(row, given)
        return self._find_flow(connection, row, given, doing="rejected")

    def flow_to_settle(self, connection: Rows, row: Row) -> DurableFlow | None:
        """The run's flow, as far as this process can read it; None where it cannot."""
        return self._find_flow(connection, row, None, doing="settled")

    def _find_flow(
        self, connection: Rows, row: Row, given: DurableFlow | None, *, doing: str
    ) -> DurableFlow | None:
        try:
            return self.flow_of(connection, row, given, to_reject=True)
        except psycopg.Error:
            raise
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the flow, it is not needed
            why = str(error) if isinstance(error, FlowError) else "it does not compile any more"
            log.warning("run '%s' is %s without its flow: %s", row["run_id"], doing, why)
            return None
