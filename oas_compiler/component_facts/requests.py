"""The fields of a component that describe one HTTP request: of an ApiNode, and of a RemoteTool.

{"url": "https://h.example/{{ id }}", "http_method": "get", "retry_policy": {"max_attempts": 5}, …}
    read_request(site, component)
        ->  {"url": "https://h.example/{{ id }}", "method": "GET", "retry": CallRetryPolicy(…), …}

What is wrong with a field is reported at its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from cinatra_sdk.data.retry_policy import CallRetryPolicy, read_retry_policy
from cinatra_sdk.data.templates.placeholders import ENVIRONMENT_PLACEHOLDER
from cinatra_sdk.data.text.message_words import did_you_mean
from oas_compiler import ir
from oas_compiler.component_facts.component import (
    COMPONENT_FIELDS,
    PORT_FIELDS,
    Component,
    Field,
    Site,
    is_used,
    label_of,
)
from oas_compiler.ir import NOTHING_SEALED, Json, SealedJson
from oas_compiler.text.marks import child

# ----------------------------------------------------------------------------
# Which entries a `url_allow_list` may have: the runtime's own reading.
#
# The SDK is loaded where the first entry is looked at: most flows have none.


def entry_flaw(text: str) -> str:
    """Why an entry covers nothing; an empty string where it can be read."""
    from cinatra_sdk.outside.http_calls.call_addresses import AllowEntry, RefusalError

    try:
        AllowEntry.parse(text)
    except RefusalError as refusal:
        return str(refusal)
    return ""


REQUEST_FIELDS: Final[Mapping[str, Field]] = {
    "url": Field("text", "Address of the call; a template.", required=True, template=True),
    "http_method": Field("text", "The HTTP method, such as `POST`.", required=True, template=True),
    "api_spec_uri": Field("text", "Where the API is described.", is_read=False),
    "data": Field(
        "any",
        "The body: JSON whose strings are templates; a string that is one placeholder carries "
        "the value itself.",
        template=True,
    ),
    "query_params": Field("object", "Query parameters; their values are templates.", template=True),
    "headers": Field("object", "Headers; their values are templates.", template=True),
    "sensitive_headers": Field(
        "object",
        "Headers whose values are never shown or kept; templates, best over a placeholder of the "
        "host (`{{CRM_KEY}}`).",
        template=True,
    ),
    "retry_policy": Field("any", "How a call that failed is repeated."),
    "url_allow_list": Field("list", "Addresses that may be called; left out, the host decides."),
    "json_spec_filter": Field(
        "any", "Which part of the answer is taken.", is_read=False, refused=is_used
    ),
}
"""Of every component that describes a request."""
_EXAMPLE: Final = "https://api.example.com/v1"
_SOME_HOST: Final = "https://host.invalid"


def read_request(site: Site, component: Component) -> dict[str, Any]:
    """The fields of the IR that make up the request."""
    method = component.text("http_method", "POST")
    data = component.fields.get("data")
    # SDKs write `data: {}` when there is no body at all
    empty = data is None or (data == {} and method.upper() in {"GET", "HEAD", "DELETE"})
    return {
        "url": component.text("url"),
        "method": method if "{" in method else method.upper(),
        "data": None if empty else Json.of(data),
        "headers": Json.of(component.mapping("headers")),
        "query": Json.of(component.mapping("query_params")),
        "sensitive_headers": SealedJson.of(component.mapping("sensitive_headers")),
        "retry": report_retry_policy(site, component),
        "url_allow_list": _read_allow_list(site, component),
    }


def report_retry_policy(site: Site, component: Component) -> CallRetryPolicy | None:
    """The policy of a component; what is wrong with it is a finding, and it counts as absent."""
    policy, flaws = read_retry_policy(component.fields.get("retry_policy"))
    at, known = component.at("retry_policy"), CallRetryPolicy.__dataclass_fields__
    for flaw in flaws:
        named = f"retry_policy.{flaw.field[:80]}" if flaw.field else "retry_policy"
        site.findings.error(
            "OAS022",
            f"{named} of {label_of(component)} {flaw.problem}",
            site.place(child(at, flaw.field) if flaw.field else at),
            hint=did_you_mean(flaw.field, known) if flaw.field not in known else "",
        )
    return policy


def _read_allow_list(site: Site, component: Component) -> tuple[str, ...] | None:
    entries = component.items("url_allow_list")
    if entries is None:
        return None
    found: list[str] = []
    for index, entry in enumerate(entries):
        problem = _find_entry_flaw(entry) if isinstance(entry, str) else "it must be a string"
        if problem:
            site.findings.error(
                "OAS022",
                f"an entry of url_allow_list of {label_of(component)} covers nothing: {problem}",
                site.place(f"{component.at('url_allow_list')}/{index}"),
                hint=f'write scheme, host and the beginning of the path: "{_EXAMPLE}"',
            )
        elif isinstance(entry, str):
            found.append(entry)
    return tuple(found)


def _find_entry_flaw(entry: str) -> str:
    """Why an entry covers nothing, whatever the host puts in for its placeholders."""
    leading = ENVIRONMENT_PLACEHOLDER.match(entry)
    text = _SOME_HOST + entry[leading.end() :] if leading else entry
    text = ENVIRONMENT_PLACEHOLDER.sub("x", text)
    if "{{" in text:
        return "it depends on a value of the run, which could then allow itself"
    return entry_flaw(text)


# ----------------------------------------------------------------------------
# Tools and toolboxes of MCP servers: their fields, and the server as the IR has it.
#
# {"component_type": "StreamableHTTPTransport", "url": "https://h.example/mcp", "sensitive_headers": {…}}
#     ->  ir.McpTransport(transport="StreamableHTTPTransport", settings=…, sensitive=…)
#
# Source: Agent Spec, MCPTool, MCPToolBox, MCPToolSpec and ClientTransport.


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
