"""A small MCP server for tests: `python -m tests.mcp.shop_server [stdio|streamable-http|sse] [port]`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context, MCPServer


def make_server(made: list[Any]) -> MCPServer:
    """made: takes (tool, arguments) of every call."""
    server = MCPServer("shop")

    @server.tool(description="Finds things.")
    def search(query: str, most: int = 3) -> list[str]:
        made.append(("search", query, most))
        return [f"{query} {number}" for number in range(most)]

    @server.tool(description="Sends a text.")
    def send(to: str, ctx: Context) -> str:
        key = (ctx.request_context.meta or {}).get("oasflow/idempotency-key")
        made.append(("send", to, key))
        return f"sent to {to}"

    @server.tool()
    def describe(name: str) -> dict[str, Any]:
        return {"name": name, "price": 7}

    @server.tool()
    def fail(why: str) -> str:
        raise ValueError(f"no {why}")

    @server.tool()
    def read_variable(name: str) -> str:
        return os.environ.get(name, "")

    return server


def main() -> None:
    made: list[Any] = []
    server = make_server(made)
    log = os.environ.get("SHOP_LOG")

    @server.tool()
    def note(text: str) -> str:
        if log:
            with Path(log).open("a", encoding="utf-8") as file:
                file.write(text + "\n")
        return "noted"

    transport = sys.argv[1] if len(sys.argv) > 1 else "stdio"
    if transport == "stdio":
        server.run("stdio")
    else:
        server.run(transport, host="127.0.0.1", port=int(sys.argv[2]))


if __name__ == "__main__":
    main()
