"""The answers that a test gives, matched with the gates that ask.

A key names a gate as `result.gates` prints it, with as much of its place as the test needs:

    review             every visit of the node `review`, at any depth
    sub/review         every visit of it in `sub`
    each/ask           each element of a map or branch of a parallel node; `each[3]/ask`: of one
    sub/review#2       its second visit; the most exact key counts
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.flow.nodes.start import Start
from cinatra_sdk.flow.plan import FlowPlan, NodePlan, walk_plan_paths
from cinatra_sdk.gates.contradiction import says_decision
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.gates.forms.foreign import ForeignForm
from cinatra_sdk.gates.gate import Gate, label
from cinatra_sdk.text.spelling import did_you_mean

_VISIT: Final = re.compile(r"#\d+")
_ITEM: Final = re.compile(r"\[\d+\]")
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

    def require_known_keys(self, plan: FlowPlan) -> None:
        """Raise `AnswerInvalid` for a key that names no gate of the flow, and none that has asked."""
        if not isinstance(self._answers, Mapping):
            return
        asked = {name for gate in self.asked for name in _list_names(gate)}
        known = {*_list_planned(plan), *asked}
        for key in self._answers:
            name = str(key)
            if name not in known and _without_place(name) not in known:
                raise AnswerInvalid(
                    f"answers names '{name[:200]}', and no gate of the flow is called so",
                    hint=did_you_mean(name, known) or _describe_gates(known),
                )

    def __call__(self, gate: Gate) -> Mapping[str, JsonValue] | None:
        if not self.asked or self.asked[-1].id != gate.id:
            self.asked.append(gate)
        found, answer = self._find_answer(gate)
        if not found:
            return None
        _refuse_ambiguous(gate, answer)
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
        key = next((name for name in _list_names(gate) if name in answers), None)
        if key is None:
            return False, None
        mine = answers[key]
        return self._take_next_answer(key, mine) if isinstance(mine, list) else (True, mine)

    def _take_next_answer(self, key: str, answers: Sequence[Any]) -> tuple[bool, Any]:
        position = self._used.get(key, 0)
        if position >= len(answers):
            return False, None
        self._used[key] = position + 1
        return True, answers[position]


def _refuse_ambiguous(gate: Gate, answer: object) -> None:
    """Refuse a text such as "reject", unless the gate asks a question whose answer it is.

    Raises: `AnswerInvalid`.
    """
    any_fits = isinstance(gate.form, ForeignForm) and gate.form.actions == 0
    if any_fits or not says_decision(answer):
        return
    try:
        gate.read(answer)
    except AnswerInvalid:
        raise AnswerInvalid(
            f"gate '{gate.id}': '{answer}' alone may be a decision as well as a text",
            hint="give False to reject, True to approve, or "
            "Decision.approve(value=…) to approve with the text",
        ) from None


def _list_names(gate: Gate) -> tuple[str, ...]:
    """What a test may call the gate, the most exact name first."""
    return gate.id, _VISIT.sub("", gate.id), _without_place(gate.id), gate.node


def _without_place(name: str) -> str:
    """An id without visits and items; those of a node's own id are escaped."""
    return _ITEM.sub("", _VISIT.sub("", name))


def _list_planned(plan: FlowPlan) -> Iterator[str]:
    """The names of every node that may ask: its id, and its path without visits and items."""
    for path, node in walk_plan_paths(plan):
        if _may_ask(node):
            yield node.id
            yield "/".join(label(part, 1) for part in path if not _ITEM.fullmatch(part))


def _may_ask(node: NodePlan) -> bool:
    """Whether the node is a gate, or acts: then a person may have to confirm it."""
    work = node.work
    return work.asks or work.asks_person or work.acts or isinstance(work, Start)


def _describe_gates(known: set[str]) -> str:
    return f"its gates: {', '.join(sorted(known)[:10])}" if known else "it has no gate"
