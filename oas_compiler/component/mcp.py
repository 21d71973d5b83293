"""Tools and toolboxes of MCP servers: their fields, and the server as the IR has it.

{"component_type": "StreamableHTTPTransport", "url": "https://h.example/mcp", "sensitive_headers": {…}}
    ->  ir.McpTransport(transport="StreamableHTTPTransport", settings=…, sensitive=…)

Source: Agent Spec, MCPTool, MCPToolBox, MCPToolSpec and ClientTransport.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from cinatra_sdk.values.retry_policy import CallRetryPolicy
from oas_compiler import ir
from oas_compiler.component.component import Component
from oas_compiler.component.fields import COMPONENT_FIELDS, PORT_FIELDS, Field
from oas_compiler.component.requests import report_retry_policy
from oas_compiler.component.site import Site
from oas_compiler.ir import NOTHING_SEALED, Json, SealedJson

CONFIRMATION: Final = Field("flag", "Whether a person must confirm each call.")
_TRANSPORT: Final = Field("component", "The way to the server.", required=True)
_RETRY: Final = Field("any", "How a request that failed is repeated.")
_SESSION: Final = Field("object", "`read_timeout_seconds`: how long an answer may take.")
_REMOTE: Final[Mapping[str, Field]] = {
    **COMPONENT_FIELDS,
    "url": Field("text", "Address of the server.", required=True),
    "headers": Field("object", "Headers of each request."),
    "sensitive_headers": Field(
        "object", "Headers whose values are never shown or kept; best a placeholder of the host."
    ),
    "auth": Field("component", "How the client logs in by OAuth."),
    "retry_policy": _RETRY,
    "session_parameters": _SESSION,
}
_WITH_CERTIFICATES: Final[Mapping[str, Field]] = {
    **_REMOTE,
    "key_file": Field("text", "File of the client's private key."),
    "cert_file": Field("text", "File of the client's certificate."),
    "ca_file": Field("text", "File of the authorities that are trusted."),
}
_LOGIN: Final[Mapping[str, Field]] = {
    **COMPONENT_FIELDS,
    # Agent Spec's package writes its own notes there.
    "min_agentspec_version": Field("any", "A note of the package.", is_read=False),
    "max_agentspec_version": Field("any", "A note of the package.", is_read=False),
}
TRANSPORT_FIELDS: Final[Mapping[str, Mapping[str, Field]]] = {
    "StdioTransport": {
        **COMPONENT_FIELDS,
        "command": Field("text", "The program that is the server.", required=True),
        "args": Field("list", "Its arguments."),
        "env": Field("object", "Its variables; their values are never shown or kept."),
        "cwd": Field("text", "Its working folder."),
        "session_parameters": _SESSION,
    },
    "SSETransport": _REMOTE,
    "SSEmTLSTransport": _WITH_CERTIFICATES,
    "StreamableHTTPTransport": _REMOTE,
    "StreamableHTTPmTLSTransport": _WITH_CERTIFICATES,
}
MCP_FIELDS: Final[Mapping[str, Mapping[str, Field]]] = {
    "MCPTool": {
        **COMPONENT_FIELDS,
        **PORT_FIELDS,
        "name": Field("text", "The server's name of the tool.", required=True),
        "client_transport": _TRANSPORT,
        "requires_confirmation": CONFIRMATION,
        "retry_policy": _RETRY,
    },
    "MCPToolBox": {
        **COMPONENT_FIELDS,
        "client_transport": _TRANSPORT,
        "tool_filter": Field("list", "Names or MCPToolSpecs of the tools; left out, all of them."),
        "requires_confirmation": CONFIRMATION,
        "retry_policy": _RETRY,
    },
    "MCPToolSpec": {
        **COMPONENT_FIELDS,
        **PORT_FIELDS,
        "name": Field("text", "The server's name of the tool.", required=True),
        "requires_confirmation": CONFIRMATION,
    },
    "OAuthConfig": {
        **_LOGIN,
        "client": Field("component", "The client that the server knows.", required=True),
        "issuer": Field("text", "The address of the server that gives tokens."),
        "scopes": Field("any", "What the client asks for: a text or a list."),
        **{
            name: Field("any", words, is_read=False)
            for name, words in (
                ("endpoints", "Addresses that the issuer has; they are asked for there."),
                ("redirect_uri", "Where a browser comes back to; a run opens none."),
                ("scope_policy", "Which scopes are asked for."),
                ("pkce", "How a code of a browser is guarded."),
                ("resource", "What the token is for; the server itself."),
            )
        },
    },
    "OAuthClientConfig": {
        **_LOGIN,
        "type": Field("text", "`pre_registered`: a client with an id and a secret.", required=True),
        "client_id": Field("text", "The id of the client."),
        "client_secret": Field("text", "The secret of the client; best lent by the host."),
        "token_endpoint_auth_method": Field(
            "text", "`client_secret_basic` or `client_secret_post`."
        ),
        "client_id_metadata_url": Field("text", "What the client says of itself.", is_read=False),
        "registration_endpoint": Field("text", "Where a client registers.", is_read=False),
    },
    **TRANSPORT_FIELDS,
}
"""By component type."""
MCP_WORDS: Final[Mapping[str, str]] = {
    "MCPTool": "A tool of an MCP server.",
    "MCPToolBox": "The tools of an MCP server, for an agent.",
    "MCPToolSpec": "A tool of an MCP server as the file describes it.",
    "OAuthConfig": "A login by OAuth.",
    "OAuthClientConfig": "The client of a login by OAuth.",
    "StdioTransport": "A program of this machine that is an MCP server.",
    "SSETransport": "An MCP server behind an address, by the older protocol.",
    "SSEmTLSTransport": "The same, with certificates.",
    "StreamableHTTPTransport": "An MCP server behind an address.",
    "StreamableHTTPmTLSTransport": "The same, with certificates.",
}
_SENSITIVE: Final = ("sensitive_headers", "env")
_NOT_KEPT: Final = frozenset({*COMPONENT_FIELDS, *_SENSITIVE, "retry_policy", "auth"})


def read_server(tool: Component) -> ir.McpTransport:
    """The server of an MCPTool or an MCPToolBox, whose transport was opened with it."""
    fields = tool.mapping("client_transport")
    kind = fields.get("component_type")
    sensitive = {name: fields[name] for name in _SENSITIVE if fields.get(name)}
    return ir.McpTransport(
        transport=kind if isinstance(kind, str) else "",
        settings=Json.of(
            {
                **{name: fields[name] for name in ("id", "name") if fields.get(name)},
                **{name: value for name, value in fields.items() if name not in _NOT_KEPT},
            }
        ),
        sensitive=SealedJson(Json.of(sensitive).text),
        login=SealedJson(Json.of(fields["auth"]).text) if fields.get("auth") else NOTHING_SEALED,
    )


def read_mcp_retry(site: Site, tool: Component) -> CallRetryPolicy | None:
    """The policy of the tool, else that of its transport."""
    transport = replace(
        tool,
        type=read_server(tool).transport,
        pointer=tool.at("client_transport"),
        fields=tool.mapping("client_transport"),
    )
    return report_retry_policy(site, tool) or report_retry_policy(site, transport)
