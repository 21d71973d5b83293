"""References inside one schema: `#/$defs/Name` in, the definition out.

    definition({"$defs": {"Id": {"type": "string"}}}, "#/$defs/Id")   ->   {"type": "string"}
    definition({…}, "#/$defs/Od")                                     ->   None

Nothing outside the schema is ever looked at.
"""

from __future__ import annotations

from urllib.parse import unquote

from oas_compiler.ir import JsonValue


def is_local(reference: str) -> bool:
    return reference.startswith("#")


def definition(root: JsonValue, reference: str) -> JsonValue:
    """The definition of a local reference; `None` where there is none."""
    fragment = unquote(reference.removeprefix("#"))
    if fragment and not fragment.startswith("/"):
        return _find_anchored_schema(root, fragment)
    current = root
    for part in fragment.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(current, dict) and key in current:
            current = current[key]
        elif isinstance(current, list) and key.isdecimal() and len(key) < 8:
            index = int(key)
            if index >= len(current):
                return None
            current = current[index]
        else:
            return None
    return current


def definition_names(root: JsonValue) -> list[str]:
    """The references that would lead somewhere, for a hint."""
    if not isinstance(root, dict):
        return []
    return [
        f"#/{key}/{name}"
        for key in ("$defs", "definitions")
        if isinstance(block := root.get(key), dict)
        for name in block
    ]


def _find_anchored_schema(root: JsonValue, anchor: str) -> JsonValue:
    """The definition that is marked `"$anchor": …`."""
    block = root.get("$defs") if isinstance(root, dict) else None
    for value in block.values() if isinstance(block, dict) else ():
        if isinstance(value, dict) and value.get("$anchor") == anchor:
            return value
    return None
