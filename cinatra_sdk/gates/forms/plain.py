"""What forms have in common whose answers fill in no field: a yes is enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import JsonValue

from cinatra_sdk.gates.decisions import UNSET, Unset


class WithoutFields:
    """Parts of an `AnswerForm`; see there."""

    __slots__ = ()
    text_output: ClassVar[bool] = False

    def example(self) -> JsonValue:
        return True

    @property
    def needs_data(self) -> bool:
        return False

    @property
    def needs_words(self) -> bool:
        return False

    @property
    def plain_yes(self) -> JsonValue | Unset:
        return UNSET

    @property
    def fields_schema(self) -> Mapping[str, JsonValue] | None:
        return None

    @property
    def text_field(self) -> str | None:
        return None

    def name_value(self, value: JsonValue) -> JsonValue:
        return value
