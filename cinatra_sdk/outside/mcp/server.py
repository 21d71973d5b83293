"""An MCP server as a flow file names it.

    McpServer(name="files", transport="stdio", command="mcp-files", args=("--read-only",))
    McpServer(name="shop", transport="streamable_http", url="https://shop.example/mcp")

Source: Agent Spec, ClientTransport and its subtypes; read from the file by the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from cinatra_sdk.data.author_json import NOTHING, NOTHING_SEALED, Json, SealedJson
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.data.sensitive_fields import lend_secrets, lend_text
from cinatra_sdk.data.templates.placeholders import fill_environment, find_open, list_unfilled
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.governed.secret_values import SHORTEST_SECRET
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.remote_answers.foreign_answer import (
    list_address_secrets,
    list_argument_secrets,
    list_header_secrets,
)

# ----------------------------------------------------------------------------
# How a client logs in at an MCP server by OAuth, without a browser.
#
#     a token that the host lends          ->  "Authorization: Bearer …"
#     a client with an id and a secret     ->  a token of the issuer (client credentials), for one connection
#     neither                              ->  `NotConfigured`, which names what to lend
#
# A token is in the request and nowhere else.  The secret goes to the issuer that the file names, and no
# request goes to an address that the operator does not open.


GiveToken = str | Callable[[], str]
"""A token, or the function that gives one for each connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpLogin:
    """What the file and the host say of the login; prints no secrets."""

    id: str
    """Of the login in the file; the host lends its token as `<id>.access_token`."""
    issuer: str = ""
    scopes: str = ""
    client_id: str = field(default="", repr=False)
    client_secret: str = field(default="", repr=False)
    sends_secret_in_body: bool = False
    """Whether the secret goes in the body of the request for a token, and not in its header."""
    access_token: GiveToken | None = field(default=None, repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be shown."""
        token = self.access_token if isinstance(self.access_token, str) else ""
        return tuple(one for one in (self.client_secret, token) if one)


def make_login(login: McpLogin, url: str, label: str, hold: Callable[[str], None]) -> Any:
    """What puts the token into each request: an `httpx2.Auth`.

    url, label: of the server.  hold: told each token, which must not be shown.
    Raises: `NotConfigured`.
    """
    token = login.access_token
    if token is not None:
        return _make_bearer(token if isinstance(token, str) else token(), hold)
    if login.client_id and login.client_secret and login.issuer:
        return _make_client(login, url, hold)
    raise NotConfigured(
        f"the MCP server '{label}' wants a login by OAuth, and a run opens no browser",
        hint=f"lend a token, or a function that gives one: HostParts(secrets={{'{login.id}.access_token': …}}); "
        "or give its client a client_id and a client_secret, and the login its issuer",
    )


def _make_bearer(token: str, hold: Callable[[str], None]) -> Any:
    import httpx2

    hold(token)

    class Bearer(httpx2.Auth):
        def auth_flow(self, request: Any) -> Any:
            request.headers["Authorization"] = f"Bearer {token}"
            yield request

    return Bearer()


def _make_client(login: McpLogin, url: str, hold: Callable[[str], None]) -> Any:
    from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider

    return ClientCredentialsOAuthProvider(
        server_url=url,
        storage=_NoStorage(hold),
        client_id=login.client_id,
        client_secret=login.client_secret,
        token_endpoint_auth_method="client_secret_post"
        if login.sends_secret_in_body
        else "client_secret_basic",
        scope=login.scopes or None,
        issuer=login.issuer,
    )


class _NoStorage:
    """Keeps nothing: a token lives as long as its connection."""

    def __init__(self, hold: Callable[[str], None]) -> None:
        self._hold = hold

    async def get_tokens(self) -> Any:
        return None

    async def set_tokens(self, tokens: Any) -> None:
        for token in (tokens.access_token, tokens.refresh_token):
            if token:
                self._hold(token)

    async def get_client_info(self) -> Any:
        return None

    async def set_client_info(self, client_info: Any) -> None:
        pass


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


# ----------------------------------------------------------------------------
# A ClientTransport as a flow file writes it, and the server that it leads to.
#
#     `McpWay(transport="StdioTransport", settings=Json.of({"command": "mcp-files"}))`
#         .find_server(None, env={}, secrets={})   ->   McpServer(transport="stdio", command="mcp-files")
#
# Placeholders and names of sensitive fields get their values here, when the host lends them.


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
