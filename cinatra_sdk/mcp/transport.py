"""A ClientTransport as a flow file writes it, and the server that it leads to.

    McpWay(transport="StdioTransport", settings=Json.of({"command": "mcp-files"}))
        .find_server(None, env={}, secrets={})   ->   McpServer(transport="stdio", command="mcp-files")

Placeholders and names of sensitive fields get their values here, when the host lends them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cinatra_sdk.mcp.login import McpLogin
from cinatra_sdk.mcp.server import McpServer, Transport
from cinatra_sdk.templates.environment import fill_environment
from cinatra_sdk.values.json_text import NOTHING, NOTHING_SEALED, Json, SealedJson
from cinatra_sdk.values.retry_policy import CallRetryPolicy
from cinatra_sdk.values.sensitive import lend_secrets, lend_text

_TRANSPORTS: Final[Mapping[str, Transport]] = {
    "StdioTransport": "stdio",
    "SSETransport": "sse",
    "SSEmTLSTransport": "sse",
    "StreamableHTTPTransport": "streamable_http",
    "StreamableHTTPmTLSTransport": "streamable_http",
}
_USUAL_TIMEOUT: Final = 60.0
_TEXTS: Final = ("id", "name", "url", "command", "cwd", "key_file", "cert_file", "ca_file")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpWay:
    """The way to an MCP server, in the words of Agent Spec."""

    transport: str
    """Its component type."""
    settings: Json = NOTHING
    """Its fields, but for those with secrets."""
    sensitive: SealedJson = NOTHING_SEALED
    """Headers and variables that nobody shows."""
    login: SealedJson = NOTHING_SEALED
    """Its login by OAuth, with the fields of the client below `client`."""

    def find_server(
        self,
        retry: CallRetryPolicy | None,
        env: Mapping[str, str],
        secrets: Mapping[str, Any] | None,
    ) -> McpServer:
        """The server; what the file says wrongly was found when it was checked, and counts as absent.

        Raises: `NotConfigured` for a sensitive field without a value.
        """
        fields: Any = fill_environment(lend_secrets(self.settings.value(), secrets), env)
        sensitive: Any = fill_environment(lend_secrets(self.sensitive.value(), secrets), env)
        session = fields.get("session_parameters")
        timeout = session.get("read_timeout_seconds") if isinstance(session, dict) else None
        return McpServer(
            transport=_TRANSPORTS[self.transport],
            headers=_read_texts(fields.get("headers")),
            sensitive_headers=_read_texts(sensitive.get("sensitive_headers")),
            args=tuple(str(one) for one in fields.get("args") or ()),
            env=_read_texts(sensitive.get("env")),
            read_timeout=_read_seconds(timeout),
            login=_read_login(self.login.mapping(), env, secrets),
            retry=retry or CallRetryPolicy(),
            **{name: fields[name] for name in _TEXTS if isinstance(fields.get(name), str)},
        )


def _read_texts(value: Any) -> dict[str, str]:
    return {key: str(text) for key, text in value.items()} if isinstance(value, dict) else {}


def _read_seconds(value: Any) -> float:
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
    return float(value) if usable else _USUAL_TIMEOUT


def _read_login(
    fields: dict[str, Any], env: Mapping[str, str], secrets: Mapping[str, Any] | None
) -> McpLogin | None:
    if not fields:
        return None
    client, scopes, own = (
        fields.get("client") or {},
        fields.get("scopes"),
        str(fields.get("id", "")),
    )

    def read(value: object) -> str:
        found: Any = fill_environment(lend_text(value, secrets), env)
        return found if isinstance(found, str) else ""

    return McpLogin(
        id=own,
        issuer=read(fields.get("issuer")),
        scopes=" ".join(map(str, scopes)) if isinstance(scopes, list) else str(scopes or ""),
        client_id=read(client.get("client_id")),
        client_secret=read(client.get("client_secret")),
        sends_secret_in_body=client.get("token_endpoint_auth_method") == "client_secret_post",
        access_token=(secrets or {}).get(f"{own}.access_token"),
    )
