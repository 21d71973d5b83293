"""Applies edits to a document's value; the changed text must decode to this value.

    edited({"id": "a", "x": 1}, [Edit("/name", "b"), Edit("/x", None)])   ->   {"id": "a", "name": "b"}

The twin of `Rewriting`, which makes the same edits in a text: both results must be equal.  All
pointers refer to the original document, as in `Rewriting`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from oas_compiler.findings.finding import Edit
from oas_compiler.ir import JsonValue
from oas_compiler.rewriting.spans import keys_of

_Keys = tuple[str, ...]


def reads_back(before: JsonValue, after: JsonValue, edits: Iterable[Edit]) -> bool:
    """Whether a document has exactly the changes of its edits."""
    return _encode_for_comparison(edited(before, edits)) == _encode_for_comparison(after)


def edited(value: JsonValue, edits: Iterable[Edit]) -> JsonValue:
    """A copy with the edits made; they fit the document, and do not contradict each other."""
    below: dict[_Keys, dict[str, list[Edit]]] = {}
    for edit in edits:
        keys = keys_of(edit.pointer)
        if not keys:
            return edit.value.value() if edit.value is not None else None
        below.setdefault(keys[:-1], {}).setdefault(keys[-1], []).append(edit)
    touched = {keys[:n] for keys in below for n in range(len(keys) + 1)}

    def made(old: JsonValue, at: _Keys) -> JsonValue:
        if at not in touched:
            return old
        here = below.get(at, {})
        if isinstance(old, dict):
            return _edit_object(
                {key: made(member, (*at, key)) for key, member in old.items()}, here
            )
        if isinstance(old, list):
            return _edit_array([made(item, (*at, str(n))) for n, item in enumerate(old)], here)
        return old

    return made(value, ())


def _edit_object(
    members: dict[str, JsonValue], edits: dict[str, list[Edit]]
) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for key, member in members.items():
        edit = edits[key][0] if key in edits else None
        if edit is None:
            found[key] = member
        elif edit.key:
            found[edit.key] = member
        elif edit.value is not None:
            found[key] = edit.value.value()
    for key, (edit, *_) in edits.items():
        if key not in members and edit.value is not None:
            found[key] = edit.value.value()
    return found


def _edit_array(items: list[JsonValue], edits: dict[str, list[Edit]]) -> list[JsonValue]:
    found: list[JsonValue] = []
    for index, item in enumerate(items):
        edit = edits[str(index)][0] if str(index) in edits else None
        if edit is None:
            found.append(item)
        elif edit.value is not None:
            found.append(edit.value.value())
    added = [
        edit.value
        for key, several in edits.items()
        if key == "-" or int(key) >= len(items)
        for edit in several
        if edit.value is not None
    ]
    return found + [value.value() for value in dict.fromkeys(added)]


def _encode_for_comparison(value: JsonValue) -> str:
    """By text, because to Python `True` is 1 and 1 is 1.0."""
    return json.dumps(value, sort_keys=True)
