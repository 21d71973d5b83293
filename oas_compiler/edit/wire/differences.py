"""The fewest and smallest edits that turn one JSON document into another.

    {"nodes": [{"ref": "start"}, {"ref": "end"}]}
    {"nodes": [{"ref": "start"}, {"ref": "brand"}, {"ref": "end"}]}
        ->  Edit("/nodes/1/ref", "brand"), Edit("/nodes/-", {"ref": "end"})

Inserting an element into a list moves the later elements place by place, so that the text around
each place stays as the author wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.findings.finding import Edit
from oas_compiler.ir import Json, JsonValue
from oas_compiler.text.marks import child


def edits_between(before: JsonValue, after: JsonValue) -> tuple[Edit, ...]:
    """The edits of `before` after which it equals `after`; keys keep their order."""
    return tuple(_list_edits(before, after, ""))


def _list_edits(before: JsonValue, after: JsonValue, pointer: str) -> Iterator[Edit]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before:
            if key not in after:
                yield Edit(pointer=child(pointer, key), value=None)
        for key, value in after.items():
            if key in before:
                yield from _list_edits(before[key], value, child(pointer, key))
            else:
                yield Edit(pointer=child(pointer, key), value=Json.of(value))
    elif isinstance(before, list) and isinstance(after, list) and len(before) <= len(after):
        for index, value in enumerate(before):
            yield from _list_edits(value, after[index], f"{pointer}/{index}")
        for value in after[len(before) :]:
            yield Edit(pointer=f"{pointer}/-", value=Json.of(value))
    elif Json.of(before) != Json.of(after):  # not `!=`: 1 and true are equal in Python
        yield Edit(pointer=pointer, value=Json.of(after))
