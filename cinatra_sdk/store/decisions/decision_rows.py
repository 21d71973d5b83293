"""Decisions in the database: finds the open gate, and makes the rows of decisions.

A decision belongs to one visit of a gate and to the payload that the gate showed
(`payload_sha256`).  The first row counts, and no row ever changes.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple, Self

from psycopg.types.json import Json
from pydantic import JsonValue

from cinatra_sdk.context.artifact_refs import ContextSelection
from cinatra_sdk.contract import ENDED, SETUP_STEP
from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.data.text.person_texts import recorded_name
from cinatra_sdk.errors import (
    AnswerInvalid,
    ChoiceGone,
    GateChanged,
    GateClosed,
    GateUnreadable,
    InputInvalid,
    RunEnded,
)
from cinatra_sdk.gates.answers import Answer
from cinatra_sdk.gates.decisions import SHORT, Decision, Unset, changed
from cinatra_sdk.gates.forms.approval_forms import ConfirmationForm
from cinatra_sdk.gates.forms.selection_form import SelectionForm
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.governed.approval_policy import policy_hash
from cinatra_sdk.governed.person import PersonRecord
from cinatra_sdk.governed.secret_values import cut_out
from cinatra_sdk.langgraph_threads.host_context import HostContext, host_context
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.protocol import KeepsArtifacts, Platform
from cinatra_sdk.postgres.connection import Row, Rows, one
from cinatra_sdk.store.flows.flow_protocol import DurableFlow
from cinatra_sdk.store.pages import read_objects
from cinatra_sdk.store.runs.run_rows import gates_in, refuse_ended

BEFORE: Final = "before"
"""Of a recorded answer that edits a call: the arguments that were shown; `value` has those after it."""
MOST_NAMED: Final = 3
"""Withdrawn artifacts that an error names."""


def refuse_credentials(decision: Decision, context: HostContext | None) -> None:
    """Refuse a decision that contains one of the host's own tokens, because decisions are kept."""
    author = decision.author
    if _holds_credentials([decision.wire(), author.sub, author.issuer], context):
        raise AnswerInvalid("the answer holds a credential of this run", hint="leave it out")


def refuse_credentials_in_inputs(given: Any, context: HostContext) -> None:
    """Refuse inputs that contain one of the host's own tokens: inputs are kept and shown."""
    if _holds_credentials(given, context):
        raise InputInvalid(
            "an input holds a credential of this run",
            hint="leave it out: calls of the platform get it from the host's context",
        )


def refuse_credentials_in_names(context: HostContext, **names: str) -> None:
    """Refuse names that contain one of the host's own tokens: names of a run and of people are kept
    and listed.
    """
    for name, said in names.items():
        if _holds_credentials(said, context):
            raise InputInvalid(f"{name} holds a credential of this run", hint="give another one")


def _holds_credentials(value: Any, context: HostContext | None) -> bool:
    held = (host_context() if context is None else context).credentials
    return bool(cut_out(value, (held.run_token, held.bearer_token)) != value)


def refuse_withdrawn(platform: Platform, run_id: str, gate: Gate, answer: Answer) -> None:
    """Refuse an answer that chooses withdrawn artifacts; the gate stays open.

    Otherwise the finalize would end the run.  An artifact that is withdrawn between this check and
    the finalize is refused by the finalize, which asks the person again.
    """
    chooses = answer.approved and isinstance(gate.form, SelectionForm)
    if not chooses or not isinstance(platform, KeepsArtifacts):
        return
    chosen = answer.value if isinstance(answer.value, str) else json.dumps(answer.value)
    triples = ContextSelection.parse(chosen).triples
    gone = platform.withdrawn(run_id, triples)
    if gone:
        names = ", ".join(f'"{artifact}"' for artifact in gone[:MOST_NAMED])
        more = f" and {len(gone) - MOST_NAMED} more" if len(gone) > MOST_NAMED else ""
        raise ChoiceGone(
            f"gate '{gate.id}': the selection does not fit: {names}{more} can be chosen no more: deleted, hidden, "
            "moved to or from a project, or classified otherwise since the gate opened",
            artifacts=tuple(gone),
            chosen=triples,
            hint="choose others of the candidates, or reject",
        )


def decision_row(
    row: Row, gate: Gate, decision: Decision, flow: DurableFlow | None, at: datetime
) -> dict[str, Any]:
    """The row that records a decision.

    flow: None where the flow cannot be rebuilt: then the policy that it implies is unknown.
    at:   time of the database's clock, for the JSON that resumes the gate; the database itself sets
          the time of the row.

    Raises: `AnswerInvalid` where the recorded answer would not fit: the run is resumed from the
    row.
    """
    stamped = replace(
        decision,
        value=_kept_value(gate, decision),
        at=at.astimezone(UTC).isoformat(timespec="milliseconds"),
        shown="",  # the row has it whole, in a column of its own
    )
    gate.check(stamped)
    return {
        "run_id": row["run_id"],
        "gate_id": gate.id,
        "tenant": row["tenant"],
        "node": gate.node,
        "visit": gate.visit,
        "step": gate.step,
        "kind": decision.kind,
        "answer": Json(stamped.wire() | _describe_edit(gate, decision)),
        "decided_by": decision.by,
        **decision.author.list_columns("by"),
        "reason": decision.reason,
        "payload_sha256": gate.payload_sha256,
        "policy_sha256": _policy_hash(row, flow),
    }


def _kept_value(gate: Gate, decision: Decision) -> JsonValue | Unset:
    """The value as the row keeps it: at a setup gate always the inputs by their names."""
    if gate.step != SETUP_STEP or not decision.approved:
        return decision.value
    return gate.form.name_value(gate.check(decision).value)


def _describe_edit(gate: Gate, decision: Decision) -> dict[str, JsonValue]:
    """What a person changed by an edit: the arguments that the gate showed, beside their own."""
    arguments = gate.values.get("arguments")
    is_edit = isinstance(gate.form, ConfirmationForm) and isinstance(decision.value, dict)
    return {BEFORE: arguments} if is_edit and arguments != decision.value else {}


def _policy_hash(row: Row, flow: DurableFlow | None) -> str:
    """sha256 of the policy in force; empty where the policy is unknown because the flow cannot be
    rebuilt.
    """
    if row["policy"] is not None:
        return policy_hash(row["policy"]["policy"])
    return "" if flow is None else policy_hash(flow.approval_policy)


class Answers:
    """The recorded answers of a run that wait to be carried out.

    `rows` are objects `{"gate_id", "payload_sha256", "answer"}`.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self._answers = {(row["gate_id"], row["payload_sha256"]): row["answer"] for row in rows}

    def answer(self, gate: Gate) -> Mapping[str, JsonValue] | None:
        """The JSON that resumes this visit of the gate, with the payload that it shows; None
        without a decision.
        """
        kept: Mapping[str, JsonValue] | None = self._answers.get((gate.id, gate.payload_sha256))
        if kept is None:
            return None
        kept = {key: said for key, said in kept.items() if key != BEFORE}
        if "by" not in kept:
            return kept
        # Names are only checked when a person decides; a recorded decision counts with any name.
        return {**kept, "by": recorded_name(kept["by"])}


def open_gate(connection: Rows, row: Row, gate_id: str) -> Gate:
    """The open gate with this id; raises `GateClosed`, `RunEnded` or `GateUnreadable`.

    row: with the run's `status`, and its open gates under `open_gates`.
    """
    gates, problems = gates_in(row)
    gate = next((gate for gate in gates if gate.id == gate_id), None)
    if gate is not None:
        return gate
    if one(connection, "last_decision", {"run_id": row["run_id"], "gate_id": gate_id}):
        raise gate_closed(connection, row["run_id"], gate_id)
    refuse_ended(row)
    rejected_at = standing_of(connection, row["run_id"]).rejected_at
    if rejected_at:
        raise RunEnded(
            f"run '{row['run_id']}' was rejected at gate '{rejected_at}'",
            hint="start a new run instead",
        )
    if problems:
        raise GateUnreadable(
            f"gate '{gate_id}' cannot be read in run '{row['run_id']}': {problems[0]}",
            hint="resume the run, which reads its gates again from its checkpoint, or stop it",
        )
    names = [gate.id for gate in gates]
    nearest = did_you_mean(gate_id, names)
    raise GateClosed(
        f"gate '{gate_id}' is not waiting in run '{row['run_id']}'; waiting: "
        + (", ".join(names) or "none"),
        hint=f"{f'{nearest} ' if nearest else ''}what waits now: "
        f"oasflow show {shlex.quote(row['run_id'])}",
    )


def refuse_other_question(row: Row, gate: Gate, decision: Decision) -> None:
    """Refuse a decision about something else than what the open gate shows now.

    One that does not say what its author saw is taken only where the gate has shown nothing else.

    Raises: `GateChanged`.
    """
    run_id = row["run_id"]
    if decision.shown:
        refuse_changed(run_id, gate, decision.shown)
        return
    if any(data["gate_id"] == gate.id and data["showed_other"] for data in row["open_gates"]):
        raise GateChanged(
            f"gate '{gate.id}' of run '{run_id}' has shown more than one thing, and the decision "
            "does not say which it is about",
            hint=f"see what it shows now, and decide that: oasflow show {shlex.quote(run_id)}, "
            "which prints --shown",
            in_python=f'give the Gate itself in place of its id, or shown="{gate.shown[:SHORT]}"',
        )


def refuse_gate_of_other_run(row: Row, gate: Gate) -> None:
    """Refuse a gate that its author saw in another run: what it shows may be the same, and what
    follows is not.

    Raises: `GateChanged`.
    """
    if not gate.run_id or (gate.run_id, gate.tenant) == (row["run_id"], row["tenant"]):
        return
    theirs = f"run '{gate.run_id}'" + (f" of tenant '{gate.tenant}'" if gate.tenant else "")
    own = f"run '{row['run_id']}'" + (f" of tenant '{row['tenant']}'" if row["tenant"] else "")
    raise GateChanged(
        f"gate '{gate.id}' was seen in {theirs}, and the decision is given to {own}",
        hint=f"see what that one shows, and decide that: oasflow show {shlex.quote(row['run_id'])}",
    )


def refuse_changed(run_id: str, gate: Gate, shown: str) -> None:
    """Refuse where the open gate shows something else than `shown`, a hash or its beginning.

    Raises: `GateChanged`.
    """
    if not gate.shown.startswith(shown):
        raise changed(gate.id, gate.shown, shown, run_id=run_id)


class RunStanding(NamedTuple):
    """What decides whether a run may make a further call."""

    status: str
    rejected_at: str
    """The gate of its first rejection; empty without a rejection."""
    fence: int


def standing_of(connection: Rows, run_id: str) -> RunStanding:
    """How the run stands now.

    The rejection is read from its row, which never changes: every process that runs flows may write
    checkpoints.
    """
    row = one(connection, "load_standing", {"run_id": run_id})
    if row is None:
        return RunStanding("", "", 0)
    return RunStanding(row["status"], row["rejected_at_gate"] or "", row["fence"] or 0)


def refuse_ended_above(connection: Rows, row: Row) -> None:
    """Refuse a decision in a run whose caller was rejected or stopped.

    Raises: `RunEnded`.
    """
    if not row["parent_run_id"]:
        return
    above = standing_of(connection, row["parent_run_id"])
    if above.rejected_at or (above.status in ENDED and above.status != "completed"):
        what = f"rejected at gate '{above.rejected_at}'" if above.rejected_at else above.status
        raise RunEnded(
            f"run '{row['run_id']}' was begun by run '{row['parent_run_id']}', which was {what}",
            hint="no further call is made; oasflow stop ends it for good",
        )


def gate_closed(connection: Rows, run_id: str, gate_id: str) -> GateClosed:
    kept = one(connection, "last_decision", {"run_id": run_id, "gate_id": gate_id})
    assert kept is not None  # decisions are never removed
    status = standing_of(connection, run_id).status
    look = f"oasflow show {shlex.quote(run_id)}"
    return GateClosed(
        describe_decision(f"{gate_id}' of run '{run_id}", kept),
        hint=f"the run is {status}: {look}" if status in ENDED else f"what waits now: {look}",
        decision=GateDecision.of(kept),
    )


def describe_decision(gate: str, kept: Row) -> str:
    """`gate 'review' was already approved by ann at 2026-11-27T18:05:01+00:00`."""
    at = kept["decided_at"].isoformat(timespec="seconds")
    return (
        f"gate '{gate}' was already {kept['kind']} by {recorded_name(kept['decided_by'])} at {at}"
    )


# ----------------------------------------------------------------------------
# One row of the table of decisions, as an auditor reads it.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GateDecision(Mapping[str, Any]):
    """Who decided what at which visit of a gate, when and why.  The row never changes.

    Its members can be read by name as well: `record["decided_by"]`, `dict(record)`.
    """

    run_id: str
    gate_id: str
    """The gate, with the number of its visit from the second visit on: `review`, `review#2`,
    `drafts/approve`.
    """
    tenant: str
    node: str
    visit: int
    """The first visit is 1."""
    step: int
    """Number of the step of the approval policy; 0 is the setup."""
    kind: Literal["approved", "rejected", "denied", "auto_skipped"]
    answer: Mapping[str, Any]
    """The JSON that resumes the gate; for a setup gate `{input: value}` under `value`."""
    decided_by: str
    """The given name of the person; `policy` where no person was asked."""
    by_sub: str
    """The id that the person's issuer gives them; empty, as what follows, where a name alone was given."""
    by_issuer: str
    by_kind: Literal["", "person", "service"]
    by_proof: str
    """How it was known who they are: `Person.proof`."""
    by_channel: str
    """By which way the decision came; empty where nobody said."""
    decided_at: datetime
    """Time of the database's clock."""
    reason: str
    payload_sha256: str
    """Hash of the gate's payload, as JSON with sorted keys; empty where the gate showed nothing."""
    policy_sha256: str
    """Hash of the approval policy in force."""
    unreadable: tuple[str, ...] = ()
    """What is wrong with an answer that cannot be read, and is empty here; no member of the mapping."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        objects, problems = read_objects(dict(row), "answer")
        return cls(**{name: row[name] for name in _NAMES} | objects, unreadable=problems)

    @property
    def person(self) -> PersonRecord:
        """Who decided, in a form for showing."""
        return PersonRecord.read(self, "by", "decided_by")

    def to_json(self) -> dict[str, Any]:
        """The record as JSON; the time in ISO 8601, with its zone."""
        told = {**self, "decided_at": self.decided_at.isoformat()}
        return {**told, "unreadable": list(self.unreadable)} if self.unreadable else told

    def __getitem__(self, name: str) -> Any:
        if name not in _NAMES:
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


_NAMES = tuple(field.name for field in fields(GateDecision) if field.name != "unreadable")
