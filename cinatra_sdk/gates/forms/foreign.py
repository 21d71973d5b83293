"""The form of a pause that is nobody's gate: `interrupt(…)` in a tool, or in a node of a package.

    value = interrupt({"question": "which one?"})         approve with a value: `value` is that value
    HumanInTheLoopMiddleware of LangChain                 approve or deny: its own decisions

A rejection ends the run, as at every gate: the code that paused never goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.answers import (
    Answer,
    Given,
    envelope_schema,
    read_envelope,
    refuse_governed,
)
from cinatra_sdk.gates.forms.form import make_record
from cinatra_sdk.gates.forms.plain import WithoutFields

REJECTED_KEY: Final = "oasflow:rejected"
"""Key of what the engine hands on after a rejection; the node around the paused code reads it."""
_REVIEWS: Final = ("approve", "edit", "reject", "respond")
"""The types of decisions of LangChain's review."""


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
        refuse_governed(raw)
        return read_envelope(
            raw, output=self.output, read_value=self.read_value, deniable=self.actions > 0
        )

    def read_value(self, given: Given) -> JsonValue:
        """The value itself; true for a yes.

        Raises: `AnswerInvalid` for a value that LangChain's review does not take.
        """
        if given.is_yes:
            return True
        if self.actions > 0:
            self._check_decisions(given.value)
        return given.value

    def _check_decisions(self, value: JsonValue) -> None:
        """The value of an approval may be the decisions, one for each call, of which one is no
        rejection: anything else would approve every call, or none.

        Raises: `AnswerInvalid`.
        """
        listed = value.get("decisions") if isinstance(value, dict) and len(value) == 1 else None
        types = [one.get("type") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []  # fmt: skip
        if len(types) != self.actions or not all(one in _REVIEWS for one in types):
            raise AnswerInvalid(
                f"the review asks about {self.actions} calls, and the value is no decision for each",
                hint="approve without a value, deny, reject, or give "
                '{"decisions": [{"type": "approve"}, …]}',
            )
        if set(types) == {"reject"}:
            raise AnswerInvalid(
                "the answer approves, and each of its decisions rejects",
                hint='deny the calls: {"approved": false, "denied": true, "reason": "…"}',
            )

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
