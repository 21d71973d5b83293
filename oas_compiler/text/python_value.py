"""A Python mapping in, a plain and unshared JSON value out.

    {"inputs": ({"title": "a"},)}   ->  {"inputs": [{"title": "a"}]}
    {1: "x"}, {"when": datetime}    ->  OAS009 at the pointer

The mapping may be of any class, may contain itself, and may run code of its own when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NoReturn, TypeVar

from oas_compiler.findings.finding import Findings
from oas_compiler.ir import JsonValue, Place
from oas_compiler.text.bounds import MAX_DEPTH, MAX_VALUES
from oas_compiler.text.marks import child

T = TypeVar("T")


class _Refused(Exception):
    """Copying cannot go on; the finding has been recorded."""


def read_mapping(value: Mapping[str, object], findings: Findings) -> JsonValue:
    """Copy `value`; `None` when it is not JSON, with the findings that say why."""
    try:
        return _Copier(findings).copy(value, "", 1)
    except _Refused:
        return None


class _Copier:
    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._count = 0

    def copy(self, value: object, pointer: str, depth: int) -> JsonValue:
        """Recursive, but never deeper than `MAX_DEPTH` calls."""
        self._count += 1
        if self._count > MAX_VALUES:
            self._refuse_value(
                "OAS006", f"the document holds more than {MAX_VALUES:,} values", pointer
            )
        if value is None or isinstance(value, bool):
            return value
        # subclasses (enumerations, annotated strings) become the plain value they carry
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return int.__int__(value)
        if isinstance(value, float):
            return float.__float__(value)
        if depth > MAX_DEPTH:
            self._refuse_value(
                "OAS006",
                f"the document nests deeper than {MAX_DEPTH} levels, or contains itself",
                pointer,
            )
        if isinstance(value, Mapping):
            return self._mapping(value, pointer, depth)
        if isinstance(value, (list, tuple)):
            return [
                self.copy(item, f"{pointer}/{index}", depth + 1)
                for index, item in enumerate(self._list_items(value, pointer))
            ]
        return self._refuse_value(
            "OAS009", f"a Python {type(value).__name__} is not a JSON value", pointer
        )

    def _mapping(self, value: Mapping[object, object], pointer: str, depth: int) -> JsonValue:
        copied: dict[str, JsonValue] = {}
        for pair in self._list_items(_Items(value), pointer):
            key, member = pair
            if not isinstance(key, str):
                self._refuse_value(
                    "OAS009",
                    f"the key {type(key).__name__} {_format_key(key)} is not a string",
                    pointer,
                    hint="JSON object keys are strings",
                )
            name = str.__str__(key)
            copied[name] = self.copy(member, child(pointer, name), depth + 1)
        return copied

    def _list_items(self, source: Iterable[T], pointer: str) -> list[T]:
        try:
            return list(source)
        except Exception as error:  # noqa: BLE001 - the caller's class runs its own code here
            self._refuse_value(
                "OAS009", f"reading this value raised {type(error).__name__}", pointer
            )

    def _refuse_value(self, code: str, message: str, pointer: str, *, hint: str = "") -> NoReturn:
        self._findings.error(code, message, Place(pointer), hint=hint)
        raise _Refused


class _Items:
    """The pairs of a foreign mapping, read one by one so that its errors meet one `try`."""

    def __init__(self, mapping: Mapping[object, object]) -> None:
        self._mapping = mapping

    def __iter__(self) -> Iterator[tuple[object, object]]:
        for key in self._mapping:
            yield key, self._mapping[key]


def _format_key(key: object) -> str:
    """A number or None as written; nothing of an object whose `repr` is the caller's code."""
    return repr(key) if type(key) in {int, float, bool, type(None)} else ""
