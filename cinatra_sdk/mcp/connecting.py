"""A client of an MCP server: with `processes.py`, the only module that names the package `mcp`.

    async with connect(server, lent, exchange) as client:
        await client.list_tools()

Each request has a connection of its own, so that any process can go on with a run.
"""

from __future__ import annotations

import logging
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.mcp.login import make_login
from cinatra_sdk.mcp.processes import run_program
from cinatra_sdk.mcp.server import McpServer
from cinatra_sdk.remote.exchange import Exchange
from cinatra_sdk.remote.http import bound_transport

_CONNECT_SECONDS: Final = 30.0
_QUIET: Final = logging.NullHandler()


@asynccontextmanager
async def connect(server: McpServer, lent: Any, exchange: Exchange) -> AsyncIterator[Any]:
    """A connected `mcp.Client`.

    lent: what the host lends in place of the server, anything that `mcp.Client` takes (a server of
    this process, an address); None: the server of the file.

    Raises: `NotConfigured`, and whatever the package raises.
    """
    try:
        from mcp import Client
    except ImportError:
        raise NotConfigured(
            "tools of MCP servers need the package mcp", hint="pip install 'oasflow[mcp]'"
        ) from None
    # Without a handler of the host's, Python would print the package's warnings and tracebacks.
    for name in ("mcp", "client"):
        logging.getLogger(name).addHandler(_QUIET)
    async with AsyncExitStack() as stack:
        target = await _open_transport(server, stack, exchange) if lent is None else lent
        client = Client(target, read_timeout_seconds=server.read_timeout)
        yield await stack.enter_async_context(client)


async def _open_transport(server: McpServer, stack: AsyncExitStack, exchange: Exchange) -> Any:
    if server.transport == "stdio":
        return _make_program(server, exchange)
    verify = _read_certificates(server)
    headers = {**server.headers, **server.sensitive_headers}
    login = None
    if server.login is not None:
        login = make_login(server.login, server.url, server.label, exchange.held.append)
    make = _make_factory(verify, exchange)
    if server.transport == "sse":
        from mcp.client.sse import sse_client

        return sse_client(
            server.url,
            headers=headers,
            timeout=_CONNECT_SECONDS,
            sse_read_timeout=server.read_timeout,
            httpx_client_factory=make,
            auth=login,
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
