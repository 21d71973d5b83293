"""How a record of the governance contract is read, written and hashed.

    context = RunContext.read({"run_id": "run_1", …})      strict; unknown members are refused
    context.to_json()                                      the same JSON again
    context.content_hash                                     over its canonical form

Objects inside are frozen as well: a record that was hashed cannot change afterwards.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, NoReturn, Self, TypeAlias, get_args, get_origin

import rfc8785
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from cinatra_sdk.data.json_values import SCALARS, NotStrictJson, check_value, read_json
from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused

# ----------------------------------------------------------------------------
# Names and references of the governance contract, each with the pattern that it has to fit.
#
# PackRef         ctxpack.support@5.2.0                      exactly one version
# AgentUrn        agent:contextos/support-refund@1.2.0
# Sha256          sha256: and 64 hex digits
# EvidenceRef     kg:order:ord_881#snapshot_7                a row of a knowledge graph, at a snapshot
#                 `policy:POLICY_RETURNS_V1#R_HIGH_VALUE      a rule of a bundle`
#                 tool:adp_orders.lookup:tool_117            the result of a call
#                 session:sess_42f1                          a conversation
#                 `attachment:art_invoice_881#sha256:2f9c…    a file, by its content`
#                 context:artifact/revision/assertion        a pinned artifact of a context slot
#
# A hash may be *elided* as documents print it (`sha256:9f0b...`): it parses, and equals nothing.


_NUMBER: Final = r"(?:0|[1-9][0-9]*)"
SEMVER: Final = rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"

ApprovalMode: TypeAlias = Literal["read_only", "local_write", "network", "delegated", "destructive"]
MODES: Final[tuple[ApprovalMode, ...]] = (
    "read_only",
    "local_write",
    "network",
    "delegated",
    "destructive",
)
"""From harmless to harmful."""

Id: TypeAlias = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\s\x00-\x1f]+$")]
"""A name that is written in references: no white space."""
StepId: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=180, pattern=r"^[^\s:\x00-\x1f]+$")
]
"""A step of a plan: it names the call in evidence, with the number of the plan behind it."""
Words: TypeAlias = Annotated[str, Field(max_length=20_000)]
"""What people read."""
PackRef: TypeAlias = Annotated[str, Field(max_length=300, pattern=rf"^[A-Za-z0-9_.:-]+@{SEMVER}$")]
Semver: TypeAlias = Annotated[str, Field(max_length=60, pattern=rf"^{SEMVER}$")]
AgentUrn: TypeAlias = Annotated[
    str,
    Field(max_length=300, pattern=rf"^agent:[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9._-]*@{SEMVER}$"),
]
_SEGMENT: Final = (
    r"(?:[A-Za-z0-9_-][A-Za-z0-9._-]*|\.[A-Za-z0-9_-][A-Za-z0-9._-]*|\.\.[A-Za-z0-9._-]+)"
)
WorkloadIdentity: TypeAlias = Annotated[
    str, Field(max_length=2048, pattern=rf"^spiffe://[a-z0-9._-]{{1,255}}(?:/{_SEGMENT})+$")
]
"""A SPIFFE id; no segment is `.` or `..`."""
Sha256: TypeAlias = Annotated[
    str, Field(max_length=80, pattern=r"^sha256:(?:[0-9a-f]{64}|[0-9a-f]{0,63}\.\.\.)$")
]
BareSha256: TypeAlias = Annotated[
    str, Field(max_length=80, pattern=r"^(?:[0-9a-f]{64}|[0-9a-f]{0,63}\.\.\.)$")
]
"""As attachments write it, without a prefix."""


def _require_some_digit(text: str) -> str:
    if not text.strip("0"):
        raise ValueError("an id of zeros alone stands for none")
    return text


TraceId: TypeAlias = Annotated[
    str, Field(pattern=r"^[0-9a-f]{32}$"), AfterValidator(_require_some_digit)
]
"""As W3C Trace Context has it."""
SpanId: TypeAlias = Annotated[
    str, Field(pattern=r"^[0-9a-f]{16}$"), AfterValidator(_require_some_digit)
]
TraceFlags: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{2}$", max_length=2)]
CapabilityId: TypeAlias = Annotated[
    str, Field(max_length=200, pattern=r"^[A-Za-z0-9_-]+\.[A-Za-z0-9_.:/-]+$")
]
"""`adapter.capability`."""
EvidenceRef: TypeAlias = Annotated[
    str,
    Field(
        max_length=1000,
        pattern=(
            r"^(?:kg:[^\s:#]+:[^\s#]+#[^\s#]+"
            r"|policy:[^\s:#]+#[^\s#]+"
            r"|tool:[A-Za-z0-9_-]+\.[^\s]+:[^\s:]+"
            r"|session:[^\s]+"
            r"|attachment:[^\s#]+#sha256:[0-9a-f]{64}"
            r"|context:[^\s]+)$"
        ),
    ),
]


def rank(mode: ApprovalMode) -> int:
    """How risky a mode is, from 0."""
    return MODES.index(mode)


def at_most(mode: ApprovalMode, highest: ApprovalMode) -> bool:
    return rank(mode) <= rank(highest)


def is_elided(text: str) -> bool:
    """Whether a hash is printed with dots in place of digits."""
    return text.endswith("...")


# ----------------------------------------------------------------------------
# Canonical JSON (RFC 8785) and hashes over it.
#
#     `hash_of({"b": 1, "a": 2})  ==  hash_of({"a": 2, "b": 1})  ==  "sha256:d3626ac3…"`
#
# Members are sorted by UTF-16 code units and numbers are written as ECMAScript writes them, so that an
# auditor in any language computes the same hash.  An integer that a double does not hold is refused;
# what comes from outside of the contracts (a result, the inputs of a flow) is recorded with
# `spell_integers`, which writes such an integer as a text.


PREFIX: Final = "sha256:"
_MOST_EXACT: Final = 2**53 - 1
_BEYOND_BMP: Final = re.compile("[\U00010000-\U0010ffff]")
"""Letters that UTF-16 sorts before some that a smaller code point has."""
_PLAIN: Final = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
)


def canonical_json(value: Any) -> bytes:
    """The one text of a JSON value, UTF-8.

    Raises: `ValueRefused` for what JSON cannot hold exactly: NaN, an integer beyond 2**53, a lone
    surrogate.
    """
    try:
        return _write(value)
    except rfc8785.IntegerDomainError:
        problem = "it holds an integer beyond 2**53"
    except rfc8785.FloatDomainError:
        problem = "it holds a number that JSON does not have"
    except UnicodeError:
        problem = "it holds a lone surrogate"
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        problem = type(error).__name__
    raise ValueRefused(
        f"a value has no canonical JSON: {problem}",
        hint="write numbers beyond 2**53 as texts; leave out NaN and lone surrogates",
    )


def find_inexact(value: Any, pointer: str = "") -> str | None:
    """The place of an integer that a double does not hold (`/args/id`); None: there is none."""
    if type(value) is int:
        return None if abs(value) <= _MOST_EXACT else pointer or "/"
    members: Any = ()
    if isinstance(value, (dict, Mapping)):
        members = value.items()
    elif isinstance(value, (list, tuple)):
        members = enumerate(value)
    found = (find_inexact(one, f"{pointer}/{name}") for name, one in members)
    return next((one for one in found if one is not None), None)


def spell_integers(value: Any) -> Any:
    """A JSON value in which each integer that a double does not hold is a text of its digits."""
    if type(value) is int:
        return value if abs(value) <= _MOST_EXACT else str(value)
    if isinstance(value, (dict, Mapping)):
        return {name: spell_integers(one) for name, one in value.items()}
    return [spell_integers(one) for one in value] if isinstance(value, (list, tuple)) else value


class _NotPlain(ValueError):
    """The value holds what only the library writes as the standard asks."""


def _write(value: Any) -> bytes:
    """What the library writes, faster: it is asked only for what `_write_plain` cannot write.

    A record holds thousands of texts and a few fractions, and is hashed in the transaction that it ends.
    """
    plain = _write_plain(value)
    if plain:
        return plain
    if isinstance(value, list) and value:
        return b"[%b]" % b",".join(map(_write, value))
    if isinstance(value, dict) and value and all(type(name) is str for name in value):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return b"{%b}" % b",".join(b"%b:%b" % (_write(one), _write(value[one])) for one in names)
    return rfc8785.dumps(value)


def _write_plain(value: Any) -> bytes:
    """The text by the standard library; empty where RFC 8785 could ask for another.

    The two agree unless the value holds a fraction, an integer that is not exact, a letter beyond the
    basic plane or something that is no JSON: the text is read again to know.
    """
    try:
        text = _PLAIN.encode(value)
        if (not text.isascii() and _BEYOND_BMP.search(text)) or _READER.decode(text) != value:
            return b""
    except (TypeError, ValueError):
        return b""
    return text.encode()


def _refuse_fraction(_digits: str) -> NoReturn:
    raise _NotPlain


def _read_exact(digits: str) -> int:
    number = int(digits)
    if abs(number) > _MOST_EXACT:
        raise _NotPlain
    return number


_READER: Final = json.JSONDecoder(parse_float=_refuse_fraction, parse_int=_read_exact)


def hash_of(value: Any) -> str:
    """`sha256:` and 64 hex digits over the canonical JSON."""
    return PREFIX + hashlib.sha256(canonical_json(value)).hexdigest()


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
