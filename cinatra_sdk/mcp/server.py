"""An MCP server as a flow file names it.

    McpServer(name="files", transport="stdio", command="mcp-files", args=("--read-only",))
    McpServer(name="shop", transport="streamable_http", url="https://shop.example/mcp")

Source: Agent Spec, ClientTransport and its subtypes; read from the file by the compiler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal
from urllib.parse import urlsplit

from cinatra_sdk.governed.secret_forms import SHORTEST_SECRET
from cinatra_sdk.mcp.login import McpLogin
from cinatra_sdk.remote.words import (
    list_address_secrets,
    list_argument_secrets,
    list_header_secrets,
)
from cinatra_sdk.templates.environment import find_open, list_unfilled
from cinatra_sdk.values.retry_policy import CallRetryPolicy

Transport = Literal["stdio", "sse", "streamable_http"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class McpServer:
    """A server and the way to it; prints neither headers nor variables."""

    id: str = ""
    name: str = ""
    transport: Transport
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    sensitive_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with `headers`; never shown or kept."""
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables of the server's process, besides the few that every process needs."""
    cwd: str = ""
    key_file: str = ""
    cert_file: str = ""
    ca_file: str = ""
    read_timeout: float = 60.0
    """Seconds that an answer may take."""
    login: McpLogin | None = field(default=None, repr=False)
    """How a client logs in by OAuth; None: it does not."""
    retry: CallRetryPolicy = field(default_factory=CallRetryPolicy)

    def __post_init__(self) -> None:
        for name in ("headers", "sensitive_headers", "env"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def label(self) -> str:
        """What the server is called in effects and errors: its name, else its host or command."""
        return self.name or self.id or self.command or self.origin

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which a host may lend the server, the closest first."""
        return tuple(dict.fromkeys(one for one in (self.id, self.name) if one))

    @property
    def origin(self) -> str:
        """Scheme, host and port of the address."""
        if not self.url:
            return ""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()

    def list_unfilled(self) -> tuple[tuple[str, str], ...]:
        """Headers with a placeholder that has no value, each with the placeholder's name."""
        headers = find_open({**self.headers, **self.sensitive_headers})
        return list_unfilled(headers, headers)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be shown."""
        login = self.login.secrets if self.login is not None else ()
        told = {**self.headers, **self.sensitive_headers}
        held = (
            *list_header_secrets(told),
            *list_address_secrets(self.url),
            *list_argument_secrets(self.args),
            *self.sensitive_headers.values(),
            *self.env.values(),
            *login,
        )
        return tuple(one for one in held if len(one) >= SHORTEST_SECRET)
