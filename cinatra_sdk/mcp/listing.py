"""The list of a server's tools: of all its pages, each tool within bounds and in plain letters."""

from __future__ import annotations

import json
from typing import Any

from pydantic import JsonValue

from cinatra_sdk.remote.bounds import RemoteBounds
from cinatra_sdk.remote.messages import BrokenOff
from cinatra_sdk.remote.words import plain_value
from cinatra_sdk.text.people import find_hidden


async def read_list(client: Any, bounds: RemoteBounds) -> list[dict[str, JsonValue]]:
    """The tools, as MCP has them; client: an `mcp.Client`.

    Raises: `BrokenOff`, and whatever the package raises.
    """
    found: list[dict[str, JsonValue]] = []
    named: dict[str, JsonValue] = {}
    seen: set[str] = set()
    cursor: str | None = None
    for _ in range(bounds.pages):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            listed = tool.model_dump(mode="json", by_alias=True)
            require_bounded(listed, bounds)
            plain = plain_value(listed)
            if named.setdefault(plain["name"], plain) != plain:
                raise BrokenOff(f"it lists its tool '{plain['name'][:80]}' in two ways")
            found.append(plain)
        if len(found) > bounds.tools:
            raise BrokenOff(bounds.describe("tools", "it has more than {} tools"))
        cursor = page.next_cursor
        if not cursor:
            return found
        if cursor in seen:
            raise BrokenOff("its list of tools leads back to a page that was read")
        seen.add(cursor)
    raise BrokenOff(bounds.describe("pages", "its list of tools has more than {} pages"))


def require_bounded(tool: dict[str, Any], bounds: RemoteBounds) -> None:
    """Raises: `BrokenOff` for a tool that says too much, or whose name cannot be shown."""
    name, about = str(tool.get("name") or ""), str(tool.get("description") or "")
    if len(name) > bounds.name_letters:
        raise BrokenOff(
            bounds.describe("name_letters", "a tool of it has a name of more than {} letters")
        )
    if find_hidden(name) or name != name.strip() or not name:
        raise BrokenOff("a tool of it has no name, or one with letters that nobody sees")
    if len(about) > bounds.description_letters:
        words = f"more than {{}} letters describe its tool '{name[:80]}'"
        raise BrokenOff(bounds.describe("description_letters", words))
    schema = json.dumps(tool.get("inputSchema"), ensure_ascii=False, allow_nan=False)
    if len(schema.encode("utf-8", "replace")) > bounds.schema_bytes:
        words = f"more than {{}} bytes are the schema of its tool '{name[:80]}'"
        raise BrokenOff(bounds.describe("schema_bytes", words))
