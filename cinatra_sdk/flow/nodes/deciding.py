"""What a node keeps of a decision, and how a rejection ends the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.names import DECISIONS, MESSAGES
from cinatra_sdk.gates.gate import gate_id
from cinatra_sdk.gates.hitl import Outcome
from cinatra_sdk.governed.state import seal

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
