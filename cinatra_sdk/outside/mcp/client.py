"""A client of an MCP server: with `processes.py`, the only module that names the package `mcp`.

    async with connect(server, lent, exchange) as client:
        await client.list_tools()

Each request has a connection of its own, so that any process can go on with a run.
"""

from __future__ import annotations

import json
import logging
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.data.text.person_texts import find_hidden
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.outside.mcp.processes import run_program
from cinatra_sdk.outside.mcp.server import McpServer, make_login
from cinatra_sdk.outside.remote.foreign_answer import BrokenOff, plain_value
from cinatra_sdk.outside.remote.remote_bounds import RemoteBounds
from cinatra_sdk.outside.remote.transport import Exchange, bound_transport, hide_logs

_CONNECT_SECONDS: Final = 30.0
_QUIET: Final = logging.NullHandler()


@asynccontextmanager
async def connect(server: McpServer, lent: Any, exchange: Exchange) -> AsyncIterator[Any]:
    """A connected `mcp.Client`.

    lent: what the host lends in place of the server, anything that `mcp.Client` takes (a server of
    this process, an address); None: the server of the file.

    Raises: `NotConfigured`, and whatever the package raises.
    """
    make_client = _import_client()
    async with AsyncExitStack() as stack:
        if isinstance(lent, str):
            # As the package takes an address, but over the bounded transport.
            timeout = server.read_timeout
            server = McpServer(transport="streamable_http", url=lent, read_timeout=timeout)
        is_ours = lent is None or isinstance(lent, str)
        target = await _open_transport(server, stack, exchange) if is_ours else lent
        hide_logs()
        client = make_client(target, read_timeout_seconds=server.read_timeout)
        yield await stack.enter_async_context(client)


def _import_client() -> Any:
    """`mcp.Client`.  Raises: `NotConfigured`."""
    try:
        from mcp import Client
    except ImportError:
        raise NotConfigured(
            "tools of MCP servers need the package mcp", hint="pip install 'oasflow[mcp]'"
        ) from None
    # Without a handler of the host's, Python would print the package's warnings and tracebacks.
    for name in ("mcp", "client"):
        logging.getLogger(name).addHandler(_QUIET)
    return Client


async def _open_transport(server: McpServer, stack: AsyncExitStack, exchange: Exchange) -> Any:
    if server.transport == "stdio":
        return _make_program(server, exchange)
    verify = _read_certificates(server)
    headers = {**server.headers, **server.sensitive_headers}
    login = None
    if server.login is not None:
        login = make_login(server.login, server.url, server.label, exchange.held.append)
    make = _make_factory(verify, exchange)
    exchange.answers_in = "event" if server.transport == "sse" else "typed body"
    if server.transport == "sse":
        from mcp.client.sse import sse_client

        return sse_client(
            server.url, headers, _CONNECT_SECONDS, server.read_timeout, make, auth=login
        )
    from mcp.client.streamable_http import streamable_http_client

    http = await stack.enter_async_context(make(headers, None, login, read=server.read_timeout))
    return streamable_http_client(
        server.url, http_client=http, max_sse_event_size=exchange.bounds.answer_bytes
    )


def _make_program(server: McpServer, exchange: Exchange) -> Any:
    if sys.platform != "win32":
        return run_program(server, exchange)
    from mcp.client.stdio import StdioServerParameters

    return StdioServerParameters(
        command=server.command,
        args=list(server.args),
        env=dict(server.env),
        cwd=server.cwd or None,
    )


def _make_factory(verify: ssl.SSLContext | bool, exchange: Exchange) -> Callable[..., Any]:
    import httpx2

    def make(
        headers: Mapping[str, str] | None = None,
        timeout: Any = None,
        auth: Any = None,
        *,
        read: float | None = None,
    ) -> Any:
        usual = httpx2.Timeout(_CONNECT_SECONDS, read=read)
        inner = httpx2.AsyncHTTPTransport(verify=verify)
        return httpx2.AsyncClient(
            headers=dict(headers or {}),
            timeout=timeout or usual,
            auth=auth,
            transport=bound_transport(httpx2, inner, exchange),
        )

    return make


def _read_certificates(server: McpServer) -> ssl.SSLContext | bool:
    """Raises: `NotConfigured` for a file that cannot be read."""
    if not (server.cert_file or server.ca_file):
        return True
    try:
        context = ssl.create_default_context(cafile=server.ca_file or None)
        if server.cert_file:
            context.load_cert_chain(server.cert_file, server.key_file or None)
    except (OSError, ssl.SSLError) as error:
        raise NotConfigured(
            f"the certificates of the MCP server '{server.label}' cannot be read: "
            f"{type(error).__name__}",
            hint="see key_file, cert_file and ca_file of its transport",
        ) from None
    return context


# ----------------------------------------------------------------------------
# The list of a server's tools: of all its pages, each tool within bounds and in plain letters.


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
