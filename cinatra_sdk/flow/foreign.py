"""Makes a gate of a pause that a node's own code makes: people answer it like any other.

In: the pause of a node that is no gate.  Out: the same pause, with an id, a form and a payload.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt
from pydantic import JsonValue

from cinatra_sdk.contract import CALL_STEP, FALLBACK_RENDERER
from cinatra_sdk.engine.pausing import list_given_answers, read_interrupts
from cinatra_sdk.errors import AnswerInvalid, NodeFailed
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.names import DECISIONS
from cinatra_sdk.flow.talk import Asked, discuss
from cinatra_sdk.gates.forms.foreign import REJECTED_KEY, ForeignForm
from cinatra_sdk.gates.gate import GATE_KEY, gate_id
from cinatra_sdk.gates.hitl import Outcome, now
from cinatra_sdk.governed.keys import find_governed
from cinatra_sdk.governed.secrets import find_secret
from cinatra_sdk.governed.state import seal
from cinatra_sdk.values.json_values import check_value

State = Mapping[str, Any]


def make_gates(frame: Frame, state: State, pause: GraphInterrupt) -> GraphInterrupt:
    """The pause of a node's own code as gates; one of `build_hitl_gate` as it is.

    Raises: `NodeFailed` where the pause would show a secret; `ValueRefused` for what is no JSON.
    """
    interrupts = read_interrupts(pause)
    return GraphInterrupt([_make_gate(frame, state, one) for one in interrupts])


def find_rejection(frame: Frame, state: State) -> dict[str, Any] | None:
    """The update that ends the run, where the last answer to this node's own code is a rejection.

    Raises: `AnswerInvalid`: any client of a graph server may have said it.
    """
    given = list_given_answers()
    last = given[-1] if given else None
    if not isinstance(last, Mapping) or REJECTED_KEY not in last:
        return None
    said = ForeignForm(output=frame.id).read(last[REJECTED_KEY])
    if said.approved:
        raise AnswerInvalid(
            f"gate '{frame.id}': what is given as a rejection approves", hint="answer the gate"
        )
    outcome = Outcome(approved=False, reason=said.reason, by=said.by, at=now())
    visit = frame.visit(state)
    own = _name_gate(frame, state, len(given) - 1)
    decided = outcome.record(own, frame.id, visit, CALL_STEP)
    talk = discuss(frame, state, Asked(text=frame.id, implied=True, gate=own), outcome)
    ending = {"rejected_at": outcome.at, "status": "rejected", DECISIONS: seal([decided]), **talk}
    return frame.pass_turn(state, {"out": {}}, None, ending)


def _make_gate(frame: Frame, state: State, asked: Interrupt) -> Interrupt:
    schema: Any = asked.response_schema
    if isinstance(schema, Mapping) and GATE_KEY in schema:
        return asked
    values: dict[str, JsonValue] = {"request": asked.value}
    where = f"what node '{frame.where}' asks"
    check_value(values, where=where)
    found = find_secret([values]) or find_governed(values)
    if found:
        raise NodeFailed(
            f"{where} would show {found}", node=frame.id, hint="leave it out of interrupt(…)"
        )
    form = ForeignForm(output=frame.id, actions=_count_actions(asked.value))
    about: dict[str, JsonValue] = {
        "id": _name_gate(frame, state, len(list_given_answers())),
        "node": frame.id,
        "visit": frame.visit(state),
        "step": CALL_STEP,
        "risk": frame.risk or "read_only",
        "name": frame.id,
        **form.to_record(),
    }
    payload = {"xRenderer": FALLBACK_RENDERER, "schema": {}, "values": values}
    response = {**form.schema(), GATE_KEY: about}
    return Interrupt(value=payload, id=asked.id, response_schema=response)


def _name_gate(frame: Frame, state: State, before: int) -> str:
    """Id of the gate; before: how many pauses of this visit were answered."""
    own = gate_id(state, frame.id, frame.visit(state))
    return own if before == 0 else f"{own}[{before}]"


def _count_actions(value: Any) -> int:
    """How many calls LangChain's human-in-the-loop review asks about; 0 for anything else."""
    asked = value.get("action_requests") if isinstance(value, Mapping) else None
    return len(asked) if isinstance(asked, list) else 0
