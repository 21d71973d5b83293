"""The state of a graph declares what every node and every gate reads.

class OrchestratorState(TypedDict):       class OrchestratorState(TypedDict):
    campaign_id: str    ->  OAS196            bearer_token: str
                                              approval_policy: dict | None
                                              rejected_at: str | None
                                              status: str
                                              campaign_id: str
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from oas_compiler.checks.subject import Subject
from oas_compiler.checks.typed_dicts import Declared, StateUse, state_uses, typed_dicts
from oas_compiler.findings.rules import Report, rule

_NEEDED = ("approval_policy", "bearer_token", "rejected_at", "status")


@rule(
    code="OAS196",
    name="state-fields",
    severity="error",
    summary="The state of a graph lacks a field that its nodes and routes read.",
    fix="Declare approval_policy, bearer_token, rejected_at, status and what routes read.",
    source="agent guide, pitfall P8",
    needs="package",
    aliases=("pitfall-P8",),
    bad="class OrchestratorState(TypedDict):\n    bearer_token: str\n    status: str",
    good="class OrchestratorState(TypedDict):\n    approval_policy: dict | None\n    bearer_token: str\n    rejected_at: str | None\n    status: str",
)
def state_fields(subject: Subject, report: Report) -> None:
    package = subject.agent
    scripts = package.scripts if package is not None else ()
    used = [use for script in scripts for use in state_uses(script)]
    if package is None or not used:
        return
    declared = {found.name: found for script in scripts for found in typed_dicts(script)}
    for state in _select_states(declared, used):
        fields = _all_fields(state, declared)
        if fields is None:
            continue
        read = {key for use in used if use.name == state.name for key in use.routed_by}
        missing = [
            *(key for key in _NEEDED if key not in fields),
            *sorted(read - fields - {*_NEEDED}),
        ]
        if missing:
            report(
                f"the state {state.name} does not declare {', '.join(missing[:20])}",
                state.script.at_node(state.node),
                hint="a key that is not declared is dropped between the nodes",
                file=package.name_of(state.script.file),
            )


def _select_states(declared: dict[str, Declared], used: Iterable[StateUse]) -> Iterator[Declared]:
    """The TypedDicts that graphs use as state; where no use is found, all named …State."""
    names = {use.name for use in used}
    if names <= declared.keys():
        yield from (declared[name] for name in sorted(names))
    else:
        yield from (found for name, found in sorted(declared.items()) if name.endswith("State"))


def _all_fields(state: Declared, declared: dict[str, Declared]) -> set[str] | None:
    """Its fields with those of its bases; `None` when a base is not in the package."""
    fields: set[str] = set()
    waiting, seen = [state.name], {state.name}
    while waiting:
        found = declared.get(waiting.pop())
        if found is None:
            return None
        fields |= found.fields
        waiting += [base for base in found.bases if base not in seen]
        seen |= set(found.bases)
    return fields
