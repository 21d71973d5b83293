"""What an MCP server gave for a call, as the outputs of a node.

one output                 the structured result, else the text; a text that is wanted as another
                           type is read as JSON; of an object that cannot be the type as a whole, the
                           member with the name of the output
several outputs            the members of the structured result, else of the text read as JSON
{"isError": True, …}       the text says what went wrong
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.flow.casting import CastError
from cinatra_sdk.flow.results import cast_result
from cinatra_sdk.values.ports import TypedPort
from cinatra_sdk.values.strict_json import NotStrictJson, read_json
from cinatra_sdk.values.types import ANY, STRING

_MOST_NAMED: Final = 5
"""Members of a result that an error lists."""


class ResultUnusable(ValueError):
    """A result that does not give the declared outputs; says why."""


def read_text(result: Mapping[str, Any]) -> str:
    """The texts of a result; anything else is named by its kind."""
    blocks = result.get("content")
    return "\n".join(map(_describe_block, blocks if isinstance(blocks, list) else ()))


def read_outputs(ports: Sequence[TypedPort], result: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Raises: `ResultUnusable`."""
    if not ports:
        return {}
    structured = result.get("structuredContent")
    if len(ports) == 1:
        return {ports[0].title: _read_single(ports[0], structured, read_text(result))}
    given = structured if structured is not None else _read_json(read_text(result))
    if isinstance(given, dict) and set(given) == {"result"} and isinstance(given["result"], dict):
        given = given["result"]
    if not isinstance(given, dict):
        raise ResultUnusable("it gave no JSON object with the outputs")
    return {port.title: _read_member(port, given) for port in ports}


def _read_single(port: TypedPort, structured: Any, text: str) -> JsonValue:
    if structured is None:
        if port.type in {STRING, ANY}:
            return text
        return _cast(port, _read_json(text))
    if isinstance(structured, dict) and len(structured) == 1:
        # Servers put a result that is no object under this name.
        for name in (port.title, "result"):
            if name in structured:
                return _cast(port, structured[name])
    return _cast_whole(port, structured)


def _cast_whole(port: TypedPort, structured: Any) -> JsonValue:
    """A result, or its member with the output's name where the whole cannot be of the type."""
    try:
        return _cast(port, structured)
    except ResultUnusable as error:
        if not isinstance(structured, dict):
            raise
        if port.title in structured:
            return _cast(port, structured[port.title])
        members = ", ".join(f"'{name[:80]}'" for name in islice(structured, _MOST_NAMED))
        raise ResultUnusable(
            f"{error}; to take one of its members, name the output after it: {members or 'none'}"
        ) from None


def _read_member(port: TypedPort, given: Mapping[str, Any]) -> JsonValue:
    if port.title in given:
        return _cast(port, given[port.title])
    if port.default is not None:
        return port.default.value()
    raise ResultUnusable(f"it did not give the output '{port.title}'")


def _cast(port: TypedPort, value: Any) -> JsonValue:
    try:
        found: JsonValue = cast_result(port, value)
    except CastError as error:
        raise ResultUnusable(f"output '{port.title}': {error}") from None
    return found


def _read_json(text: str) -> JsonValue:
    try:
        return read_json(text)
    except NotStrictJson:
        return text


def _describe_block(block: Any) -> str:
    if not isinstance(block, dict):
        return ""
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text") or "")
    if kind == "resource" and isinstance(block.get("resource"), dict):
        inside = block["resource"]
        return str(inside.get("text") or f"[resource {inside.get('uri', '')}]")
    if kind == "resource_link":
        return f"[resource {block.get('uri', '')}]"
    return f"[{kind} {block.get('mimeType', '')}]".replace(" ]", "]")
