"""Opaque responses, whose text is never stored: for origins that get credentials and may return them.

A secret that comes back encoded, encrypted or in pieces cannot be found and cut out.  So a host may
declare the responses of an origin opaque:

    HttpPlatform(url, allow=["https://crm.example.com"], opaque={"https://crm.example.com": "plain"})

    "status"   only the status of a response is stored: outputs take their defaults
    "plain"    declared outputs that cannot hold a text: booleans, null, numbers, and the words that
               the output's own schema lists (`enum`, `const`); a response with any other is refused

At both levels an error keeps its status but neither its text nor its code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.outside.http_calls.call_addresses import (
    AllowEntry,
    Target,
    parse_entry,
    shown,
)
from cinatra_sdk.outside.http_calls.protocol import DeclaredOutput

Opaque: TypeAlias = Literal["status", "plain"]
Marked: TypeAlias = tuple[tuple[AllowEntry, Opaque], ...]
_LEVELS: Final[tuple[Opaque, ...]] = ("status", "plain")
_MOST: Final = 2**53
"""Largest number that is kept; a larger number could encode text."""


def read_opaque(given: Sequence[str] | Mapping[str, Opaque]) -> Marked:
    """Origin → its level; for a list of origins the level is "status".

    Raises: `ValueError`, which names the wrong entry.
    """
    named: Mapping[str, Opaque] = (
        given if isinstance(given, Mapping) else dict.fromkeys(given, "status")
    )
    return tuple(
        (parse_entry("opaque entry", text), _check_opaque_level(text, level))
        for text, level in named.items()
    )


def listed_opaque(text: str) -> dict[str, Opaque]:
    """The origins in a list such as `OASFLOW_OPAQUE`, separated by blanks, each with its level.

        "https://crm.example plain:https://erp.example"
            ->  {"https://crm.example": "status", "https://erp.example": "plain"}

    An entry without a level means "status".  Addresses are not parsed here: see `read_opaque`.
    """
    found: dict[str, Opaque] = {}
    for entry in text.split():
        level = next((level for level in _LEVELS if entry.startswith(f"{level}:")), None)
        address = entry if level is None else entry.removeprefix(f"{level}:")
        found = stricter(found, {address: level or "status"})
    return found


def stricter(one: Mapping[str, Opaque], other: Mapping[str, Opaque]) -> dict[str, Opaque]:
    """The origins of both; an origin in both has the stricter level."""
    both = {**one, **other}
    return {
        address: "status" if "status" in (one.get(address), other.get(address)) else level
        for address, level in both.items()
    }


def level_of(marked: Marked, target: Target) -> Opaque | None:
    """The strictest level of the entries that cover `target`; `None` where no entry covers it."""
    levels = {level for entry, level in marked if entry.covers(target)}
    return next((level for level in _LEVELS if level in levels), None)


def kept_of(value: JsonValue, outputs: Sequence[DeclaredOutput]) -> dict[str, JsonValue] | str:
    """The declared outputs of a "plain" response, or the title of an output that could hold a
    text.
    """
    if not isinstance(value, dict):
        return outputs[0].title if outputs else {}
    kept = {one.title: value[one.title] for one in outputs if one.title in value}
    schemas = {one.title: one.schema for one in outputs}
    return next((key for key, held in kept.items() if not _is_plain(held, schemas[key])), kept)


def _is_plain(value: JsonValue, schema: Mapping[str, JsonValue]) -> bool:
    if isinstance(value, str):
        listed = schema.get("enum")
        return value == schema.get("const") or (isinstance(listed, list) and value in listed)
    if isinstance(value, (list, dict)):
        return False
    return value is None or isinstance(value, bool) or abs(value) <= _MOST


def _check_opaque_level(text: str, level: Opaque) -> Opaque:
    if level in _LEVELS:
        return level
    raise ValueError(f"opaque entry {shown(text)!r}: {level!r} is none of {', '.join(_LEVELS)}")
