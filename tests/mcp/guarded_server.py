"""An MCP server that wants a token, and the issuer of the tokens: `python -m tests.mcp.guarded_server PORT`.

The client `robot` with the secret `s3cret-of-robot` gets the token `t0ken-of-robot` for the scope `read`.
"""

from __future__ import annotations

import base64
import sys
from typing import Any
from urllib.parse import parse_qs

from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from starlette.requests import Request
from starlette.responses import JSONResponse

TOKEN = "t0ken-of-robot"


class Verifier:
    async def verify_token(self, token: str) -> AccessToken | None:
        if token != TOKEN:
            return None
        return AccessToken(token=token, client_id="robot", scopes=["read"], expires_at=None)


def is_robot(request: Request, form: dict[str, list[str]]) -> bool:
    basic = base64.b64encode(b"robot:s3cret-of-robot").decode()
    in_body = (form.get("client_id"), form.get("client_secret")) == (["robot"], ["s3cret-of-robot"])
    return in_body or request.headers.get("authorization") == f"Basic {basic}"


def main() -> None:
    number = int(sys.argv[1])
    here = f"http://127.0.0.1:{number}"
    about: Any = {
        "issuer_url": here,
        "resource_server_url": f"{here}/mcp",
        "required_scopes": ["read"],
    }
    server = MCPServer("guarded", token_verifier=Verifier(), auth=AuthSettings(**about))

    @server.tool()
    def search(query: str) -> str:
        return f"{query}, found"

    @server.custom_route("/.well-known/oauth-authorization-server", methods=["GET"])
    async def metadata(_request: Request) -> JSONResponse:
        return JSONResponse(
            {
                "issuer": here,
                "authorization_endpoint": f"{here}/authorize",
                "token_endpoint": f"{here}/token",
                "response_types_supported": ["code"],
                "grant_types_supported": ["client_credentials"],
            }
        )

    @server.custom_route("/token", methods=["POST"])
    async def token(request: Request) -> JSONResponse:
        form = parse_qs((await request.body()).decode())
        wanted = (form.get("grant_type"), form.get("scope"))
        if not is_robot(request, form) or wanted != (["client_credentials"], ["read"]):
            return JSONResponse({"error": "invalid_client"}, status_code=401)
        return JSONResponse({"access_token": TOKEN, "token_type": "Bearer", "expires_in": 60})

    server.run("streamable-http", host="127.0.0.1", port=number)


if __name__ == "__main__":
    main()
