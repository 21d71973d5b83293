"""The form of a pause that is nobody's gate: `interrupt(…)` in a tool, or in a node of a package.

    value = interrupt({"question": "which one?"})         approve with a value: `value` is that value
    HumanInTheLoopMiddleware of LangChain                 approve or deny: its own decisions

A rejection ends the run, as at every gate: the code that paused never goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from cinatra_sdk.gates.answers import Answer, Given, envelope_schema, read_envelope
from cinatra_sdk.gates.forms.form import make_record
from cinatra_sdk.gates.forms.plain import WithoutFields

REJECTED_KEY: Final = "oasflow:rejected"
"""Key of what the engine hands on after a rejection; the node around the paused code reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignForm(WithoutFields):
    """Any JSON value, or a yes; what it means is known to the code that asked."""

    output: str = "answer"
    actions: int = 0
    """How many calls LangChain's own review asks about; 0: the pause is of another kind."""

    def schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the JSON that answers the pause."""
        return envelope_schema({})

    def read(self, raw: object) -> Answer:
        """The checked answer; raises `AnswerInvalid`."""
        return read_envelope(
            raw, output=self.output, read_value=self.read_value, deniable=self.actions > 0
        )

    def read_value(self, given: Given) -> JsonValue:
        """The value itself; true for a yes."""
        return True if given.is_yes else given.value

    def make_resume(self, answer: Answer) -> JsonValue:
        """What the code that paused gets."""
        if not answer.approved and not answer.denied:
            said: dict[str, JsonValue] = {"reason": answer.reason, "by": answer.by}
            return {REJECTED_KEY: {"approved": False, **said}}
        if self.actions == 0 or isinstance(answer.value, dict):
            return answer.value
        decided: dict[str, JsonValue] = (
            {"type": "approve"}
            if answer.approved
            else {"type": "reject", "message": answer.reason or "denied"}
        )
        return {"decisions": [dict(decided) for _ in range(self.actions)]}

    def to_record(self) -> dict[str, JsonValue]:
        record = make_record(output=self.output, text_output=False)
        return {**record, "foreign": True, "actions": self.actions}
