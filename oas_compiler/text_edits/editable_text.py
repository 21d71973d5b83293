"""The text of a file, ready for edits: as JSON where it begins with a bracket, else as YAML.

rewriting_of('{"id": "a"}')   ->   Rewriting
rewriting_of("id: a")         ->   YamlRewriting
value_of("id: a")             ->   {"id": "a"}
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from oas_compiler.findings.finding import Edit, Findings
from oas_compiler.ir import JsonValue
from oas_compiler.text.json_text import read_json
from oas_compiler.text_edits.json_edits import AnyRewriting, Rewriting, keys_of

YAML: Final = (".yaml", ".yml")


def rewriting_of(text: str) -> AnyRewriting:
    """Raises: `ValueError` or `IndexError` when the text is neither."""
    if _is_json(text):
        return Rewriting(text)
    from oas_compiler.text_edits.yaml_edits import YamlRewriting  # most flows are JSON

    return YamlRewriting(text)


def value_of(text: str) -> JsonValue:
    """What a text is read as.

    Raises: `ValueError` when it is neither JSON nor YAML.
    """
    if _is_json(text):
        decoded = read_json(text, Findings())
        if decoded is None:
            raise ValueError("no JSON")
        return decoded[0]
    from oas_compiler.text.yaml_text import read_yaml

    found = read_yaml(text, Findings())
    if found is None:
        raise ValueError("no YAML")
    return found.value


def _is_json(text: str) -> bool:
    return text.lstrip(" \t\r\n").startswith(("{", "["))


def is_yaml_file(file: str) -> bool:
    """Whether a file has the name of a YAML file."""
    return file.lower().endswith(YAML)


# ----------------------------------------------------------------------------
# Applies edits to a document's value; the changed text must decode to this value.
#
#     edited({"id": "a", "x": 1}, [Edit("/name", "b"), Edit("/x", None)])   ->   {"id": "a", "name": "b"}
#
# The twin of `Rewriting`, which makes the same edits in a text: both results must be equal.  All
# pointers refer to the original document, as in `Rewriting`.


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
