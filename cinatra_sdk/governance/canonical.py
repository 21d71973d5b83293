"""Canonical JSON (RFC 8785) and hashes over it.

    hash_of({"b": 1, "a": 2})  ==  hash_of({"a": 2, "b": 1})  ==  "sha256:d3626ac3…"

Members are sorted by UTF-16 code units and numbers are written as ECMAScript writes them, so that an
auditor in any language computes the same hash.  An integer that a double does not hold is refused;
what comes from outside of the contracts (a result, the inputs of a flow) is recorded with
`spell_integers`, which writes such an integer as a text.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn

import rfc8785

from cinatra_sdk.errors import ValueRefused

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
