r"""How long the texts may be that people, programs and files give to be kept, and what no database takes.

    find_fault("x" * 300, "name of an artifact")   ->  "has more than 200 characters"
    find_fault("a\\0", "type of an object")          ->  "holds U+0000, which no database takes"
    find_fault("ann", "owner of an artifact")      ->  ""

`BOUNDS` is the table of docs/python-api.md; each door refuses with an error of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from cinatra_sdk.text.people import UNKEEPABLE

BOUNDS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "name of the flow": 1_000,
        "id of an artifact": 200,
        "organisation of an artifact": 200,
        "owner of an artifact": 200,
        "level of an owner": 40,
        "visibility of an artifact": 300,
        "kind of an artifact": 300,
        "name of an artifact": 1_000,
        "text of an artifact": 10_000_000,
        "extension of a classification": 300,
        "author of a classification": 40,
        "eligibility of a classification": 40,
        "media type": 200,
        "id of an object": 200,
        "type of an object": 300,
        "key of an object": 2_000,
        "tenant": 200,
        "run": 200,
        "title of a file": 1_000,
        "name of a file": 1_000,
        "author of a file": 200,
        "id of a file": 200,
    }
)
"""Characters of each."""


def find_fault(text: object, what: str) -> str:
    """What is wrong, after the name of the text; empty where nothing is.  what: one of `BOUNDS`."""
    most = BOUNDS[what]
    if not isinstance(text, str):
        return (
            "is missing" if text is None else f"is of the type {type(text).__name__}, and no text"
        )
    if len(text) > most:
        return f"has more than {most:,} characters"
    found = UNKEEPABLE.search(text)
    return f"holds U+{ord(found[0]):04X}, which no database takes" if found else ""


def describe_fault(texts: Mapping[str, object], *, may_lack: frozenset[str] = frozenset()) -> str:
    """A sentence about the first text that does not fit; empty where all do.

    may_lack: those that may be None.
    """
    for what, text in texts.items():
        fault = "" if text is None and what in may_lack else find_fault(text, what)
        if fault:
            return f"the {what} {fault}"
    return ""
