"""A node that asks a person before its call: confirm, then call, each in a superstep of its own.

    asks → approved → calls                 with the arguments that were shown
         → edited   → calls                 with the arguments that the person gave
         → denied   → its outputs say so    the run goes on without the call
         → rejected                         the run ends

Between the two supersteps the node passes the turn to itself, so that its sealed record has the answer
before the call.  Then the node compares the arguments with those that were shown; where they differ, it
asks again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.contract import CALL_STEP, FALLBACK_RENDERER
from cinatra_sdk.data.ports import STRING, TypedPort
from cinatra_sdk.errors import ShownDiffers
from cinatra_sdk.flow.plan.channel_names import CURSOR, DECISIONS, MESSAGES
from cinatra_sdk.flow.plan.frame import SHOWN, Frame, NodeBody
from cinatra_sdk.flow.plan.plan import NodeSite
from cinatra_sdk.flow.visit.talk import REFUSED_TEXTS, Asked, discuss, has_open_call
from cinatra_sdk.gates.forms.approval_forms import CONFIRMATION_SCHEMA, ConfirmationForm
from cinatra_sdk.gates.gate import gate_id
from cinatra_sdk.gates.hitl import Outcome, Question, build_hitl_gate
from cinatra_sdk.governed.secret_values import redact
from cinatra_sdk.langgraph_threads.state_channels import seal, unseal
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import Effect, hash_json

# ----------------------------------------------------------------------------
# What a node keeps of a decision, and how a rejection ends the run.


GATE_READS: Final = ("approval_policy", "rejected_at", "run", MESSAGES)
"""State keys of a node that asks a person, beyond its frame's."""


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


# ----------------------------------------------------------------------------
# The arguments of a confirmed call as a person edited them, in place of those that were shown.
#
#     shown {"to": "ann"}, approved with the value {"to": "bob"}
#         ->  the node works with {"to": "bob"}, under a key of its own, in the visit that was asked about
#
# The edit stands in the record by which the node passes the turn to itself, beside the hash of what the
# person approved; a visit that was not asked about has neither.


State = Mapping[str, Any]
EDITED: Final = "edited"
"""Of a record by which a node passes the turn to itself: the arguments that a person gave."""
CHANGED: Final = "changed"
"""Of the record of a node whose call a person edited: what whoever asked for the call is told."""


class EditedFrame(Frame):
    """The surroundings of a node whose call a person may edit."""

    __slots__ = ()

    def gather(self, state: State) -> dict[str, Any]:
        """As of every frame; after an edit exactly what the person gave."""
        edited = find_edited(self, state)
        return Frame.gather(self, state) if edited is None else dict(edited)

    def effect_key(self, state: State) -> str:
        """As of every frame; the key of an edited call is one of its arguments, too."""
        key, edited = Frame.effect_key(self, state), find_edited(self, state)
        if edited is None:
            return key
        return hashlib.sha256(f"{key}\n{hash_json(dict(edited))}".encode()).hexdigest()


def find_edited(frame: Frame, state: State) -> Mapping[str, JsonValue] | None:
    """The arguments that a person gave for this visit; None where they are those that were shown."""
    record = state.get(frame.channel)
    if record is None or record["next"] != frame.id or record["seq"] != state[CURSOR]["seq"]:
        return None
    edited: Mapping[str, JsonValue] | None = record.get(EDITED)
    return edited


def open_to_edits(site: NodeSite) -> NodeSite:
    """The place of a node whose call a person may edit."""
    own = {one.name: getattr(site.frame, one.name) for one in fields(site.frame)}
    return replace(site, frame=EditedFrame(**own))


def make_edit_schema(inputs: Sequence[TypedPort]) -> dict[str, JsonValue]:
    """JSON Schema of the arguments of a tool: all of them, and no others."""
    properties: dict[str, JsonValue] = {port.title: port.schema.mapping() for port in inputs}
    return {
        "type": "object",
        "properties": properties,
        "required": [port.title for port in inputs],
        "additionalProperties": False,
    }


EDITED_TEXT: Final = "[Changed by operator]"
DENIED: Final = "denied"
"""Of the record of a node whose call a person denied: what they said."""


def make_confirmed(
    frame: Frame,
    body: NodeBody,
    *,
    name: str,
    effect: Callable[[State], Effect],
    show: Callable[[State, Effect], dict[str, JsonValue]] | None = None,
    inputs: Sequence[TypedPort] | None = None,
) -> NodeBody:
    """`body`, which acts by one effect, after a person has confirmed the effect.

    name:   of the node, for people.
    effect: the effect that the body would make now.
    show:   what the gate shows of the effect; None: what is called, and the arguments.
    inputs: of the tool, which a person may edit; None: they may not.  The frame has to be one of
            `open_to_edits` then.
    """
    schema = None if inputs is None else make_edit_schema(inputs)
    confirmation = _Confirmation(frame, effect, show or _show_call, schema)
    gate = build_hitl_gate(
        step_number=CALL_STEP,
        node=frame.id,
        name=name or frame.id,
        risk_class=frame.risk or "read_only",
        always=True,
        ask=confirmation.ask,
        write=confirmation.write,
    )

    # `rest` is the runtime; of a node that runs flows, the config and the runtime
    def run(state: State, *rest: Any) -> Any:
        if not frame.shown(state):
            return gate(state)
        try:
            return confirmation.tell_edit(state, body.run(state, *rest))
        except ShownDiffers:
            return confirmation.ask_again(state)

    async def arun(state: State, *rest: Any) -> Any:
        if not frame.shown(state):
            return gate(state)
        try:
            made = body.run(state, *rest) if body.arun is None else await body.arun(state, *rest)
            return confirmation.tell_edit(state, made)
        except ShownDiffers:
            return confirmation.ask_again(state)

    reads = tuple(dict.fromkeys((*body.reads, *GATE_READS)))
    return replace(body, run=run, arun=arun, reads=reads, chooses=True)


@dataclass(frozen=True, slots=True)
class _Confirmation:
    """The question before a call, and what its answer leads to."""

    frame: Frame
    effect: Callable[[State], Effect]
    show: Callable[[State, Effect], dict[str, JsonValue]]
    schema: Mapping[str, JsonValue] | None
    """Of the arguments that a person may edit."""

    def ask(self, state: State) -> Question:
        about = self.effect(state)
        visit = self.frame.visit(state)
        values = self.show(state, about)
        form = ConfirmationForm(
            output=self.frame.id, call=str(values["call"]), arguments_schema=self.schema
        )
        return Question(
            values=values,
            form=form,
            schema=CONFIRMATION_SCHEMA,
            renderer=FALLBACK_RENDERER,
            gate_id=gate_id(state, self.frame.id, visit),
            visit=visit,
        )

    def write(self, state: State, outcome: Outcome) -> Any:
        frame = self.frame
        decided = decision_record(frame, state, CALL_STEP, outcome)
        call = self.effect(state)
        edit = self._find_edit(state, outcome)
        if edit is not None:
            decided["edited"] = edit
            outcome = replace(
                outcome, value=f"{EDITED_TEXT} {json.dumps(edit['after'], ensure_ascii=False)}"
            )
        question = Asked(text=f"Call {call.capability}", implied=True)
        # The result of a model's call says that it was denied.
        is_told = outcome.denied and has_open_call(state[MESSAGES])
        talk = {} if is_told else discuss(frame, state, question, outcome)
        more = {DECISIONS: seal([decided]), **talk}
        if outcome.denied:
            update = frame.finish(state, say_denied(frame, outcome), more=more)
            update[frame.channel][DENIED] = describe_denial(outcome)
            return update
        if not outcome.approved:
            return rejection(frame, state, outcome, decided, talk)
        # Not a visit of its own: what acts now is the visit that was asked about.
        asked: dict[str, Any] = {"visits": frame.visit(state) - 1}
        if edit is not None:
            asked[EDITED] = edit["after"]
            # What the person approved is the call as they edited it.
            passed = frame.go_on(state, asked)
            turn = {CURSOR: unseal(passed[CURSOR])}
            call = self.effect({**state, frame.channel: passed[frame.channel], **turn})
        return frame.go_on(state, {**asked, SHOWN: call.request_sha256}, more)

    def tell_edit(self, state: State, update: Any) -> Any:
        """The update of the node that has acted, with what its asker is told of an edit."""
        edited = find_edited(self.frame, state)
        if edited is not None and isinstance(update, dict) and self.frame.channel in update:
            arguments = json.dumps(dict(edited), ensure_ascii=False)
            told = f"{EDITED_TEXT} The call was made with {arguments}"
            update[self.frame.channel][CHANGED] = redact(told)
        return update

    def _find_edit(self, state: State, outcome: Outcome) -> dict[str, JsonValue] | None:
        """The arguments before and after an edit; None where the person changed nothing."""
        if not outcome.approved or not isinstance(outcome.value, dict):
            return None
        before = self.frame.gather(state)
        return None if before == outcome.value else {"before": before, "after": outcome.value}

    def ask_again(self, state: State) -> Any:
        """The next visit asks, about what would be sent now."""
        return self.frame.go_on(state, {})


def _show_call(_state: State, effect: Effect) -> dict[str, JsonValue]:
    return {"call": effect.capability, "arguments": effect.arguments}


def say_denied(frame: Frame, outcome: Outcome) -> dict[str, JsonValue]:
    """The outputs of a node whose call was denied: a default, else a text that says so, else null."""
    told = describe_denial(outcome)
    return {
        port.title: port.default.value()
        if port.default is not None
        else told
        if port.type == STRING
        else None
        for port in frame.outputs
    }


def describe_denial(outcome: Outcome) -> str:
    return redact(f"{REFUSED_TEXTS['denied']} {outcome.reason}".strip())
