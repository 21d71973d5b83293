"""A component with its fields, as the reader of a document opens it.

component.text("url")              ->  "https://…"   (its kind has been checked)
with_article("ApiNode")            ->  "an ApiNode"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from oas_compiler.ir import JsonValue

_VOWELS = ("A", "E", "I", "O", "Llm", "MCP", "MTls", "SSE")
"""How names of types begin that are spoken with a vowel."""


def with_article(component_type: str) -> str:
    """`an ApiNode`, `a FlowNode`: as the name is spoken."""
    return f"{'an' if component_type.startswith(_VOWELS) else 'a'} {component_type}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Component:
    """One component of the file; its fields have the kinds that `FIELDS` declares.

    A field of the wrong kind was reported and is absent here, so the accessors never fail.
    """

    type: str
    id: str
    name: str
    pointer: str
    """Where the component is defined; two references to one component share it."""
    fields: Mapping[str, JsonValue]
    """References are resolved in the field itself, not inside its value."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Pointer of a field's value where it stands behind a reference."""
    unread: frozenset[str] = frozenset()
    """Fields with an error: missing, misspelt, of the wrong kind, a reference to nothing."""

    def has(self, name: str) -> bool:
        """Whether the field is there and is not null."""
        return self.fields.get(name) is not None

    def at(self, name: str) -> str:
        """Pointer of a field."""
        return self.places.get(name, f"{self.pointer}/{name}")

    def text(self, name: str, default: str = "") -> str:
        value = self.fields.get(name)
        return value if isinstance(value, str) else default

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.fields.get(name)
        return value if isinstance(value, bool) else default

    def mapping(self, name: str) -> dict[str, JsonValue]:
        value = self.fields.get(name)
        return value if isinstance(value, dict) else {}

    def items(self, name: str) -> list[JsonValue] | None:
        """The list, or `None` when the field is absent or null."""
        value = self.fields.get(name)
        return value if isinstance(value, list) else None

    @property
    def cinatra(self) -> dict[str, JsonValue]:
        """`metadata.cinatra`; empty where there is none."""
        value = self.mapping("metadata").get("cinatra")
        return value if isinstance(value, dict) else {}
