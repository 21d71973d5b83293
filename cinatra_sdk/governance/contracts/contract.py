"""How a record of the governance contract is read, written and hashed.

    context = RunContext.read({"run_id": "run_1", …})      strict; unknown members are refused
    context.to_json()                                      the same JSON again
    context.content_hash                                     over its canonical form

Objects inside are frozen as well: a record that was hashed cannot change afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Self, TypeAlias, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    JsonValue,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.governance.canonical import find_inexact, hash_of
from cinatra_sdk.governance.refusals import GovernanceRefused
from cinatra_sdk.text.spelling import did_you_mean
from cinatra_sdk.values.json_values import SCALARS, check_value
from cinatra_sdk.values.strict_json import NotStrictJson, read_json

_MOST_NAMED = 3
"""Problems that one error names."""
_UNKNOWN_MEMBER: Final = "extra_forbidden"
"""What pydantic calls a member that a record does not have."""


def freeze(value: Any) -> Any:
    """A JSON value that cannot be changed."""
    if type(value) in SCALARS:
        return value
    if isinstance(value, (dict, Mapping)):
        return MappingProxyType({key: freeze(one) for key, one in value.items()})
    return tuple(freeze(one) for one in value) if isinstance(value, (list, tuple)) else value


def thaw(value: Any) -> Any:
    """A frozen value as plain JSON."""
    if type(value) in SCALARS:
        return value
    if isinstance(value, (dict, Mapping)):
        return {key: thaw(one) for key, one in value.items()}
    return [thaw(one) for one in value] if isinstance(value, (list, tuple)) else value


JsonObject: TypeAlias = Annotated[
    dict[str, JsonValue],
    AfterValidator(freeze),
    PlainSerializer(thaw),
    WithJsonSchema({"type": "object"}),
]
"""Any JSON object; read as a mapping that cannot be changed."""
AnyJson: TypeAlias = Annotated[
    JsonValue, AfterValidator(freeze), PlainSerializer(thaw), WithJsonSchema({})
]
"""Any JSON value, frozen."""


class Contract(BaseModel):
    """A frozen record with exactly the members that its contract names."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @classmethod
    def read(cls, given: JsonValue | Mapping[str, Any], *, code: str = "INVALID_ENVELOPE") -> Self:
        """The record in a JSON value.

        Raises: `GovernanceRefused` with `code`, which names each place and rule, and no value.
        """
        try:
            check_value(given, where=cls.__name__)
        except ValueRefused as error:
            problem = str(error)
        else:
            place = find_inexact(given)
            if place is None:
                return cls.read_kept(given, code=code)
            problem = f"{place[:200]} is an integer beyond 2**53: write it as a text"
        # Raised outside of the handler: what was caught holds the values.
        raise GovernanceRefused(code, f"{cls.__name__}: {problem}")

    @classmethod
    def read_kept(
        cls, given: JsonValue | Mapping[str, Any], *, code: str = "INVALID_ENVELOPE"
    ) -> Self:
        """As `read`, of JSON from the database, which holds nothing that a run may not hold."""
        try:
            return cls.model_validate_json(json.dumps(given, default=thaw))
        except ValidationError as error:
            problem = describe_problems(error, cls)
        raise GovernanceRefused(code, f"{cls.__name__}: {problem}")

    @classmethod
    def read_json_text(cls, text: str, *, code: str = "INVALID_ENVELOPE") -> Self:
        """As `read`, of a JSON text in which no name stands twice."""
        try:
            value = read_json(text)
        except NotStrictJson as error:
            problem = str(error)
        else:
            return cls.read(value, code=code)
        raise GovernanceRefused(code, f"{cls.__name__}: {problem}")

    def to_json(self) -> dict[str, Any]:
        """As JSON, without members that were not given."""
        return self.model_dump(mode="json", exclude_unset=True, by_alias=True)

    @property
    def content_hash(self) -> str:
        """`sha256:…` of the record."""
        return hash_of(self.to_json())


def describe_problems(error: ValidationError, record: type[BaseModel] | None = None) -> str:
    """Where a value does not fit, and why; quotes no value.

    record: whose members are proposed for a name that is unknown.
    """
    found = error.errors(include_url=False, include_input=False, include_context=False)
    # A misspelt member first: what lacks beside it often lacks only because of it.
    found.sort(key=lambda one: one["type"] != _UNKNOWN_MEMBER)
    told = [_describe_problem(one, record) for one in found[:_MOST_NAMED]]
    more = len(found) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more > 0 else "")


def _describe_problem(one: ErrorDetails, record: type[BaseModel] | None) -> str:
    *path, last = one["loc"] or ("it",)
    if one["type"] == _UNKNOWN_MEMBER:
        known = _list_members(record, path)
        # One that holds all of it lacks only a word: `approver_role` is `required_approver_role`.
        whole = [one for one in known if str(last) in one]
        meant = did_you_mean(str(last), whole or known)
        problem = f'there is no member "{str(last)[:200]}"' + (f"; {meant}" if meant else "")
        return ": ".join([*(["/".join(map(str, path))] if path else []), problem])
    if not one["loc"] and one["type"] == "value_error":
        return one["msg"].removeprefix("Value error, ")[:300]
    place = "/".join(map(str, [*path, last]))
    if one["type"] == "missing":
        return f"{place} is missing"
    return f"{place}: {one['msg'].removeprefix('Value error, ')[:200]}"


def _list_members(record: type[BaseModel] | None, path: Iterable[str | int]) -> list[str]:
    """The members of the record at a place; none where several kinds may stand there."""
    at_key = False
    for part in path:
        if at_key or not isinstance(part, str):
            at_key = False  # a place in a list, or a name in a mapping: the record is that of each
            continue
        known = None if record is None else _find_member(record, part)
        record = None if known is None else _find_record(known.annotation)
        at_key = known is not None and get_origin(known.annotation) is dict
    if record is None:
        return []
    return [one.alias or name for name, one in record.model_fields.items()]


def _find_member(record: type[BaseModel], name: str) -> FieldInfo | None:
    named = (one for key, one in record.model_fields.items() if name in (key, one.alias))
    return next(named, None)


def _find_record(annotation: Any) -> type[BaseModel] | None:
    """The one record in a type: `Rule` of `tuple[Rule, ...]`, and of `Rule | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = [made for one in get_args(annotation) if (made := _find_record(one)) is not None]
    return inner[0] if len(inner) == 1 else None
