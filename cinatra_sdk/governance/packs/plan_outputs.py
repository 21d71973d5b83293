"""The outputs of a plan: members that the catalog names, each taken from the result of a call.

    {"outputs_schema": {"properties": {"transaction_id": {…}}},
     "outputs_from": {"transaction_id": {"capability": "adp_payments.issue_refund", "member": "transaction_id"}}}

    find_output_problem(plan, decision)
        ->  "the output 'transaction_id' is the member 'transaction_id' of a result of 'adp_payments.issue_refund' …"
    describe_chosen(outputs, decision)
        ->  ["the planner chose the results that these outputs are taken from: currency"]

A name is a claim as much as a value: a member that stands in neither schema is the planner's own word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from cinatra_sdk.governance.contracts.plans import DecisionSpec, Plan
from cinatra_sdk.governance.contracts.record_format import thaw

# ----------------------------------------------------------------------------
# Values that a plan takes from results of earlier steps.
#
# {"amount_inr": {"$from": "look_up/total"}}     the member `total` of what the step `look_up` gave


FROM: Final = "$from"


class Unresolved(LookupError):
    """A reference to a step that gave nothing of the kind; says which."""


def list_steps(value: Any) -> set[str]:
    """The steps to which a value refers."""
    if isinstance(value, Mapping):
        path = value.get(FROM)
        if set(value) == {FROM} and isinstance(path, str):
            return {path.partition("/")[0]}
        return {step for one in value.values() for step in list_steps(one)}
    if isinstance(value, (list, tuple)):
        return {step for one in value for step in list_steps(one)}
    return set()


def is_reference(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == {FROM} and isinstance(value[FROM], str)


def find_literal(value: Any, place: str = "", *, counts_empty: bool = True) -> str | None:
    """The place of the first value that is no reference; None where all are.  `place` is that of `value`.

    counts_empty: whether an empty list or object below a name is such a value, too.
    """
    if counts_empty and place and isinstance(value, (Mapping, list, tuple)) and not value:
        return place
    if isinstance(value, Mapping):
        if is_reference(value):
            return None
        inside = [(f"{place}/{key}".lstrip("/"), one) for key, one in value.items()]
    elif isinstance(value, (list, tuple)):
        inside = [(f"{place}/{index}", one) for index, one in enumerate(value)]
    else:
        return place
    found = (find_literal(one, at, counts_empty=counts_empty) for at, one in inside)
    return next((one for one in found if one is not None), None)


def fill_references(value: Any, results: Mapping[str, Any]) -> Any:
    """The value with results in place of references; plain JSON.

    results: what each step gave.  Raises: `Unresolved`.
    """
    if isinstance(value, Mapping):
        path = value.get(FROM)
        if set(value) == {FROM} and isinstance(path, str):
            return _look_up(path, results)
        return {key: fill_references(one, results) for key, one in value.items()}
    return (
        [fill_references(one, results) for one in value]
        if isinstance(value, (list, tuple))
        else value
    )


def _look_up(path: str, results: Mapping[str, Any]) -> Any:
    step, *parts = path.split("/")
    if step not in results:
        raise Unresolved(f"'{path[:100]}': the step has given nothing")
    found = results[step]
    for part in parts:
        if isinstance(found, Mapping) and part in found:
            found = found[part]
        elif isinstance(found, (list, tuple)) and _is_place(part, found):
            found = found[int(part)]
        else:
            raise Unresolved(f"'{path[:100]}': there is no '{part[:60]}'")
    return found


def _is_place(part: str, found: Sequence[Any]) -> bool:
    """Whether digits, of which Python reads no more than a few thousand, name an element."""
    return part.isdecimal() and len(part) <= len(str(len(found))) and int(part) < len(found)


_OPEN: Final = frozenset(
    {
        "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties",
        "unevaluatedProperties", "dependentSchemas",
    }
)  # fmt: skip
"""Keywords that may name members elsewhere than under `properties`."""
_MOST_NAMED: Final = 5
_LONGEST_NAME: Final = 60


def find_output_problem(plan: Plan, decision: DecisionSpec | None, *, binds: bool = True) -> str:
    """Why the outputs of a plan are not taken; empty where they are.

    binds: whether the catalog has a say; earlier releases only asked that values come from results.
    """
    place = find_literal(plan.outputs, counts_empty=binds)
    if place is not None:
        return (
            f"the output '{place}' is the planner's own word: take it from a result "
            '({"$from": "step/member"}), or say it in "statements"'
        )
    if decision is None or not binds:
        return ""
    schema = thaw(decision.outputs_schema)
    for place, is_refused in _list_unnamed(thaw(plan.outputs), schema):
        if is_refused:
            return (
                f"the output '{_cut(place)}' stands in no outputs_schema of "
                f"'{decision.decision_key}': leave it out, or say it in \"statements\""
            )
    return _find_other_source(plan, decision)


def _find_other_source(plan: Plan, decision: DecisionSpec) -> str:
    tools = {step.id: step.tool for step in plan.steps}
    for name, source in decision.outputs_from.items():
        if name not in plan.outputs:
            continue
        given: Any = plan.outputs[name]
        step, _, member = given[FROM].partition("/") if is_reference(given) else ("", "", "")
        if tools.get(step) != source.capability or member != source.member:
            return (
                f"the output '{_cut(name)}' is the member '{source.member}' of a result of "
                f"'{source.capability}', of a step of this plan"
            )
    return ""


def find_stray_source(decision: DecisionSpec) -> str:
    """An output of `outputs_from` that the schema leaves out; empty where there is none."""
    known, is_closed = _list_named(thaw(decision.outputs_schema))
    return next((name for name in decision.outputs_from if is_closed and name not in known), "")


def find_unnamed_output(outputs: Mapping[str, Any], decision: DecisionSpec | None) -> str:
    """The place of the first output that the decision leaves out; empty where there is none."""
    schema = thaw(decision.outputs_schema) if decision is not None else None
    return next((at for at, is_closed in _list_unnamed(thaw(outputs), schema) if is_closed), "")


def describe_chosen(outputs: Mapping[str, Any], decision: Mapping[str, Any] | None) -> list[str]:
    """What a record says of outputs that no catalog binds.  decision: a `DecisionSpec` as JSON."""
    about = decision or {}
    bound = about.get("outputs_from") or {}
    unnamed = [place for place, _ in _list_unnamed(thaw(outputs), about.get("outputs_schema"))]
    tops = {place.partition("/")[0] for place in unnamed}
    chosen = [name for name in outputs if name not in bound and name not in tops]
    told = []
    if chosen:
        told.append(
            f"the planner chose the results that these outputs are taken from: {_join(chosen)}"
        )
    if unnamed:
        told.append(f"the planner named these outputs, which no catalog does: {_join(unnamed)}")
    return told


def _list_unnamed(value: Any, schema: Any, place: str = "") -> Iterator[tuple[str, bool]]:
    """Members that a schema does not name, by their places, each with whether it leaves them out."""
    if isinstance(value, Mapping) and not is_reference(value):
        known, is_closed = _list_named(schema)
        for key, one in value.items():
            at = f"{place}/{key}".removeprefix("/")
            if key in known:
                yield from _list_unnamed(one, known[key], at)
            else:
                yield at, is_closed
    elif isinstance(value, list):
        items = schema.get("items") if isinstance(schema, Mapping) else None
        for index, one in enumerate(value):
            yield from _list_unnamed(one, items, f"{place}/{index}")


def _list_named(schema: Any) -> tuple[Mapping[str, Any], bool]:
    """The members that a schema names, and whether there are no others."""
    if not isinstance(schema, Mapping):
        return {}, False
    known = schema.get("properties")
    others = schema.get("additionalProperties", False)
    is_closed = isinstance(known, Mapping) and others is False and _OPEN.isdisjoint(schema)
    return (known if isinstance(known, Mapping) else {}), is_closed


def _join(names: Iterable[str]) -> str:
    every = [f"'{_cut(one)}'" for one in names]
    more = len(every) - _MOST_NAMED
    return ", ".join(every[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _cut(name: str) -> str:
    return name[:_LONGEST_NAME]
