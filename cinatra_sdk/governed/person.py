"""Who acts on a run: a person or a service, how that was proved, and by which way they came.

    ann = Person(id="ann", tenant="acme", proof="session", sub="248289", issuer="https://id.example")
    PersonRecord.of(ann, "inbox")      name "ann", sub "248289", …, channel "inbox": what rows keep
    PersonRecord.of("ann", "")         a name alone, as whoever calls says it

Only the program around us says who somebody is; nothing of it is ever taken from the body of a request.
Rows keep neither the address nor the groups of a person: both change, and neither is needed to know who it was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, Self, TypeAlias, get_args

from cinatra_sdk.data.text.person_texts import find_hidden, person_name, recorded_name
from cinatra_sdk.errors import AnswerInvalid, InputInvalid
from cinatra_sdk.governed.secret_values import find_secret
from cinatra_sdk.light_imports.records import dataclass

Proof: TypeAlias = Literal["host", "terminal", "loopback", "session", "token", "header"]
"""How it is known who the person is: `host`: the program around us says so; `terminal`: the account of
the operating system, or `--as`; `loopback`: a link that was printed there; `session`: a login; `token`: a
bearer token; `header`: a proxy that we trust.
"""
PROOFS: Final[tuple[Proof, ...]] = get_args(Proof)
PersonKind: TypeAlias = Literal["person", "service"]
PERSON_KINDS: Final[tuple[PersonKind, ...]] = get_args(PersonKind)

MAX_SUB: Final = 300
"""Characters of an id that an issuer gives."""
MAX_ISSUER: Final = 1_000
"""Characters of the issuer's address."""
_CHANNEL: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who asks, and how that was proved; never taken from the body of a request.

    Raises: `AnswerInvalid` for an id that a gate would refuse as a name; `InputInvalid` for all else that
    is nobody's: no id, a tenant or a group that is no text, a proof that is none, a credential in place of
    an id.
    """

    id: str
    """The name that decisions and events keep, in the form in which they keep it."""
    tenant: str | None
    """Whose runs the person deals with; empty: those without a tenant; None: those of every tenant, for
    whoever has the database anyway.
    """
    groups: frozenset[str] = frozenset()
    """As whoever proved the person says it."""
    proof: Proof
    sub: str = ""
    """The id that the issuer gives the person, which never becomes another's; empty: there is none, and the
    name alone says who it is.
    """
    issuer: str = ""
    """Who gives that id, such as the address of an OpenID provider; a `sub` means nothing without it."""
    email: str = ""
    """For notices; no row keeps it, and nobody is known by it."""
    kind: PersonKind = "person"
    """A service acts by itself, as a program with a token of its own."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", person_name(self.id))
        if not self.id:
            raise InputInvalid("a person has no id", hint="give the name that decisions keep")
        self._check_tenant_and_groups()
        for name, known in (("proof", PROOFS), ("kind", PERSON_KINDS)):
            if getattr(self, name) not in known:
                raise InputInvalid(
                    f"the {name} of a person is none that is known",
                    hint=f"one of {', '.join(known)}",
                )
        for name, most in (("sub", MAX_SUB), ("issuer", MAX_ISSUER), ("email", MAX_SUB)):
            _check_id(name, getattr(self, name), most)
        if self.issuer and not self.sub:
            raise InputInvalid("a person has an issuer and no sub", hint="give both, or neither")

    def _check_tenant_and_groups(self) -> None:
        tenant, groups = (getattr(self, name) for name in ("tenant", "groups"))
        if tenant is not None and not isinstance(tenant, str):
            raise InputInvalid(
                f"the tenant of a person is a {type(tenant).__name__}, not a text",
                hint="None is every tenant",
            )
        if not isinstance(groups, (set, frozenset)) or not all(
            isinstance(group, str) for group in groups
        ):
            raise InputInvalid(
                "the groups of a person are no set of texts", hint='frozenset({"mail"})'
            )
        object.__setattr__(self, "groups", frozenset(groups))


def _check_id(name: str, given: object, most: int) -> None:
    if not isinstance(given, str):
        raise InputInvalid(f"the {name} of a person is a {type(given).__name__}, not a text")
    if len(given) > most or find_hidden(given) or given != given.strip():
        raise InputInvalid(
            f"the {name} of a person is not usable", hint=f"up to {most:,} printable characters"
        )
    if find_secret(given):
        raise InputInvalid(f"the {name} of a person is a credential", hint="give the id, no token")


def read_channel(channel: object) -> str:
    """The way by which somebody came, as it is kept; empty: not said.

    Raises: `AnswerInvalid` for what is no short word.
    """
    if channel == "":
        return ""
    if not isinstance(channel, str) or not _CHANNEL.fullmatch(channel):
        raise AnswerInvalid(
            "the channel is no word",
            hint="up to 40 small letters, digits and . _ -, such as inbox, slack, command-line",
        )
    return channel


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRecord:
    """Who did something, as its row keeps them; all but the name is empty where a name alone was given."""

    name: str = ""
    """Empty where nobody said."""
    sub: str = ""
    issuer: str = ""
    kind: Literal["", "person", "service"] = ""
    proof: str = ""
    channel: str = ""
    """By which way they came, such as `inbox` or `command-line`; empty where nobody said."""

    @classmethod
    def of(cls, by: str | Person, channel: str = "") -> Self:
        """Raises: `AnswerInvalid` for a name that a gate would refuse or a credential, and for what is no
        channel.
        """
        way = read_channel(channel)
        name = person_name(by.id if isinstance(by, Person) else by)
        if find_secret(name):
            raise AnswerInvalid("'by' holds a credential", hint="give a name")
        if not isinstance(by, Person):
            return cls(name=name, channel=way)
        return cls(
            name=name, sub=by.sub, issuer=by.issuer, kind=by.kind, proof=by.proof, channel=way
        )

    @classmethod
    def read(cls, row: Mapping[str, Any], prefix: str, name: str) -> Self:
        """The columns of a row, in a form for showing; name: the column of the name."""
        kept: dict[str, Any] = {part: row[f"{prefix}_{part}"] or "" for part in _PARTS}
        return cls(name=recorded_name(row[name] or ""), **kept)

    def list_columns(self, prefix: str) -> dict[str, str]:
        """All but the name, as columns of a row."""
        return {f"{prefix}_{part}": getattr(self, part) for part in _PARTS}

    def is_same_person(self, other: PersonRecord) -> bool:
        """Whether both are the same person: by what their issuers say, else by their names.

        A name alone is not the person of that name whom an issuer vouches for, nor is nobody anybody.
        """
        if self.sub or other.sub:
            return (self.sub, self.issuer) == (other.sub, other.issuer)
        return bool(self.name) and self.name == other.name


_PARTS: Final = ("sub", "issuer", "kind", "proof", "channel")
NOBODY: Final = PersonRecord()
