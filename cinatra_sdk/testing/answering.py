"""The answers that a test gives, matched with the gates that ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.gates.gate import Gate

AnswerLike: TypeAlias = "Decision | JsonValue"
"""A Decision, True, False, or a JSON value to approve with."""


Answers: TypeAlias = "Sequence[AnswerLike] | Mapping[str, AnswerLike | list[AnswerLike]] | Callable[[Gate], AnswerLike]"


class Answering:
    """The answers given to `drive`, one per gate."""

    def __init__(self, answers: Answers | None) -> None:
        self._answers = answers
        self._used: dict[str, int] = {}
        self.asked: list[Gate] = []
        """Every gate, in order."""

    def __call__(self, gate: Gate) -> Mapping[str, JsonValue] | None:
        if not self.asked or self.asked[-1].id != gate.id:
            self.asked.append(gate)
        found, answer = self._find_answer(gate)
        if not found:
            return None
        decision = Decision.of(answer, by="drive")
        gate.check(decision)
        return decision.wire()

    def _find_answer(self, gate: Gate) -> tuple[bool, Any]:
        answers = self._answers
        if answers is None:
            return False, None
        if callable(answers):
            return True, answers(gate)
        if not isinstance(answers, Mapping):
            return self._take_next_answer("", answers)
        if gate.node not in answers:
            return False, None
        mine = answers[gate.node]
        return self._take_next_answer(gate.node, mine) if isinstance(mine, list) else (True, mine)

    def _take_next_answer(self, key: str, answers: Sequence[Any]) -> tuple[bool, Any]:
        position = self._used.get(key, 0)
        if position >= len(answers):
            return False, None
        self._used[key] = position + 1
        return True, answers[position]
