"""ApiNode: one HTTP call.

without outputs      ->  one untyped output "response"
"""

from __future__ import annotations

from urllib.parse import urlsplit

from oas_compiler import ir
from oas_compiler.component_facts.component import NODE_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import next_only, template_inputs
from oas_compiler.component_facts.metadata import ANY, EFFECT_KEYS, NODE_KEYS, cinatra_effect
from oas_compiler.component_facts.requests import REQUEST_FIELDS, read_request
from oas_compiler.ir import Port
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.text.safe_text import safe


def build_api(site: Site) -> ir.Node:
    component = site.component
    outputs = site.declared("outputs")
    templates = [name for name, field in site.fields.items() if field.template]
    if not site.is_cinatra:
        templates.append("api_spec_uri")  # nothing reads it, yet its names are inputs
    # in Cinatra files Cinatra's own rule compares them, both ways
    also = None if site.is_cinatra else ("json_spec_filter",)
    return ir.ApiNode(
        **common(site),
        inputs=template_inputs(site, *templates, also=also),
        outputs=(Port(title="response", place=site.place()),) if outputs is None else outputs,
        branches=next_only(site),
        **read_request(site, component),
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
        **REQUEST_FIELDS,
    },
    is_call=True,
    shape="call",
    caption=lambda node: format_address(node.method, node.url),
    metadata={**NODE_KEYS, **EFFECT_KEYS, "approvalPolicy": ANY, "phase": ANY, "tools": ANY},
    lowering="oas_compiler.lower.plain_nodes:lower_api",
)
