"""A new run: checked, then stored with its flow; no node runs yet.

In: a flow, its parameters, and the host's words about the run.  Out: the run's id, and the context bound
to it; a start that the same person repeats gives the run that is there.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple, TypedDict

import psycopg
from psycopg.types.json import Json

from cinatra_sdk.api.permission import ActionSubject
from cinatra_sdk.data.text.person_texts import MAX_NAME, describe_fault, person_name
from cinatra_sdk.errors import InputInvalid, RunEnded, RunExists
from cinatra_sdk.flow.plan.caller_inputs import refuse_unknown
from cinatra_sdk.flow.plan.plan import walk_plan
from cinatra_sdk.governed.host_keys import refuse_runtime_names
from cinatra_sdk.governed.person import Person, PersonRecord
from cinatra_sdk.host_parts.host_parts import RunIdentity
from cinatra_sdk.langgraph_threads.host_context import DERIVED, HostContext
from cinatra_sdk.postgres.connection import Row, Rows, one
from cinatra_sdk.postgres.connection import run as execute
from cinatra_sdk.store.arguments import check_names
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.decisions.decision_rows import (
    refuse_credentials_in_inputs,
    refuse_credentials_in_names,
)
from cinatra_sdk.store.evidence.record_writer import begin_record
from cinatra_sdk.store.flows.context_owner import bound_context, refuse_strangers
from cinatra_sdk.store.flows.flow_protocol import DurableFlow
from cinatra_sdk.store.runs.flow_cache import KnownFlows
from cinatra_sdk.store.runs.run_rows import file_label, load_row, name_run, refuse_ended, run_of
from cinatra_sdk.store.subjects import refuse_other_tenant

log = logging.getLogger("oasflow.store")


class CreatedRun(NamedTuple):
    """A run that is stored."""

    run_id: str
    host: HostContext
    """Bound to the run."""
    is_repeat: bool = False
    """It was there, by the same start of the same person."""


class NewRun(TypedDict, total=False):
    """What the host says about a new run."""

    tenant: str
    by: str | Person
    """The person who starts the run, shown to people who are asked to continue it: a name, or the person
    where that is proved."""
    channel: str
    """By which way they came, such as `inbox` or `slack`."""
    owner: str
    """The person or agent whose run it is."""
    session: str
    """The conversation that the run belongs to."""
    parent: str
    """Id of the run that begins this run; of the same tenant."""
    parent_path: str
    """Path of the parent's node that begins this run."""
    deadline: datetime | None
    """With a time zone."""
    context: HostContext | None


def create_run(
    database: Database,
    flows: KnownFlows,
    flow: DurableFlow,
    *,
    params: Mapping[str, Any] | None,
    run_id: str | None,
    about: NewRun,
    lasts: bool = True,
) -> CreatedRun:
    """lasts: whether the run is on the disk when this returns; else with the next that is.

    Raises: as `RunStore.create`.
    """
    _refuse_unknown_inputs(flow, params, about)
    given = flow.input(params)
    unfit = describe_fault({"name of the flow": flow.name})
    if unfit:
        raise InputInvalid(unfit)
    refuse_runtime_names(flow.env)
    if not flow.platform_given:
        _warn_of_simulation(flow)
    told = _describe_run(about)
    host, name = _bind_context(flows, flow, run_id, about)
    refuse_strangers(flow, host)
    refuse_other_tenant(
        about.get("by", ""), "start", ActionSubject(kind="flow", tenant=host.tenant, flow=flow.name)
    )
    refuse_credentials_in_inputs(given, host)
    refuse_credentials_in_names(
        host, run_id=name, tenant=host.tenant, by=told["started_by"], owner=told["owner"],
        sub=told["started_sub"], issuer=told["started_issuer"],
        session=told["session_id"], parent_path=told["parent_path"],
    )  # fmt: skip
    policy = flow.approval_policy if host.approval_policy is DERIVED else host.approval_policy
    flow.check_policy(policy)
    flow.graph()  # a flow whose graph cannot be made leaves no run behind
    row = {
        **told,
        "run_id": name,
        "tenant": host.tenant,
        "digest": flow.digest,
        "input": Json(given),
        "env_names": sorted(flow.env),
        "lowering": flow.lowering,
        "platform": Json(flow.platform.describe()),
        "policy": None if host.approval_policy is DERIVED else Json({"policy": policy}),
        "file": file_label(flow.file),
        "lasts": lasts,
        "governed": False,
    }
    record = begin_record(flow, dict(params or {}), row)
    row["governed"] = record is not None
    together = row["parent_run_id"] is not None or record is not None
    try:
        if together or not _insert_of_stored_flow(database, flows, row):
            _insert(database, flow, row, record)
            flows.stored.keep(flow.digest, True)
    except RunExists as exists:
        _require_repeat(database, row, exists)
        flows.remember(name, flow)
        return CreatedRun(name, host, is_repeat=True)
    flows.remember(name, flow)
    return CreatedRun(name, host)


def _require_repeat(database: Database, row: Row, exists: RunExists) -> None:
    """Raises: `RunExists`, with the run, where it is not the same again by the same person."""
    with database.connection() as connection:
        kept = load_row(connection, row["run_id"])
    if kept["tenant"] != row["tenant"]:
        raise exists
    if _describe_start(kept) != _describe_start(row) or not (
        PersonRecord.read(kept, "started", "started_by").is_same_person(
            PersonRecord.read(row, "started", "started_by")
        )
    ):
        exists.run = run_of(kept)
        raise exists


_SAME: Final = (
    "digest", "input", "env_names", "policy", "started_by", "owner", "session_id", "parent_run_id",
    "parent_path",
)  # fmt: skip
"""Columns that make a start the same as another; a deadline is reckoned anew by whoever tries again."""


def _describe_start(row: Row) -> str:
    """As text, because 1 and true are equal to Python."""
    said = {name: row[name].obj if isinstance(row[name], Json) else row[name] for name in _SAME}
    return json.dumps(said, sort_keys=True)


def _refuse_unknown_inputs(
    flow: DurableFlow, params: Mapping[str, Any] | None, about: NewRun
) -> None:
    """Raises: `InputInvalid`.  A run that another begins is left alone: its parent sends what it has,
    and of that the flow takes what it declares.
    """
    plan = getattr(flow, "plan", None)
    known = (
        getattr(flow, "inputs", None)  # of a hand-written graph, which may take everything
        if plan is None
        else {port.title: port for port in plan.inputs}
    )
    if known is not None and isinstance(params, Mapping) and not about.get("parent"):
        refuse_unknown(params, known)


def _insert_of_stored_flow(database: Database, flows: KnownFlows, row: Row) -> bool:
    """Insert a run of a flow that this process has stored before; False where that is not so."""
    if not flows.stored.get(row["digest"]):
        return False
    with database.connection() as connection:
        try:
            _insert_run(connection, row)
        except psycopg.errors.ForeignKeyViolation:
            return False  # another database since, under the same address
    return True


def _insert(database: Database, flow: DurableFlow, row: Row, record: Row | None) -> None:
    kept = {
        "digest": flow.digest, "name": flow.name, "file": row["file"], "source": flow.source,
    }  # fmt: skip
    with database.connection() as connection, connection.transaction():
        if row["parent_run_id"] is not None:
            refuse_ended(load_row(connection, row["parent_run_id"], row["tenant"]))
        execute(connection, "save_flow", kept)
        try:
            _insert_run(connection, row)
        except psycopg.errors.IntegrityConstraintViolation:  # it ended since
            raise RunEnded(
                f"run '{row['parent_run_id']}' has ended and begins no other",
                hint="start a new run instead",
            ) from None
        if record is not None:
            execute(connection, "insert_record", record)


def _insert_run(connection: Rows, row: Row) -> None:
    if one(connection, "insert_run", row) is None:
        raise RunExists(f"there is a run '{row['run_id']}' already", hint="choose another run id")


def _warn_of_simulation(flow: DurableFlow) -> None:
    """Say that calls are made up, where the flow makes any."""
    plan = getattr(flow, "plan", None)
    if plan is None:  # nobody knows what the functions of a hand-written graph call
        log.warning(
            "graph '%s' was given no platform: its own code acts as it is written, and only what it "
            "asks of a platform is simulated",
            flow.name,
        )
    elif any(node.work.asks_platform for node in walk_plan(plan)):
        log.warning(
            "flow '%s' was compiled without a platform: its HTTP calls are simulated", flow.name
        )


def _describe_run(about: NewRun) -> Row:
    """The columns that the host says; raises `InputInvalid` for a deadline without a time zone."""
    deadline = about.get("deadline")
    if deadline is not None and deadline.tzinfo is None:
        raise InputInvalid("the deadline has no time zone", hint="give one: datetime.now(UTC) + …")
    starter = PersonRecord.of(about.get("by", ""), about.get("channel", ""))
    return {
        "started_by": starter.name,
        **starter.list_columns("started"),
        "owner": person_name(about.get("owner", "")),
        "session_id": about.get("session") or "",
        "parent_run_id": about.get("parent") or None,
        "parent_path": about.get("parent_path") or "",
        "deadline": deadline,
    }


def _bind_context(
    flows: KnownFlows, flow: DurableFlow, run_id: str | None, about: NewRun
) -> tuple[HostContext, str]:
    """The context of a new run, and the run's id; raises `ContextMismatch`."""
    context, tenant = about.get("context"), about.get("tenant") or ""
    check_names(MAX_NAME, run_id=run_id, tenant=tenant, session=about.get("session"))
    check_names(parent=about.get("parent"), parent_path=about.get("parent_path"))
    name, whose = name_run(context, run_id, tenant)
    run = RunIdentity(
        id=name,
        tenant=whose,
        flow=flow.name,
        digest=flow.digest,
        started_by=PersonRecord.of(about.get("by", "")).name,
    )
    lent = flows.lend(context, run, flow)
    return bound_context(lent, run_id=name, tenant=whose, named=tenant or None), name
