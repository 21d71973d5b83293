"""Runs and what belongs to them, as JSON: the shapes that every surface tells.

make_run(run)  ->  {"id": "3f2a…", "status": "waiting", "waiting": [{"id": "review", …}], …}

In: records of the store.  Out: dicts of JSON values, each as its `…Json` says; times are ISO 8601 with
milliseconds and a zone.  `json_schemas.py` exports the shapes under one version.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NotRequired

from pydantic import JsonValue, with_config
from typing_extensions import TypedDict

from cinatra_sdk.api.gate_json import (
    DESCRIBED,
    GateJson,
    NeedKindJson,
    format_time,
    make_gate,
)
from cinatra_sdk.contract import Status
from cinatra_sdk.data.text.person_texts import recorded_name

if TYPE_CHECKING:
    from cinatra_sdk.events import RunEvent
    from cinatra_sdk.governed.person import PersonRecord
    from cinatra_sdk.outside.models.totals import ModelUsage
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store.artifacts.selections import ChosenContext
    from cinatra_sdk.store.decisions.asked_gates import AskedGate
    from cinatra_sdk.store.decisions.decision_rows import GateDecision
    from cinatra_sdk.store.runs.run_events import Stretch
    from cinatra_sdk.store.runs.settlement import Settlement, UnknownEffect


@with_config(DESCRIBED)
class PersonJson(TypedDict):
    """Who did something, what was proved of them, and by which way they came."""

    name: str
    """Empty where no name was given."""
    sub: str
    """The id that the issuer gives them; empty, as all below, where a name alone was given."""
    issuer: str
    kind: Literal["", "person", "service"]
    proof: str
    """`host`, `terminal`, `loopback`, `session`, `token` or `header`."""
    channel: str
    """Such as `inbox` or `command-line`; empty where nobody said."""


@with_config(DESCRIBED)
class StopJson(TypedDict):
    """Who stopped a run, when and why."""

    by: str
    """The person; empty where no name was given."""
    person: PersonJson
    at: str | None
    reason: str


@with_config(DESCRIBED)
class PauseJson(TypedDict):
    """Who paused a run, and when."""

    by: str
    """The person; empty where no name was given."""
    at: str | None


@with_config(DESCRIBED)
class RunJson(TypedDict):
    """Everything that the store knows about a run, except what happened in it."""

    id: str
    status: Status
    flow: str
    """The flow's name."""
    file: str
    """Path of the flow's file, for people; empty where there is none."""
    digest: str
    """sha256 (hex) of the flow's bytes."""
    tenant: str
    started_by: str
    """The person; empty where no name was given."""
    starter: PersonJson
    owner: str
    """The person or agent whose run it is; empty where nobody said."""
    session: str
    """The conversation that it belongs to; empty where nobody said."""
    parent: str | None
    """Id of the run that began it; null where none did."""
    parent_path: str
    """Path of the parent's node that began it."""
    variables: list[str]
    """Names of the flow's placeholders."""
    inputs: dict[str, JsonValue]
    outputs: dict[str, JsonValue] | None
    branch: str | None
    """Of the end that was reached."""
    messages: list[dict[str, JsonValue]]
    """What was said, in order: `role`, `content`, `node`, `path`, `id`."""
    waiting: list[GateJson]
    """The gates that wait for a decision."""
    error: dict[str, JsonValue] | None
    """`code`, `message` and `node` of a failed run, or of one that waits until a call is settled."""
    stopped: StopJson | None
    """Null for a run that was not stopped."""
    paused: PauseJson | None
    """Null for a run that is not paused; a paused one stays as it is until a person resumes it."""
    unreadable: list[str]
    """Parts of the stored run that cannot be read."""
    attempts: int
    failures: int
    """Activations in a row that died or failed."""
    retry_at: str | None
    """When a failed run is tried again; null: not until a person resumes it."""
    deadline: str | None
    archived_at: str | None
    created_at: str | None
    updated_at: str | None


@with_config(DESCRIBED)
class NamedNeedJson(TypedDict):
    """What a run needs of a person, by kind and name."""

    kind: NeedKindJson
    name: str
    """Id of the gate, key of the call, or code of the failure."""


@with_config(DESCRIBED)
class RunSummaryJson(TypedDict):
    """A run as one line of a list."""

    id: str
    status: Status
    flow: str
    tenant: str
    started_by: str
    waiting: list[str]
    """Ids of the gates that wait for a decision."""
    paused: PauseJson | None
    needs: list[NamedNeedJson]
    unreadable: list[str]
    archived_at: str | None
    created_at: str | None
    updated_at: str | None


@with_config(DESCRIBED)
class EventJson(TypedDict):
    """One thing that happened in a run."""

    seq: int
    """Number in its run, from 1 without a gap; 0 for what is told live only."""
    at: str | None
    kind: Literal["run", "node", "gate", "decision", "effect", "message", "usage", "token"]
    name: str
    path: str
    """The node, with the nodes around it; empty: the run."""
    visit: int
    """Of the node, from 1; 0 where the event is no node's."""
    data: dict[str, JsonValue]


@with_config(DESCRIBED)
class StretchJson(TypedDict):
    """The events of a run from one rest to the next."""

    number: int
    """From 1, without a gap; never changes."""
    first: int
    """`seq` of its first event."""
    last: int
    """`seq` of its last event so far."""
    began_at: str | None
    told_at: str | None
    status: Status | None
    """At which the run came to rest; null: it has not."""


@with_config(DESCRIBED)
class DecisionJson(TypedDict):
    """Who decided what at one visit of a gate, when and why."""

    gate: str
    node: str
    visit: int
    step: int
    """Number of the step of the approval policy; 0 is the setup."""
    decision: Literal["approved", "rejected", "denied", "auto_skipped"]
    by: str
    """The person; `policy` where no person was asked."""
    person: PersonJson
    at: str | None
    reason: str
    answer: dict[str, JsonValue]
    """What resumed the gate."""
    payload_sha256: str
    """Of what the gate showed; empty where it showed nothing."""
    policy_sha256: str
    """Of the approval policy in force."""
    unreadable: NotRequired[list[str]]
    """What is wrong with an answer that cannot be read; only where there is something."""


@with_config(DESCRIBED)
class AskedGateJson(GateJson):
    """A visit of a gate with what it showed, open or decided, and what became of it."""

    run: str
    flow: str
    tenant: str
    started_by: str
    state: Literal["open", "decided", "closed"]
    """`closed`: it takes no decision any more, because its run ended or went another way."""
    opened_at: str | None
    settled_at: str | None
    """When it was decided or closed."""
    decision: DecisionJson | None
    others: list[str]
    """Hashes of what else it showed at the same visit, the oldest first."""


@with_config(DESCRIBED)
class ChosenJson(TypedDict):
    """One ref that was chosen for a context slot."""

    slot: str
    package: str
    artifact: str | None
    """Null where no artifact was chosen."""
    name: str
    revision: int | None
    extension: str | None
    scope: str | None
    by: str | None
    """user, agent or autonomous."""
    mode: str
    at: str | None
    revision_id: str | None
    assertion_id: str | None


@with_config(DESCRIBED)
class CallJson(TypedDict):
    """A call that may happen once only, and of which nobody knows whether it happened."""

    key: str
    """Its Idempotency-Key; whoever settles it names it."""
    kind: str
    capability: str
    """Method and url, or the name of a tool."""
    path: str
    """The node."""
    visit: int
    item: int | None
    attempts: int
    begun_at: str
    error: dict[str, JsonValue]
    """`code` and `message`: why nobody knows."""
    unreadable: list[str]


@with_config(DESCRIBED)
class SettlementJson(TypedDict):
    """A person's word on such a call."""

    key: str
    capability: str
    path: str
    happened: bool
    by: str
    person: PersonJson
    reason: str
    at: str
    value: dict[str, JsonValue] | None
    """The outputs of the node; null where the call did not happen, or they cannot be read."""
    unreadable: list[str]


@with_config(DESCRIBED)
class NodeUsageJson(TypedDict):
    """What one node used up of a model."""

    node: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: str | None
    """By the host's prices, as a text, so that no digit is lost; null without prices."""


@with_config(DESCRIBED)
class ModelUsageJson(TypedDict):
    """What a run used up of a model."""

    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: str | None
    nodes: list[NodeUsageJson]


@with_config(DESCRIBED)
class WholeRunJson(RunJson):
    """A run with all that people decided in it and all that it needs of them."""

    decisions: list[DecisionJson]
    context_selections: list[ChosenJson]
    unknown: list[CallJson]
    """Calls that have to be settled."""
    settlements: list[SettlementJson]
    models: list[ModelUsageJson]


# ------------------------------------------------------------------ runs


def make_run(run: Run) -> RunJson:
    return {
        "id": run.id,
        "status": run.status,
        "flow": run.flow,
        "file": run.file,
        "digest": run.digest,
        "tenant": run.tenant,
        "started_by": run.started_by,
        "starter": make_person(run.starter),
        "owner": run.owner,
        "session": run.session,
        "parent": run.parent or None,
        "parent_path": run.parent_path,
        "variables": list(run.variables),
        "inputs": dict(run.input),
        "outputs": None if run.outputs is None else dict(run.outputs),
        "branch": run.branch,
        "messages": [dict(message) for message in run.messages],
        "waiting": [make_gate(gate) for gate in run.waiting],
        "error": None if run.error is None else dict(run.error),
        "stopped": make_stop(run),
        "paused": make_pause(run),
        "unreadable": list(run.unreadable),
        "attempts": run.attempts,
        "failures": run.failures,
        "retry_at": format_time(run.retry_at),
        "deadline": format_time(run.deadline),
        "archived_at": format_time(run.archived_at),
        "created_at": format_time(run.created_at),
        "updated_at": format_time(run.updated_at),
    }


def make_whole_run(
    run: Run,
    *,
    decisions: Sequence[GateDecision],
    chosen: Sequence[ChosenContext],
    unknown: Sequence[UnknownEffect],
    settlements: Sequence[Settlement],
    usage: Sequence[ModelUsage],
) -> WholeRunJson:
    return {
        **make_run(run),
        "decisions": [make_decision(one) for one in decisions],
        "context_selections": [make_chosen(one) for one in chosen],
        "unknown": [make_call(one) for one in unknown],
        "settlements": [make_settlement(one) for one in settlements],
        "models": [make_usage(one) for one in usage],
    }


def make_run_summary(run: Run, unknown: Sequence[str] = ()) -> RunSummaryJson:
    """unknown: keys of the run's calls that have to be settled."""
    return {
        "id": run.id,
        "status": run.status,
        "flow": run.flow,
        "tenant": run.tenant,
        "started_by": run.started_by,
        "waiting": [gate.id for gate in run.waiting],
        "paused": make_pause(run),
        "needs": [{"kind": kind, "name": name} for kind, name in list_needs(run, unknown)],
        "unreadable": list(run.unreadable),
        "archived_at": format_time(run.archived_at),
        "created_at": format_time(run.created_at),
        "updated_at": format_time(run.updated_at),
    }


def list_needs(run: Run, unknown: Sequence[str] = ()) -> list[tuple[NeedKindJson, str]]:
    """What a run needs of a person, as `RunStore.needs` has it: kind, and what it is called.

    unknown: keys of its calls that have to be settled.
    """
    needs: list[tuple[NeedKindJson, str]] = [("gate", gate.id) for gate in run.waiting]
    needs += [("call", key) for key in unknown]
    if run.status == "failed" and run.retry_at is None and run.archived_at is None:
        needs.append(("failed", str((run.error or {}).get("code", ""))))
    return needs


def make_person(person: PersonRecord) -> PersonJson:
    return {
        "name": person.name,
        "sub": person.sub,
        "issuer": person.issuer,
        "kind": person.kind,
        "proof": person.proof,
        "channel": person.channel,
    }


def make_stop(run: Run) -> StopJson | None:
    """None for a run that was not stopped."""
    if run.status != "stopped":
        return None
    return {
        "by": recorded_name(run.stopped_by),
        "person": make_person(run.stopper),
        "at": format_time(run.updated_at),
        "reason": run.stop_reason,
    }


def make_pause(run: Run) -> PauseJson | None:
    """None for a run that is not paused."""
    if run.paused_at is None:
        return None
    return {"by": recorded_name(run.paused_by), "at": format_time(run.paused_at)}


# ------------------------------------------------------------------ what belongs to a run


def make_event(event: RunEvent) -> EventJson:
    return {
        "seq": event.seq,
        "at": format_time(event.at),
        "kind": event.kind,
        "name": event.name,
        "path": event.path,
        "visit": event.visit,
        "data": dict(event.data),
    }


def make_stretch(stretch: Stretch) -> StretchJson:
    return {
        "number": stretch.number,
        "first": stretch.first,
        "last": stretch.last,
        "began_at": format_time(stretch.began_at),
        "told_at": format_time(stretch.told_at),
        "status": stretch.status,
    }


def make_decision(row: GateDecision) -> DecisionJson:
    made: DecisionJson = {
        "gate": row.gate_id,
        "node": row.node,
        "visit": row.visit,
        "step": row.step,
        "decision": row.kind,
        "by": recorded_name(row.decided_by),
        "person": make_person(row.person),
        "at": format_time(row.decided_at),
        "reason": row.reason,
        "answer": dict(row.answer),
        "payload_sha256": row.payload_sha256,
        "policy_sha256": row.policy_sha256,
    }
    if row.unreadable:
        made["unreadable"] = list(row.unreadable)
    return made


def make_asked_gate(asked: AskedGate) -> AskedGateJson:
    return {
        **make_gate(asked.gate),
        "run": asked.run_id,
        "flow": asked.flow,
        "tenant": asked.tenant,
        "started_by": asked.started_by,
        "state": asked.state,
        "opened_at": format_time(asked.opened_at),
        "settled_at": format_time(asked.settled_at),
        "decision": None if asked.decision is None else make_decision(asked.decision),
        "others": list(asked.others),
    }


def make_chosen(one: ChosenContext) -> ChosenJson:
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


def make_call(call: UnknownEffect) -> CallJson:
    return {
        "key": call.key,
        "kind": call.kind,
        "capability": call.capability,
        "path": call.path,
        "visit": call.visit,
        "item": call.item,
        "attempts": call.attempts,
        "begun_at": call.begun_at.isoformat(timespec="milliseconds"),
        "error": dict(call.error),
        "unreadable": list(call.unreadable),
    }


def make_settlement(word: Settlement) -> SettlementJson:
    return {
        "key": word.key,
        "capability": word.capability,
        "path": word.path,
        "happened": word.happened,
        "by": word.by,
        "person": make_person(word.person),
        "reason": word.reason,
        "at": word.at.isoformat(timespec="milliseconds"),
        "value": None if word.value is None else dict(word.value),
        "unreadable": list(word.unreadable),
    }


def make_usage(used: ModelUsage) -> ModelUsageJson:
    return {
        "model": used.model,
        "calls": used.calls,
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "cost": None if used.cost is None else str(used.cost),
        "nodes": [
            {
                "node": one.node,
                "calls": one.calls,
                "input_tokens": one.input_tokens,
                "output_tokens": one.output_tokens,
                "cost": None if one.cost is None else str(one.cost),
            }
            for one in used.nodes
        ],
    }
