"""A client of an MCP server: the only module that names the package `mcp`.

    async with connect(server, lent) as client:
        await client.list_tools()

Each request has a connection of its own, so that any process can go on with a run.
"""

from __future__ import annotations

import logging
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.mcp.login import make_login, refuse_closed
from cinatra_sdk.mcp.server import McpServer

_CONNECT_SECONDS: Final = 30.0
_QUIET: Final = logging.NullHandler()


@asynccontextmanager
async def connect(
    server: McpServer, lent: Any, may_call: Callable[[str], bool]
) -> AsyncIterator[Any]:
    """A connected `mcp.Client`.

    lent: what the host lends in place of the server, anything that `mcp.Client` takes (a server of
    this process, an address); None: the server of the file.
    may_call: whether the operator opens an address, to which a login leads.

    Raises: `NotConfigured`, and whatever the package raises.
    """
    try:
        from mcp import Client
    except ImportError:
        raise NotConfigured(
            "tools of MCP servers need the package mcp", hint="pip install 'oasflow[mcp]'"
        ) from None
    # Without a handler of the host's, Python would print the package's tracebacks.
    logging.getLogger("mcp").addHandler(_QUIET)
    async with AsyncExitStack() as stack:
        target = await _open_transport(server, stack, may_call) if lent is None else lent
        client = Client(target, read_timeout_seconds=server.read_timeout)
        yield await stack.enter_async_context(client)


async def _open_transport(
    server: McpServer, stack: AsyncExitStack, may_call: Callable[[str], bool]
) -> Any:
    if server.transport == "stdio":
        return _run_command(server, stack)
    verify = _read_certificates(server)
    headers = {**server.headers, **server.sensitive_headers}
    login = None if server.login is None else make_login(server.login, server.url, server.label)
    make = _make_factory(verify, refuse_closed(may_call, server.label) if login else None)
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
    return streamable_http_client(server.url, http_client=http)


def _run_command(server: McpServer, stack: AsyncExitStack) -> Any:
    from mcp.client.stdio import StdioServerParameters, stdio_client

    parameters = StdioServerParameters(
        command=server.command,
        args=list(server.args),
        env=dict(server.env),
        cwd=server.cwd or None,
    )
    # What the process says besides may hold secrets, and belongs to no run.
    silent = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - the stack closes it; the null device is no path
    return stdio_client(parameters, errlog=silent)


def _make_factory(
    verify: ssl.SSLContext | bool, look: Callable[[Any], Awaitable[None]] | None
) -> Callable[..., Any]:
    """look: sees each request before it is sent; None: nobody does."""
    import httpx2

    hooks = {"request": [look]} if look is not None else {}

    def make(
        headers: Mapping[str, str] | None = None,
        timeout: Any = None,
        auth: Any = None,
        *,
        read: float | None = None,
    ) -> Any:
        usual = httpx2.Timeout(_CONNECT_SECONDS, read=read)
        return httpx2.AsyncClient(
            headers=dict(headers or {}),
            timeout=timeout or usual,
            auth=auth,
            verify=verify,
            event_hooks=hooks,
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
