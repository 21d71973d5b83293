"""The components that a document uses: everything that its root leads to.

root Flow -> nodes, edges, subflows, tools, agents, models, each once
a definition that no reference names      ->  not among them
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.document.scope import DEFINITIONS, Document, Located
from oas_compiler.document.survey import is_component
from oas_compiler.text.marks import child


def list_used(document: Document) -> Iterator[Located]:
    """Every component that the root uses, itself first, each once."""
    waiting = [document.root] if document.root is not None else []
    seen: set[str] = set()
    while waiting:
        found = document.locate(waiting.pop())
        if found is None or found.pointer in seen:
            continue
        seen.add(found.pointer)
        found = document.enter(found)
        if found.component_type:
            yield found
        waiting.extend(_list_members(found))


def _list_members(found: Located) -> Iterator[Located]:
    if isinstance(found.value, list):
        for index, element in enumerate(found.value):
            if isinstance(element, list) or is_component(element):
                yield Located(element, f"{found.pointer}/{index}", found.scope)
    elif isinstance(found.value, dict):
        for name, member in found.value.items():
            if name in {"metadata", DEFINITIONS}:
                continue
            if isinstance(member, list) or is_component(member):
                yield Located(member, child(found.pointer, name), found.scope)
