"""JSON Schemas that packs hold: of arguments, of outputs, and those that constraints stand for.

describe_constraint(ArgConstraint(min=0, pattern="[a-z]+"))   {"minimum": 0, "pattern": "^(?:[a-z]+)$…"}
require_schema({"type": "text"}, "capability 'a.b'")          GovernanceRefused (PACK_INVALID)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cinatra_sdk.governance.contracts.contract import thaw
from cinatra_sdk.governance.contracts.rules import ArgConstraint
from cinatra_sdk.governance.refusals import GovernanceRefused
from cinatra_sdk.values.patterns.reading import flaw
from cinatra_sdk.values.validation.checker import SchemaBroken, checker_of, text_of
from cinatra_sdk.values.work import TooMuchWork


def describe_constraint(constraint: ArgConstraint) -> dict[str, Any]:
    """The schema of an argument that is there; empty where every value fits."""
    schema: dict[str, Any] = {
        key: bound
        for key, bound in (("minimum", constraint.min), ("maximum", constraint.max))
        if bound is not None
    }
    if constraint.enum is not None:
        schema["enum"] = thaw(constraint.enum)
    if constraint.pattern is not None:
        # Of the whole text; `\n` at its end is a part of it.
        schema["pattern"] = rf"^(?:{constraint.pattern})$(?!\n)"
    return schema


def require_constraints(constraints: Mapping[str, ArgConstraint], where: str) -> None:
    """Raises: `GovernanceRefused` (PACK_INVALID) for constraints that no value could be held to."""
    for name, constraint in constraints.items():
        require_schema(describe_constraint(constraint), f"{where}, argument '{name}'")
        # By itself: `a)|(?:b` would close the group that holds it to the whole text.
        flawed = None if constraint.pattern is None else flaw(constraint.pattern)
        if flawed is not None:
            raise GovernanceRefused(
                "PACK_INVALID", f"{where}, argument '{name}', pattern: {flawed.detail or flawed}"
            )
        low, high = constraint.min, constraint.max
        if low is not None and high is not None and low > high:
            raise GovernanceRefused(
                "PACK_INVALID", f"{where}, argument '{name}': min {low} is above max {high}"
            )


def require_schema(schema: Any, where: str) -> None:
    """Raises: `GovernanceRefused` (PACK_INVALID) for a schema by which nothing can be checked."""
    if schema is None:
        return
    try:
        # A reference to nothing is met only where a value is checked.
        checker_of(text_of(thaw(schema))).first_break({})
    except (SchemaBroken, TooMuchWork) as error:
        problem = str(error)
    else:
        return
    raise GovernanceRefused(
        "PACK_INVALID", f"{where}: no JSON Schema that can be checked: {problem}"
    )
