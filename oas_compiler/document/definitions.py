"""The flows of a document as it was parsed, and what references in them mean.

    for flow, definitions in iterate_flows(value):
        resolve(flow["start_node"], definitions)   ->  the StartNode, or null

For readers that work on plain values, before a `Document` checks and reports anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from cinatra_sdk.values.references import REFERENCE
from oas_compiler.document.scope import DEFINITIONS
from oas_compiler.ir import JsonValue

Definitions: TypeAlias = tuple[dict[str, JsonValue], ...]
"""The blocks of definitions that can be seen, the outermost first."""
_FLOWS: Final = frozenset({"Flow", "ExtendedFlow"})
_LONGEST_WAY: Final = 64
"""References that lead to one value, at most."""


def iterate_flows(
    value: JsonValue, around: Definitions = ()
) -> Iterator[tuple[dict[str, JsonValue], Definitions]]:
    """Every flow of the document, each with what it sees."""
    waiting: list[tuple[JsonValue, Definitions]] = [(value, around)]
    while waiting:
        one, seen = waiting.pop()
        if isinstance(one, list):
            waiting += [(part, seen) for part in one]
        if not isinstance(one, dict):
            continue
        block = one.get(DEFINITIONS)
        inside = (*seen, block) if isinstance(block, dict) else seen
        kind = one.get("component_type")
        if isinstance(kind, str) and kind in _FLOWS:
            yield one, inside
        waiting += [(part, inside) for part in one.values()]


def resolve(value: JsonValue, definitions: Definitions) -> JsonValue:
    """What a value means: itself, or what its reference leads to; null where that is nothing."""
    for _ in range(_LONGEST_WAY):
        if not isinstance(value, dict) or REFERENCE not in value:
            return value
        name = value[REFERENCE]
        found = [block[name] for block in definitions if isinstance(name, str) and name in block]
        if not found:
            return None
        value = found[-1]
    return None
