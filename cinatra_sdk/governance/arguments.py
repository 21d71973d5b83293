"""Whether the arguments of a call are what its adapter and the rules ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cinatra_sdk.governance.contracts.contract import thaw
from cinatra_sdk.governance.contracts.rules import ArgConstraint
from cinatra_sdk.governance.rulebook import DeclaredCapability
from cinatra_sdk.governance.schemas import describe_constraint
from cinatra_sdk.values.json_schema import first_problem


def find_argument_problem(
    declared: DeclaredCapability, args: Any, constraints: Iterable[tuple[str, ArgConstraint]]
) -> str:
    """Why the arguments do not fit; empty where they do.  Quotes no value."""
    plain = thaw(args)
    if declared.about.arg_schema is not None:
        problem = first_problem(thaw(declared.about.arg_schema), plain)
        if problem:
            return problem
    for name, constraint in constraints:
        problem = _find_problem(name, constraint, plain)
        if problem:
            return problem
    return ""


def _find_problem(name: str, constraint: ArgConstraint, args: Mapping[str, Any]) -> str:
    if name not in args or args[name] is None:
        return f"lacks the required argument '{name}'" if constraint.required else ""
    value = args[name]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    schema = describe_constraint(constraint)
    if not is_number and ("minimum" in schema or "maximum" in schema):
        return f"argument '{name}' has to be a number"
    if constraint.pattern is not None and not isinstance(value, str):
        return f"argument '{name}' has to be a text"
    problem = first_problem(schema, value) if schema else ""
    return f"argument '{name}': {problem}" if problem else ""
