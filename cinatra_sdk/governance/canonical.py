"""Canonical JSON (RFC 8785) and hashes over it.

    hash_of({"b": 1, "a": 2})  ==  hash_of({"a": 2, "b": 1})  ==  "sha256:d3626ac3…"

Members are sorted by UTF-16 code units and numbers are written as ECMAScript writes them, so that an
auditor in any language computes the same hash.  An integer that a double does not hold is refused.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import rfc8785

from cinatra_sdk.errors import ValueRefused

PREFIX: Final = "sha256:"


def canonical_json(value: Any) -> bytes:
    """The one text of a JSON value, UTF-8.

    Raises: `ValueRefused` for what JSON cannot hold exactly: NaN, an integer beyond 2**53, a lone
    surrogate.
    """
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeError, RecursionError) as error:
        problem = type(error).__name__
    raise ValueRefused(
        f"a value has no canonical JSON: {problem}",
        hint="write numbers beyond 2**53 as texts; leave out NaN and lone surrogates",
    )


def hash_of(value: Any) -> str:
    """`sha256:` and 64 hex digits over the canonical JSON."""
    return PREFIX + hashlib.sha256(canonical_json(value)).hexdigest()
