"""The fields of a component that describe one HTTP request: of an ApiNode, and of a RemoteTool.

{"url": "https://h.example/{{ id }}", "http_method": "get", "retry_policy": {"max_attempts": 5}, …}
    read_request(site, component)
        ->  {"url": "https://h.example/{{ id }}", "method": "GET", "retry": CallRetryPolicy(…), …}

What is wrong with a field is reported at its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cinatra_sdk.templates.environment import ENVIRONMENT_PLACEHOLDER
from cinatra_sdk.text.spelling import did_you_mean
from cinatra_sdk.values.retry_policy import CallRetryPolicy, read_retry_policy
from oas_compiler.component.component import Component
from oas_compiler.component.fields import Field, is_used
from oas_compiler.component.site import Site, label_of
from oas_compiler.ir import Json, SealedJson
from oas_compiler.text.allow_entries import entry_flaw
from oas_compiler.text.marks import child

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
