"""A gate of a flow, built by `build_hitl_gate`.

A rejection ends the run here: no node is named next, so none can run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from cinatra_sdk.contract import MAX_GATE_VISITS
from cinatra_sdk.errors import LimitExceeded
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.casting import CastError, cast
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.names import DECISIONS
from cinatra_sdk.flow.nodes.shown import ShownValues
from cinatra_sdk.flow.talk import Asked, discuss
from cinatra_sdk.gates.answers import APPROVAL_SCHEMA, APPROVED_TEXT
from cinatra_sdk.gates.forms.form import AnswerForm
from cinatra_sdk.gates.gate import gate_id
from cinatra_sdk.gates.hitl import Outcome, Question, build_hitl_gate
from cinatra_sdk.governed.secrets import redact
from cinatra_sdk.governed.state import seal
from cinatra_sdk.values.json_text import Json
from cinatra_sdk.values.ports import TypedPort
from cinatra_sdk.values.types import STRING

GATE_READS = ("approval_policy", "rejected_at", "run")


@dataclass(frozen=True, slots=True, kw_only=True)
class GovernedGate:
    """How one gate is asked, and the step of the approval policy that governs it."""

    step: int
    name: str
    renderer: str
    risk_class: str
    description: str = ""


def make_gate(
    frame: Frame,
    governed: GovernedGate,
    *,
    output: TypedPort,
    form: AnswerForm,
    schema: Json | None,
    shown: ShownValues,
    max_visits: int | None = None,
) -> NodeBody:
    """output: takes the answer's value.  schema: of the answer; None asks for approval or text."""
    cap = max_visits or MAX_GATE_VISITS

    def ask(state: Mapping[str, Any]) -> Question:
        visit = frame.visit(state)
        return Question(
            values=shown.values(state),
            form=form,
            schema=schema.mapping() if schema else APPROVAL_SCHEMA,
            renderer=governed.renderer,
            gate_id=gate_id(state, frame.id, visit),
            visit=visit,
        )

    def write(state: Mapping[str, Any], outcome: Outcome) -> Any:
        decided = decision_record(frame, state, governed.step, outcome)
        # Nobody was asked at a skipped gate, whose message may lack what it would show.
        talk = {} if outcome.skipped else discuss(frame, state, asked(state), outcome)
        if not outcome.approved:
            return rejection(frame, state, outcome, decided, talk)
        value = outcome.value
        if outcome.skipped and value is None:
            value = _skipped_value(output)
        try:
            out = {output.title: cast(value, output.type)}
        except CastError as error:
            raise frame.failed(f"the answer: {error}") from None
        return frame.finish(state, out, more={DECISIONS: seal([decided]), **talk})

    def asked(state: Mapping[str, Any]) -> Asked:
        own = shown.find_message(state)
        if own is not None:
            return Asked(text=own)
        return Asked(text=redact(governed.description or governed.name), implied=True)

    gate = build_hitl_gate(
        step_number=governed.step,
        renderer=governed.renderer,
        node=frame.id,
        name=governed.name,
        description=governed.description,
        risk_class=governed.risk_class,
        ask=ask,
        write=write,
    )

    def run(state: Mapping[str, Any], _runtime: object) -> Any:
        if frame.visit(state) > cap:
            raise LimitExceeded(
                f"gate '{frame.where}' was visited {cap} times, which is its limit",
                node=frame.id,
                path=frame.where,
                hint="give the loop a way out"
                + (
                    ""
                    if cap == MAX_GATE_VISITS
                    else f", or raise maxGateVisits (at most {MAX_GATE_VISITS})"
                ),
            )
        return gate(state)

    return NodeBody(run=run, reads=(*GATE_READS, *shown.channels()), asks=True, chooses=True)


def decision_record(
    frame: Frame, state: Mapping[str, Any], step: int, outcome: Outcome, visit: int | None = None
) -> dict[str, JsonValue]:
    """The decision as the state keeps it, and as an audit reads it later."""
    at_visit = frame.visit(state) if visit is None else visit
    own_id = gate_id(state, frame.id, at_visit)
    return outcome.record(own_id, frame.id, at_visit, step)


def rejection(
    frame: Frame,
    state: Mapping[str, Any],
    outcome: Outcome,
    decided: dict[str, JsonValue],
    talk: Mapping[str, Any],
) -> Any:
    """The update that ends the run as rejected; talk: of `discuss`."""
    ending = {"rejected_at": outcome.at, "status": "rejected", DECISIONS: seal([decided]), **talk}
    return frame.pass_turn(state, {"out": {}}, None, ending)


def _skipped_value(output: TypedPort) -> JsonValue:
    """The output of a gate that the policy skips: its default, else an approval's text."""
    if output.default is not None:
        return output.default.value()
    return APPROVED_TEXT if output.type == STRING else None
