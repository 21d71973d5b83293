"""Which person's answer reaches which call of the bridge as an envelope.

    find_answer_rules(
        [BridgeCall(node="review", body={"user": "{{note}}", "user_envelope": True},
                    sources={"note": [("ask", "note")]})],
        gates=[("ask", "note")])
        -> (AnswerRule(gate="ask", output="note", call="review"),)

The flow decides, and no guess: the call says `user_envelope: true`, and its whole `user` is the output of
a gate.  An answer that no rule names goes on as the text that the person wrote, so its refs must not be
wrapped into it: that call would show the JSON to its model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from cinatra_sdk.attachments.resuming import wrap_resume

_VISIT: Final = re.compile(r"#\d+(?=\[\d+\]|/|\Z)")
_ITEM: Final = re.compile(r"\[\d+\](?=/|\Z)")
_ALONE: Final = re.compile(r"\s*\{\{\s*([^{}|\s]+)\s*\}\}\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeCall:
    """What a flow says of one call to the bridge."""

    node: str
    body: Mapping[str, JsonValue]
    """As the author wrote it, with placeholders."""
    sources: Mapping[str, Sequence[tuple[str, str]]]
    """Name of a placeholder → the outputs (node, name) that may fill it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRule:
    """The answer of `gate`, under the name `output`, is the `user` of the call that `call` makes."""

    gate: str
    """As the id of a gate at its first visit, in the first of several flows: `write/ask`."""
    output: str
    call: str

    def takes(self, gate_id: str) -> bool:
        """Whether it is about the gate with this id, at any visit, and for any item of a map."""
        place = _VISIT.sub("", gate_id)
        return self.gate in (place, _ITEM.sub("", place))


def find_answer_rules(
    calls: Iterable[BridgeCall], gates: Iterable[tuple[str, str]]
) -> tuple[AnswerRule, ...]:
    """A rule for each pair of a gate's output and a call that takes it as an envelope.

    gates: the outputs (node, name) that hold what a person wrote.
    """
    answered = frozenset(gates)
    return tuple(
        AnswerRule(gate=node, output=output, call=call.node)
        for call in calls
        if call.body.get("user_envelope") is True
        for node, output in call.sources.get(_name_of_user(call.body.get("user")), ())
        if (node, output) in answered
    )


def wrap_answer(text: str, refs: object, *, gate: str, rules: Sequence[AnswerRule]) -> str:
    """The text that goes on from a gate: an envelope where a rule takes its answer as such.

    gate: its id, with the visit.
    """
    if any(rule.takes(gate) for rule in rules):
        return wrap_resume(text, refs)
    return text


def opens_answer(body: JsonValue) -> bool:
    """Whether a call with this body, as its author wrote it, opens one value as an envelope."""
    if not isinstance(body, Mapping) or body.get("user_envelope") is not True:
        return False
    return bool(_name_of_user(body.get("user")))


def _name_of_user(user: JsonValue) -> str:
    """The placeholder that is the whole of `user`; empty where there are other words around it."""
    alone = _ALONE.fullmatch(user) if isinstance(user, str) else None
    return alone[1] if alone else ""
