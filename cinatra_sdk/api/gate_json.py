"""Gates, and all else that needs a person, as JSON.

make_gate(gate)      ->  {"id": "review", "schema": {…}, "values": {…}, "example": {…}, …}
make_need(need, now)  ->  {"kind": "gate", "run": "n1", "name": "review", "content": "subject: Bees", …}

How a person answers depends on the surface: the command line adds its commands, a page its links.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from pydantic import ConfigDict, JsonValue, with_config
from typing_extensions import TypedDict

if TYPE_CHECKING:
    from cinatra_sdk.gates.gate import Gate
    from cinatra_sdk.store.runs.needs import GateToDecide, Need

DESCRIBED: Final = ConfigDict(use_attribute_docstrings=True)
"""Puts the text below a member into its schema."""
NeedKindJson: TypeAlias = Literal["gate", "call", "failed"]
"""A gate to decide, a call to settle, a failed run to resume."""


@with_config(DESCRIBED)
class GateJson(TypedDict):
    """A waiting gate: what it shows, what it asks, and an answer that fits."""

    id: str
    shown: str
    """sha256 (hex) of what it shows: an answer names it, or its first letters, 16 at the least."""
    node: str
    visit: int
    step: int
    """Number of the step of the approval policy; 0 is the setup."""
    risk: str
    """Risk class of the step; empty where it has none."""
    name: str
    description: str | None
    renderer: str
    field: str | None
    """The one value that is asked for; null: there are none, or several."""
    schema: dict[str, JsonValue]
    values: dict[str, JsonValue]
    question: str | None
    said: list[dict[str, JsonValue]]
    """What was said before, as `messages` of a run."""
    example: JsonValue
    """An answer that fits."""


@with_config(DESCRIBED)
class WaitJson(TypedDict):
    """The run that waits, and since when."""

    run: str
    flow: str
    tenant: str
    started_by: str
    waiting_since: str | None
    age_seconds: int
    """By the clock of the database."""


@with_config(DESCRIBED)
class OpenGateJson(WaitJson, GateJson):
    """A waiting gate with the run that it belongs to."""


@with_config(DESCRIBED)
class NeedJson(TypedDict):
    """Anything that needs a person, in the same members."""

    kind: NeedKindJson
    run: str
    name: str
    """Id of the gate, key of the call, or code of the failure."""
    at: str
    """The gate's id, the node of the call, or the code of the failure."""
    flow: str
    tenant: str
    started_by: str
    content: str
    """One line of what it is about."""
    step: int | None
    """Of a gate."""
    risk: str | None
    shown: str | None
    """Of a gate, as a gate has it."""
    waiting_since: str | None
    age_seconds: int


def make_gate(gate: Gate) -> GateJson:
    """Slow where nobody has asked for an example of the answer before."""
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


def make_wait(need: Need, now: datetime) -> WaitJson:
    """now: by the clock of the database, `store.database.now()`."""
    return {
        "run": need.run_id,
        "flow": need.flow,
        "tenant": need.tenant,
        "started_by": need.started_by,
        "waiting_since": format_time(need.since),
        "age_seconds": _count_seconds(need, now),
    }


def make_open_gate(need: GateToDecide, now: datetime) -> OpenGateJson:
    return {**make_wait(need, now), **make_gate(need.gate)}


def make_need(need: Need, now: datetime) -> NeedJson:
    return {
        "kind": need.kind,
        "run": need.run_id,
        "name": need.name,
        "at": find_place(need),
        "flow": need.flow,
        "tenant": need.tenant,
        "started_by": need.started_by,
        "content": need.content,
        "step": need.gate.step if need.kind == "gate" else None,
        "risk": find_risk(need) or None,
        "shown": need.gate.shown if need.kind == "gate" else None,
        "waiting_since": format_time(need.since),
        "age_seconds": _count_seconds(need, now),
    }


def find_place(need: Need) -> str:
    """The gate's id, the node of the call, or the code of the failure."""
    return need.call.path if need.kind == "call" else need.name


def find_risk(need: Need) -> str:
    """The risk class of a gate or a call; empty where there is none."""
    if need.kind == "gate":
        return need.gate.risk
    return need.risk if need.kind == "call" else ""


def _count_seconds(need: Need, now: datetime) -> int:
    return max(0, int((now - need.since).total_seconds()))


def format_time(moment: datetime | None) -> str | None:
    """ISO 8601 with milliseconds and a zone."""
    return None if moment is None else moment.isoformat(timespec="milliseconds")
