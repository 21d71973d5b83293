"""JSON that an author wrote, frozen: a default, a request body, a JSON Schema.

    Json.of({"a": 1}).value()    ->   {"a": 1}, a fresh copy for each reader

No two readers can share and change one object.
"""

from __future__ import annotations

import json
from typing import Final, TypeAlias

from cinatra_sdk.light_imports.records import dataclass

JsonValue: TypeAlias = "None | bool | int | float | str | list[JsonValue] | dict[str, JsonValue]"


@dataclass(frozen=True, slots=True)
class Json:
    """One JSON value as canonical text (object keys keep the author's order)."""

    text: str

    @classmethod
    def of(cls, value: object) -> Json:
        """Freeze `value`; raises `ValueError` for NaN and infinities, which are not JSON."""
        return cls(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))

    def value(self) -> JsonValue:
        """A fresh, unshared copy of the value."""
        decoded: JsonValue = json.loads(self.text)
        return decoded

    def mapping(self) -> dict[str, JsonValue]:
        """The value where it is known to be an object; an empty dict otherwise."""
        decoded = self.value()
        return decoded if isinstance(decoded, dict) else {}


NOTHING = Json("{}")
"""The empty object, the default of every optional JSON piece."""

SEALED: Final = "[sensitive]"


@dataclass(frozen=True, slots=True, repr=False)
class SealedJson(Json):
    """An object whose members a run sends and nobody shows; `shown` has their names."""

    def shown(self) -> dict[str, JsonValue]:
        return dict.fromkeys(self.mapping(), SEALED)

    def __repr__(self) -> str:
        return f"SealedJson({self.shown()!r})"


NOTHING_SEALED = SealedJson("{}")
