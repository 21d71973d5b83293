"""Which facts a condition reads, by their names: a misspelt one is null for ever, and decides nothing.

    find_unknown_fact({">": [{"var": "arg.amount"}, 1]}, {"args": None, "agent": {"role"}})     "arg.amount"

Names that a condition makes up itself (`{"var": {"cat": […]}}`), and those inside of `map` and its like, which
are members of an element, are not asked about.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, TypeAlias

from cinatra_sdk.governance.contracts.invoke import AgentInput

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
