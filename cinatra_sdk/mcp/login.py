"""How a client logs in at an MCP server by OAuth, without a browser.

    a token that the host lends          ->  "Authorization: Bearer …"
    a client with an id and a secret     ->  a token of the issuer (client credentials), for one connection
    neither                              ->  `NotConfigured`, which names what to lend

A token is in the request and nowhere else.  The secret goes to the issuer that the file names, and no
request goes to an address that the operator does not open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cinatra_sdk.errors import NotConfigured

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
