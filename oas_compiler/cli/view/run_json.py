"""Runs, gates and decisions as JSON: the shapes that `--json` prints.

run_record(run)  ->  {"id": "3f2a…", "status": "waiting", "waiting": [{"id": "review", …}], …}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cinatra_sdk.data.text.person_texts import recorded_name

if TYPE_CHECKING:
    from cinatra_sdk.events import RunEvent
    from cinatra_sdk.gates.gate import Gate
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store.artifacts.selections import ChosenContext


def run_record(run: Run) -> dict[str, Any]:
    """Everything that the store knows about a run, except its decisions."""
    return {
        "id": run.id,
        "status": run.status,
        "flow": run.flow,
        "file": run.file,
        "digest": run.digest,
        "tenant": run.tenant,
        "started_by": run.started_by,
        "variables": list(run.variables),
        "inputs": dict(run.input),
        "outputs": None if run.outputs is None else dict(run.outputs),
        "branch": run.branch,
        "messages": [dict(message) for message in run.messages],
        "waiting": [gate_record(gate) for gate in run.waiting],
        "error": None if run.error is None else dict(run.error),
        "stopped": stop_record(run),
        "unreadable": list(run.unreadable),
        "attempts": run.attempts,
        "archived_at": format_time(run.archived_at),
        "created_at": format_time(run.created_at),
        "updated_at": format_time(run.updated_at),
    }


def list_needs(run: Run, unknown: Sequence[str] = ()) -> list[tuple[str, str]]:
    """What a run needs of a person, as `RunStore.needs` has it: kind, and what it is called.

    unknown: keys of its calls that have to be settled.
    """
    needs = [("gate", gate.id) for gate in run.waiting] + [("call", key) for key in unknown]
    if run.status == "failed" and run.retry_at is None and run.archived_at is None:
        needs.append(("failed", str((run.error or {}).get("code", ""))))
    return needs


def run_summary(run: Run, unknown: Sequence[str] = ()) -> dict[str, Any]:
    """A run as one line of a list; unknown: keys of its calls that have to be settled."""
    return {
        "id": run.id,
        "status": run.status,
        "flow": run.flow,
        "tenant": run.tenant,
        "started_by": run.started_by,
        "waiting": [gate.id for gate in run.waiting],
        "needs": [{"kind": kind, "name": name} for kind, name in list_needs(run, unknown)],
        "unreadable": list(run.unreadable),
        "archived_at": format_time(run.archived_at),
        "created_at": format_time(run.created_at),
        "updated_at": format_time(run.updated_at),
    }


def event_record(event: RunEvent) -> dict[str, Any]:
    """One thing that happened in a run."""
    return {
        "seq": event.seq,
        "at": format_time(event.at),
        "kind": event.kind,
        "name": event.name,
        "path": event.path,
        "visit": event.visit,
        "data": dict(event.data),
    }


def stop_record(run: Run) -> dict[str, Any] | None:
    """Who stopped a run, when and why; None for a run that was not stopped."""
    if run.status != "stopped":
        return None
    return {
        "by": recorded_name(run.stopped_by),
        "at": format_time(run.updated_at),
        "reason": run.stop_reason,
    }


def gate_record(gate: Gate) -> dict[str, Any]:
    """A waiting gate: its payload, its question, and an answer that fits."""
    return {
        "id": gate.id,
        "shown": gate.shown,
        "node": gate.node,
        "visit": gate.visit,
        "step": gate.step,
        "risk": gate.risk,
        "name": gate.name,
        "description": gate.description or None,
        "renderer": gate.renderer,
        "field": gate.field or None,
        "schema": dict(gate.schema),
        "values": dict(gate.values),
        "question": gate.question or None,
        "said": [dict(message) for message in gate.said],
        "example": gate.example(),
    }


def decision_record(row: Mapping[str, Any]) -> dict[str, Any]:
    """One row of the decisions: who decided what, when and why."""
    return {
        "gate": row["gate_id"],
        "node": row["node"],
        "visit": row["visit"],
        "step": row["step"],
        "decision": row["kind"],
        "by": recorded_name(row["decided_by"]),
        "at": format_time(row["decided_at"]),
        "reason": row["reason"],
        "answer": row["answer"],
        "payload_sha256": row["payload_sha256"],
        "policy_sha256": row["policy_sha256"],
        **({"unreadable": list(broken)} if (broken := getattr(row, "unreadable", ())) else {}),
    }


def chosen_record(one: ChosenContext) -> dict[str, Any]:
    """One ref that was chosen for a context slot; `artifact` is null where no artifact was
    chosen.
    """
    return {
        "slot": one.slot_id,
        "package": one.package_name,
        "artifact": one.artifact_id,
        "name": one.name,
        "revision": one.revision,
        "extension": one.extension,
        "scope": one.source_scope,
        "by": one.selected_by,
        "mode": one.selection_mode,
        "at": format_time(one.selected_at),
        "revision_id": one.revision_id,
        "assertion_id": one.assertion_id,
    }


def format_time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="milliseconds")
