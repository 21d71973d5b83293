"""Conditions of packs, in JsonLogic: a condition that cannot be decided is undecided, never guessed.

    read_condition({">": [{"var": "args.amount"}, 2000]}).holds({"args": {"amount": 4200}})    True
    …                                                   .holds({"args": {}})                   Undecided

The operators are those of jsonlogic.com without `log`, and with `startsWith`, `endsWith`, `lower`, and
`matches` of a text and a pattern for the whole text.  JavaScript turns one kind of value into another to
compare or to add: `null < 5` and `"9" > 10` both hold there.  Here such a condition is `Undecided`, and
its caller takes the stricter way.  `and` and `or` are decided as soon as one operand decides them,
whatever stands before that operand.

A missing variable is null, as everywhere in JsonLogic: `!`, `!!`, `==`, `if` and a default
(`{"var": ["tier", "none"]}`) handle null.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.governance.conditions.operators import (
    ConditionInvalid,
    Facts,
    Undecided,
    evaluate,
    is_truthy,
    read_operators,
)
from cinatra_sdk.governance.contracts.invocation import AgentInput
from cinatra_sdk.governance.contracts.record_format import canonical_json, thaw
from cinatra_sdk.light_imports.records import dataclass

MAX_DEPTH: Final = 32
MAX_NODES: Final = 2_000
__all__ = ["ConditionInvalid", "ParsedCondition", "Undecided", "read_condition"]


@dataclass(frozen=True, slots=True)
class ParsedCondition:
    """A condition that was read."""

    root: Any

    def value(self, facts: Mapping[str, Any]) -> Any:
        """What the expression gives, of facts as plain JSON.  Raises: `Undecided`."""
        context = Facts(facts)
        return evaluate(self.root, context)

    def holds(self, facts: Mapping[str, Any]) -> bool:
        """Whether the condition is truthy, as JsonLogic counts it.  Raises: `Undecided`."""
        return is_truthy(self.value(facts))


_KNOWN: Final[dict[int, tuple[Any, ParsedCondition]]] = {}
"""Conditions of records, by the frozen object: to write one as text takes longer than to ask it."""
MOST_KNOWN: Final = 8_192


def read_condition(logic: Any) -> ParsedCondition:
    """Raises: `ConditionInvalid`."""
    if not isinstance(logic, MappingProxyType):
        return _read(_write(logic))
    known = _KNOWN.get(id(logic))
    if known is not None and known[0] is logic:
        return known[1]
    made = _read(_write(logic))
    if len(_KNOWN) >= MOST_KNOWN:
        _KNOWN.clear()
    _KNOWN[id(logic)] = logic, made  # held, so that no other object gets its id
    return made


def _write(logic: Any) -> bytes:
    try:
        return canonical_json(thaw(logic))
    except ValueRefused as error:
        problem = error.message
    raise ConditionInvalid(problem)


@lru_cache(maxsize=4096)
def _read(text: bytes) -> ParsedCondition:
    try:
        logic: JsonValue = read_json(text.decode())
    except NotStrictJson as error:
        unusable = str(error)
    else:
        _check_form(logic)
        return ParsedCondition(read_operators(logic) if isinstance(logic, dict) else logic)
    raise ConditionInvalid(unusable)


def _check_form(logic: JsonValue) -> None:
    """Refuse an object that names no operator or several, and what is too deep or too large."""
    stack: list[tuple[JsonValue, int]] = [(logic, 0)]
    seen = 0
    while stack:
        one, depth = stack.pop()
        seen += 1
        if depth > MAX_DEPTH or seen > MAX_NODES:
            raise ConditionInvalid(
                f"the condition is deeper than {MAX_DEPTH}, or larger than {MAX_NODES}"
            )
        if isinstance(one, dict):
            if len(one) != 1:
                raise ConditionInvalid(f"an object of a condition has {len(one)} operators, not 1")
            stack += [(child, depth + 1) for child in one.values()]
        elif isinstance(one, list):
            stack += [(child, depth + 1) for child in one]


# ----------------------------------------------------------------------------
# Which facts a condition reads, by their names: a misspelt one is null for ever, and decides nothing.
#
#     find_unknown_fact({">": [{"var": "arg.amount"}, 1]}, {"args": None, "agent": {"role"}})     "arg.amount"
#
# Names that a condition makes up itself (`{"var": {"cat": […]}}`), and those inside of `map` and its like, which
# are members of an element, are not asked about.


FactNames: TypeAlias = Mapping[str, Collection[str] | None]
"""By fact its members; None for one that has any."""
RUN_FACTS: Final[FactNames] = {
    **dict.fromkeys(
        ("intent", "tenant_id", "session_id", "mode", "channel", "locale", "safety_mode", "context", "user")
    ),
    "input": tuple(AgentInput.model_fields),
    "agent": ("agent_id", "agent_urn", "role", "scopes"),
}  # fmt: skip
"""The facts of a run, by their names."""
CALL_FACTS: Final[FactNames] = {
    **RUN_FACTS,
    **dict.fromkeys(("capability", "adapter", "args", "approval_mode", "evidence")),
    "call": (
        "kind", "method", "url", "path", "query", "headers", "body",
        "tool", "server", "model", "agent", "arguments",
    ),
}  # fmt: skip
"""Those of a call."""
RESULT_FACTS: Final[FactNames] = {
    **RUN_FACTS,
    **dict.fromkeys(("outputs", "outcome", "calls", "evidence")),
}
"""Those of what a run came to."""
_OVER: Final = frozenset({"map", "filter", "all", "some", "none", "reduce"})
"""Operators whose second argument is about an element, and not about the facts."""


def find_unknown_fact(logic: Any, known: FactNames) -> str:
    """The first name that no fact has; empty where there is none."""
    for name in _list_names(logic):
        first, _, rest = name.partition(".")
        if not first:
            continue
        members = known.get(first)
        if first not in known:
            return name
        if members is not None and rest and rest.partition(".")[0] not in members:
            return name
    return ""


def _list_names(logic: Any) -> Iterator[str]:
    if isinstance(logic, list):
        for one in logic:
            yield from _list_names(one)
    if not isinstance(logic, Mapping):
        return
    for operator, given in logic.items():
        arguments = given if isinstance(given, list) else [given]
        for place, one in enumerate(arguments):
            if operator not in _OVER or place != 1:
                yield from _list_names(one)
        yield from (one for one in _list_named(operator, arguments) if isinstance(one, str))


def _list_named(operator: str, arguments: list[Any]) -> list[Any]:
    """What an operator takes for names of variables."""
    match operator, arguments:
        case "var", [name, *_]:
            return [name]
        case "missing", [[*names], *_]:
            return names
        case "missing", names:
            return names
        case "missing_some", [_, [*names]]:
            return names
    return []
