"""JSON that every reader reads alike and that has one text, with Python's standard library alone.

    hash_of({"b": 1, "a": 2.50})  ->  "sha256:…" over {"a":2.5,"b":1}       read_line('{"a": 1, "a": 2}')  raises

`verifier.py` runs with this file beside it and without the package, so this file imports nothing of the
package.  Runs use `governance/contracts/record_format.py`; a test compares the two.
"""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from typing import Any, NoReturn


def write_canonical(value: Any) -> str:
    """Canonical JSON: members by UTF-16 code units, numbers as ECMAScript writes them."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        members = (f"{quote_text(name)}:{write_canonical(value[name])}" for name in names)
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(write_canonical(one) for one in value) + "]"
    if isinstance(value, float):
        return write_number(value)
    return quote_text(value)


def quote_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def write_number(value: float) -> str:
    """The shortest text of a double that ECMAScript's Number.toString gives."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    _, figures, power = Decimal(repr(abs(value))).normalize().as_tuple()
    digits, count = "".join(map(str, figures)), len(figures)
    point = count + int(power)  # digits before the point
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    return sign + digits[0] + (f".{digits[1:]}" if count > 1 else "") + f"e{point - 1:+d}"


def hash_of(value: Any) -> str:
    return "sha256:" + hashlib.sha256(write_canonical(value).encode()).hexdigest()


class UnreadLine(ValueError):
    """Why a line is no JSON object that every reader reads alike."""


def read_line(line: str) -> dict[str, Any]:
    """Raises: `UnreadLine`."""
    for letter, why in (("\ufeff", "begins with a byte order mark"), ("\r", "ends with CRLF")):
        if letter in (line[:1], line[-1:]):
            raise UnreadLine(f"{why}: a program for texts has changed the file")
    try:
        found = READER.decode(line)
    except UnreadLine:
        raise
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UnreadLine("is no JSON object" if line.strip() else "is empty")
    return found


def read_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):  # a reader that takes the first would see another one
        raise UnreadLine("is no JSON object: a name stands twice in it")
    return found


def read_number(digits: str) -> float | int:
    is_whole = digits.lstrip("-").isdigit()
    if abs(float(digits)) == float("inf") or (is_whole and abs(float(digits)) >= 2**53):
        refuse_number(digits)
    return int(digits) if is_whole else float(digits)


def refuse_number(digits: str) -> NoReturn:
    raise UnreadLine(f"is no JSON object: {digits[:20]} is no number that JSON holds exactly")


READER = json.JSONDecoder(
    object_pairs_hook=read_members, parse_float=read_number, parse_int=read_number,
    parse_constant=refuse_number,
)  # fmt: skip
