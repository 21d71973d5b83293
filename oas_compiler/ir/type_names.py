"""Types as people write them, for messages and for the printed IR.

shown(array of strings)     ->  "array<string>"
brief(a very long type)     ->  its first 200 characters
"""

from __future__ import annotations

from typing import Final

from oas_compiler.ir import ANY, ArrayType, ScalarType, Type, UnionType

_BRIEF: Final = 200
"""Characters of a type in a message."""


def shown(kind: Type, *, exact: bool = False) -> str:
    """A type as people write it: `array<string>`, `object{id: string}`, `integer | null`.

    `exact` adds the rule of an object for undeclared members: `object{id: string, …: integer}`, and
    `object{id: string, nothing else}` where it has no others.
    """
    if isinstance(kind, ScalarType):
        return kind.kind
    if isinstance(kind, ArrayType):
        return f"array<{shown(kind.items, exact=exact)}>"
    if isinstance(kind, UnionType):
        return " | ".join(shown(option, exact=exact) for option in kind.options) or "any"
    members = [f"{name}: {shown(member, exact=exact)}" for name, member in kind.properties]
    if exact and kind.additional is None:
        members.append("nothing else")
    elif exact and kind.additional != ANY and kind.additional is not None:
        members.append(f"…: {shown(kind.additional, exact=exact)}")
    return f"object{{{', '.join(members)}}}" if members else "object"


def brief(kind: Type) -> str:
    """A type for messages: the beginning of the text of `shown`."""
    text = shown(kind)
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}…"


def contrast(one: Type, other: Type) -> tuple[str, str]:
    """Two types for one message; with the details of `exact` where the types look the same."""
    if brief(one) != brief(other):
        return brief(one), brief(other)
    exact = shown(one, exact=True), shown(other, exact=True)
    return exact[0][:_BRIEF], exact[1][:_BRIEF]
