"""Fields whose values are ways into a JSON value, in the part of jq's language that is read.

{"name": ".user.name"}       ->  (("name", ".user.name"),)
{"count": ".items | length"} ->  refused: the value "count" needs jq
"""

from __future__ import annotations

from collections.abc import Mapping

from cinatra_sdk.values.json_paths import parse_path
from oas_compiler.ir import JsonValue


def needs_jq(ways: JsonValue) -> str:
    """Why such a field is refused; empty: it is not, or it is no object."""
    for name, way in ways.items() if isinstance(ways, dict) else ():
        if isinstance(way, str) and parse_path(way) is None:
            return f'"{name[:80]}" needs jq, of which only paths are read: .name, .items[0]'
    return ""


def read_ways(ways: Mapping[str, JsonValue]) -> tuple[tuple[str, str], ...]:
    """(name, way) of those that can be read."""
    return tuple(
        (name, way)
        for name, way in ways.items()
        if isinstance(way, str) and parse_path(way) is not None
    )
