"""Rows of the table `runs`: read into a `Run`, and written from the result of an activation."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, Protocol

from psycopg.types.json import Json
from pydantic import JsonValue

from cinatra_sdk.contract import ENDED, FIRST_LAYOUT, GOVERNED_KEYS
from cinatra_sdk.data.text.person_texts import find_hidden
from cinatra_sdk.errors import (
    ChildWaits,
    EffectUnknown,
    FlowChanged,
    FlowError,
    GateUnreadable,
    InputInvalid,
    RunEnded,
    RunNotFound,
)
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.governed.person import PersonRecord
from cinatra_sdk.governed.secret_values import cut_out, redact
from cinatra_sdk.host_parts.host_parts import RunIdentity
from cinatra_sdk.langgraph_threads.host_context import DERIVED, HostContext, host_context
from cinatra_sdk.outside.effects.door import Ledger
from cinatra_sdk.outside.effects.effect import Effect
from cinatra_sdk.outside.http_calls.protocol import PlatformError
from cinatra_sdk.postgres.connection import Row, Rows, one
from cinatra_sdk.runs import Run, Stop
from cinatra_sdk.store.arguments import check_names
from cinatra_sdk.store.flows.context_owner import bound_context, is_host_context
from cinatra_sdk.store.flows.flow_protocol import DurableFlow
from cinatra_sdk.store.pages import OpenGate, UnreadableGate


def load_row(connection: Rows, run_id: str, tenant: str | None = None) -> Row:
    """The run's row, with its open gates.

    Raises: `RunNotFound`, for a run of another tenant too; `InputInvalid` for what is no id.
    """
    check_names(run_id=run_id, tenant=tenant)
    row = one(connection, "load_run", {"run_id": run_id, "tenant": tenant})
    if row is None:
        raise RunNotFound(f"there is no run '{run_id}'", hint="see oasflow runs")
    return row


def identity_of(row: Row) -> RunIdentity:
    return RunIdentity(
        id=row["run_id"],
        tenant=row["tenant"],
        flow=row["flow_name"],
        digest=row["digest"],
        started_by=row["started_by"],
    )


def name_run(context: HostContext | None, run_id: str | None, tenant: str) -> tuple[str, str]:
    """The id and the tenant of a new run, as the caller says, else as its context does."""
    said = context if is_host_context(context) else None
    name = checked_run_id(run_id or (said.run_id if said else "") or uuid.uuid4().hex)
    return name, tenant or (said.tenant if said else "")


def checked_run_id(text: str) -> str:
    if len(text) > 200 or find_hidden(text) or text != text.strip() or "/" in text:
        raise InputInvalid(
            "the run id is not usable", hint="up to 200 printable characters, no slash"
        )
    return text


class AskingLedger(Ledger, Protocol):
    """A ledger that is also asked about effects that have no row of their own."""

    def ask(self, effect: Effect) -> None: ...


def host_of(row: Row, given: HostContext, ledger: AskingLedger) -> HostContext:
    """The context of this activation: identity from the row, credentials, policy of effects and
    budget from the host; the host's own ledger where it has one.

    `given` is bound to the run (`store/flows/context_owner.py`); raises `ContextMismatch` where the row's owner has
    changed since.
    """
    policy = DERIVED if row["policy"] is None else row["policy"]["policy"]
    host = bound_context(given, run_id=row["run_id"], tenant=row["tenant"])
    activated = host_context(
        run_id=row["run_id"],
        tenant=row["tenant"],
        context_id=host.context_id,
        approval_policy=policy,
        run_token=host.credentials.run_token,
        bearer_token=host.credentials.bearer_token,
        before_effect=ledger.ask,
        ledger=ledger if host.door.ledger is None else host.door.ledger,
        allow=host.door.allow,
        spend=host.door.spend,
        spent=host.door.spent,
        on_effect=host.door.told,
        tell=host.tell,
    )
    return replace(activated, files=host.files, started_by=row["started_by"] or "")


def ending_of(stop: Stop) -> dict[str, Any]:
    outputs = None if stop.outputs is None else Json(dict(stop.outputs))
    return {
        "status": stop.status,
        "outputs": outputs,
        "branch": stop.branch,
        "messages": Json([dict(message) for message in stop.messages]),
        "error": None,
        "retry_in": None,
    }


def rejected_after_all(ending: dict[str, Any]) -> dict[str, Any]:
    """`ending`, changed to rejected: a rejection among the decisions wins over the checkpoints."""
    none = dict.fromkeys(("outputs", "branch", "error", "retry_in"))
    return {**ending, **none, "status": "rejected"}


def failure_of(error: Exception, host: HostContext) -> dict[str, Any]:
    secrets = (host.credentials.run_token, host.credentials.bearer_token)
    # A call of which nobody knows whether it happened waits for a person, as a gate does; a call that began
    # another run waits for that run.
    status = "waiting" if isinstance(error, (EffectUnknown, ChildWaits)) else "failed"
    return {"status": status, "error": describe_error(error, secrets)}


def describe_error(error: Exception, secrets: tuple[str, ...] = ()) -> Json:
    """`{"code", "message", "node"}` as a failed run keeps it, without the secrets."""
    text = str(error) if isinstance(error, (FlowError, PlatformError)) else repr(error)
    described = {
        "code": getattr(error, "code", type(error).__name__),
        "message": redact(_clean_text(text), secrets)[:2000],
        "node": getattr(error, "node", ""),
    }
    return Json(cut_out(described, secrets))


def file_label(file: str) -> str:
    """The absolute path of a flow's file, as shown to people; empty where there is no file.

    The path is absolute because it is read from another folder, later, where a relative path would
    name another file.  The path is never opened.
    """
    try:
        # Links are not resolved: people know the file by the path that they typed.
        return _clean_text(os.path.abspath(file)) if file else ""  # noqa: PTH100 - see above
    except OSError:  # the working folder was deleted
        return _clean_text(file)


def _clean_text(text: str) -> str:
    """`text` without characters that no database stores."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def refuse_other_flow(row: Row, flow: DurableFlow) -> None:
    """Raise `FlowChanged` unless the flow has the bytes and placeholders that the run was started
    with.
    """
    if flow.digest != row["digest"]:
        raise FlowChanged(
            f"run '{row['run_id']}' was started with flow '{row['flow_name']}' "
            f"({row['digest'][:12]}…), not with this one ({flow.digest[:12]}…)",
            hint="go on with the file as it was, or start a new run",
        )
    if sorted(flow.env) != sorted(row["env_names"]):
        raise FlowChanged(
            f"run '{row['run_id']}' was compiled with values for "
            f"{', '.join(row['env_names']) or 'no placeholders'}, not for "
            f"{', '.join(sorted(flow.env)) or 'none'}",
            hint="compile the flow with the same names in env=…",
        )


def explain_unrepeatable(row: Row, flow: DurableFlow) -> str:
    """Why the run cannot be carried out again from its evidence; empty: it can."""
    if not flow.is_repeatable:
        return (
            "nobody knows what the functions of its hand-written graph did: its author does not say "
            "graph_flow(…, repeats=True)"
        )
    if row["lowering"] < FIRST_LAYOUT <= flow.lowering:
        return f"runs of layouts before {FIRST_LAYOUT} did not keep all that it would take"
    return ""


def refuse_other_lowering(row: Row, flow: DurableFlow) -> None:
    """Raise `FlowChanged` for a graph whose layout the run's checkpoints cannot be made again in: a waiting
    run resumed on it would silently end as completed.

    A run of an older layout goes on: whoever works on it next makes its checkpoints again from its evidence.
    """
    layout, name = row["lowering"], row["run_id"]
    if flow.lowering == layout:
        return
    if layout > flow.lowering:
        raise FlowChanged(
            f"run '{name}' is in the layout {layout} of a newer version, and this version makes "
            f"layout {flow.lowering}",
            hint="go on with the newer version; this one can reject or stop the run",
        )
    why = explain_unrepeatable(row, flow)
    if why:
        raise FlowChanged(
            f"run '{name}' was started by an older version (layout {layout}, this is "
            f"{flow.lowering}), and cannot be carried out again: {why}",
            hint="end it: reject it, or stop it; then start another",
        )


def refuse_ended(row: Row) -> None:
    """Raise `RunEnded` for a run that nobody can go on with."""
    if row["status"] in ENDED or row["archived_at"] is not None:
        archived = "" if row["archived_at"] is None else " and archived"
        raise RunEnded(
            f"run '{row['run_id']}' is {row['status']}{archived}", hint="start a new run instead"
        )


def gates_in(row: Row) -> tuple[tuple[Gate, ...], tuple[str, ...]]:
    """The open gates, and the name and problem of each gate that cannot be read."""
    kept = row["open_gates"]
    return read_gates(kept, row) if isinstance(kept, list) else ((), ("its gates cannot be read",))


def read_gates(kept: Iterable[Row], run: Row) -> tuple[tuple[Gate, ...], tuple[str, ...]]:
    """As `gates_in`, of rows of the table `gates`; run: whose they are."""
    gates: list[Gate] = []
    problems: list[str] = []
    for data in kept:
        try:
            gates.append(Gate.from_json(data).of_run(run["run_id"], run["tenant"]))
        except GateUnreadable as error:
            problems.append(f"gate '{data['gate_id']}': {error}")
    # Gates that wait beside each other open in any order: people see them in that of their items.
    gates.sort(key=lambda gate: _split_numbers(gate.id))
    return tuple(gates), tuple(problems)


def _split_numbers(name: str) -> list[tuple[int, str]]:
    """A key by which `each[2]` comes before `each[10]`, however many digits somebody wrote."""
    texts_and_numbers = re.split(r"([0-9]+)", name)
    numbers = [part.lstrip("0") for part in texts_and_numbers[1::2]]
    texts_and_numbers[1::2] = numbers
    return [(len(part) if place % 2 else 0, part) for place, part in enumerate(texts_and_numbers)]


def read_open_gates(row: Row) -> tuple[list[OpenGate], list[UnreadableGate]]:
    """The gate of a row of `list_gates`, as one that can be read or as one that cannot."""
    gates, problems = read_gates([row], row)
    found = [
        OpenGate(
            run_id=row["run_id"],
            tenant=row["tenant"],
            flow=row["flow_name"],
            started_by=row["started_by"],
            opened_at=row["opened_at"],
            gate=gate,
        )
        for gate in gates
    ]
    return found, [UnreadableGate(run_id=row["run_id"], problem=problem) for problem in problems]


def run_of(row: Row) -> Run:
    """The row as a run, with the inputs that were answered at its setup gates.

    Unreadable parts are left out and named, so that other runs can still be listed.
    """
    filled = _read_filled(row)
    gates, problems = gates_in(row)
    is_paused = row["paused_at"] is not None and row["status"] not in ENDED
    sound = {column: fits(row[column]) for column, fits in _FITS.items()}
    started = dict(row["input"].get("inputs", {})) if sound["input"] else {}
    broken = tuple(f"{column}: it is of another form" for column, fits in sound.items() if not fits)
    return Run(
        id=row["run_id"],
        status=row["status"],
        tenant=row["tenant"],
        flow=row["flow_name"],
        file=row["flow_file"],
        digest=row["digest"],
        input=started | {name: one for name, one in filled.items() if name not in started},
        outputs=row["outputs"] if sound["outputs"] else None,
        branch=row["branch"],
        messages=tuple(row["messages"]) if sound["messages"] else (),
        waiting=gates,
        error=row["error"] if sound["error"] else None,
        attempts=row["attempts"],
        stopped_by=row["stopped_by"] or "",
        stopper=PersonRecord.read(row, "stopped", "stopped_by"),
        stop_reason=row["stop_reason"] or "",
        unreadable=problems + broken,
        started_by=row["started_by"],
        starter=PersonRecord.read(row, "started", "started_by"),
        variables=tuple(row["env_names"]),
        platform=row["platform"] if sound["platform"] else {},
        owner=row["owner"],
        session=row["session_id"],
        parent=row["parent_run_id"] or "",
        parent_path=row["parent_path"],
        deadline=row["deadline"],
        failures=row["failures"],
        retry_at=row["retry_at"],
        paused_at=row["paused_at"] if is_paused else None,
        paused_by=row["paused_by"] if is_paused else "",
        archived_at=row["archived_at"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _read_filled(row: Row) -> dict[str, JsonValue]:
    """The inputs that were answered at the run's setup gates.

    Only the decisions hold these inputs, so that an answer and its inputs are stored together.
    """
    filled: dict[str, JsonValue] = {}
    for answer in row["filled"] or ():
        value = answer.get("value") if isinstance(answer, Mapping) else None
        if isinstance(value, Mapping):  # an earlier version kept a bare value
            filled |= {name: one for name, one in value.items() if name not in GOVERNED_KEYS}
    return filled


def _is_object(value: object) -> bool:
    return value is None or isinstance(value, Mapping)


_FITS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "input": lambda value: (
        isinstance(value, Mapping) and isinstance(value.get("inputs", {}), Mapping)
    ),
    "outputs": _is_object,
    "messages": lambda value: (
        isinstance(value, list) and all(isinstance(one, Mapping) for one in value)
    ),
    "error": _is_object,
    "platform": lambda value: isinstance(value, Mapping),
}
"""JSON columns by the type of value that this project wrote into them."""
