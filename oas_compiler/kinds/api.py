"""ApiNode: one HTTP call.

without outputs      ->  one untyped output "response"
"""

from __future__ import annotations

from urllib.parse import urlsplit

from oas_compiler import ir
from oas_compiler.component.fields import NODE_FIELDS, Field, is_used
from oas_compiler.component.inference import next_only, template_inputs
from oas_compiler.component.metadata import ANY, EFFECT_KEYS, NODE_KEYS, cinatra_effect
from oas_compiler.component.site import Site, common
from oas_compiler.ir import Json, Port
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.text.safe import safe


def build_api(site: Site) -> ir.Node:
    component = site.component
    also = ("api_spec_uri", "sensitive_headers", "json_spec_filter")
    method = component.text("http_method", "POST")
    data = component.fields.get("data")
    # SDKs write `data: {}` when there is no body at all
    empty = data is None or (data == {} and method.upper() in {"GET", "HEAD", "DELETE"})
    outputs = site.declared("outputs")
    return ir.ApiNode(
        **common(site),
        # in Cinatra files Cinatra's own rule compares them, both ways
        inputs=template_inputs(site, also=None if site.is_cinatra else also),
        outputs=(Port(title="response", place=site.place()),) if outputs is None else outputs,
        branches=next_only(site),
        url=component.text("url"),
        method=method if "{" in method else method.upper(),
        data=None if empty else Json.of(data),
        headers=Json.of(component.mapping("headers")),
        query=Json.of(component.mapping("query_params")),
        effect=cinatra_effect(site),
    )


def format_address(method: str, url: str) -> str:
    """The target of an ApiNode's call, without its parts that may be secret (user, query) and
    without the placeholder of the host.
    """
    try:
        parts = urlsplit(safe(url))
        host = parts.hostname or ""
    except ValueError:
        return safe(method)
    path = parts.path
    if not parts.scheme and path.startswith("{{"):
        host, path = "", path.partition("}}")[2]
    return f"{safe(method)} {host}{path}"


API = NodeKind(
    component_type="ApiNode",
    node=ir.ApiNode,
    build=build_api,
    words="Makes one HTTP call; members of the answer become its outputs.",
    fields={
        **NODE_FIELDS,
        "inputs": Field(
            "list", "Names that the templates use; left out, they follow from the templates."
        ),
        "outputs": Field("list", "Members of the JSON answer that later nodes use."),
        "url": Field("text", "Address of the call; a template.", required=True, template=True),
        "http_method": Field(
            "text", "The HTTP method, such as `POST`.", required=True, template=True
        ),
        "api_spec_uri": Field("text", "Where the API is described.", is_read=False),
        "data": Field(
            "any",
            "The body: JSON whose strings are templates; a string that is one placeholder carries "
            "the value itself.",
            template=True,
        ),
        "query_params": Field(
            "object", "Query parameters; their values are templates.", template=True
        ),
        "headers": Field("object", "Headers; their values are templates.", template=True),
        "retry_policy": Field(
            "any", "How a call that failed is repeated.", is_read=False, refused=is_used
        ),
        "sensitive_headers": Field(
            "object", "Headers that must not be exported.", is_read=False, refused=is_used
        ),
        "url_allow_list": Field(
            "any", "Addresses that may be called.", is_read=False, refused=is_used
        ),
        "json_spec_filter": Field(
            "any", "Which part of the answer is taken.", is_read=False, refused=is_used
        ),
    },
    is_call=True,
    shape="call",
    caption=lambda node: format_address(node.method, node.url),
    metadata={**NODE_KEYS, **EFFECT_KEYS, "approvalPolicy": ANY, "phase": ANY, "tools": ANY},
    lowering="oas_compiler.lower.nodes.api:lower_api",
)
