"""The address of a call is one that can be called.

"url": ""                                       ->   OAS252
"url": "api.example.org/x"                      ->   OAS252: https:// is missing
"url": "htps://api.example.org/x"               ->   OAS252: no scheme of a call
"url": "http://localhost:3000/api/llm-bridge"   ->   OAS252: {{CINATRA_BASE_URL}}
"url": "{{ address }}", "/api/x"                fine: told when the run knows it
"""

from __future__ import annotations

import re
from typing import Final

from cinatra_sdk.contract import BASE_URL_MARK
from oas_compiler.checks.lookup.api_calls import CALLERS, addresses
from oas_compiler.checks.sense.platform_address import ROUTES
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule

_PLACEHOLDER: Final = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/")
_HOST: Final = re.compile(r"[\w-]+(\.[\w-]+)+(:[0-9]+)?(/|$)")
_AROUND: Final = "\"'`<("
_BASE_BEHIND: Final = re.compile(rf"(https?:/+|{BASE_URL_MARK}\S*){BASE_URL_MARK}")
_LONGEST: Final = 2_000


@rule(
    code="OAS252",
    name="call-address",
    severity="warning",
    summary="The address of a call cannot be called.",
    fix='Write "https://…", or "{{CINATRA_BASE_URL}}/…" for the platform.',
    source="Agent Spec, ApiNode; HTTP (RFC 9110), section 4.2",
    needs="document",
    bad='"url": "api.example.org/items"',
    good='"url": "https://api.example.org/items"',
)
def call_address(subject: Subject, report: Report) -> None:
    for component, field, address in addresses(subject, *CALLERS):
        written = component.text(field)[:_LONGEST]
        found = uncallable(written)
        if not found and address.is_loopback and (route := _find_platform_route(written)):
            found = (
                f'calls "{address.host}" at a route of the platform',
                f'write "{{{{CINATRA_BASE_URL}}}}{route}": each host fills it in',
            )
        if found:
            report(
                f"{component.label} {found[0]}", subject.place(component.at(field)), hint=found[1]
            )


def uncallable(url: str) -> tuple[str, str] | None:
    """The flaw in the form of an address, and the remedy; `None` for an address that may be
    valid.
    """
    plain = _PLACEHOLDER.sub("x", url)
    return _find_url_flaw(url, plain) or _find_origin_flaw(url, plain)


def _find_url_flaw(url: str, plain: str) -> tuple[str, str] | None:
    """Characters that no address contains."""
    if not plain.strip():
        return "has an empty url", 'write "https://…", or "{{CINATRA_BASE_URL}}/…"'
    if plain != plain.strip():
        return "has a url with a blank at its end", "remove the blank"
    if re.search(r"\s", plain):
        return "has a url with a blank in it", "write %20 for a blank, or remove it"
    if "\\" in plain:
        return 'has a url with a "\\" in it', "write / instead"
    if url[0] in _AROUND:
        return f"has a url that begins with {url[0]}", "write the address alone"
    return None


def _find_origin_flaw(url: str, plain: str) -> tuple[str, str] | None:
    """A wrong scheme or host."""
    if _BASE_BEHIND.match(url):
        hint = "write {{CINATRA_BASE_URL}} once, at the beginning: it has its scheme with it"
        return "has a url with the platform behind its beginning", hint
    if url.startswith(("{{", "/", "$", "{")):
        return None
    scheme = _SCHEME.match(plain)
    if scheme is None:
        if url.startswith("api/") and (route := _find_platform_route(f"/{url}")):
            return "has a url without a host", f'write "{{{{CINATRA_BASE_URL}}}}{route}"'
        if _HOST.match(plain):
            return "has a url without a scheme", f'write "https://{url[:80]}"'
        return None
    if scheme[1].lower() not in {"http", "https", "x"}:
        return f'has a url with the scheme "{scheme[1][:20]}"', 'write "https://" or "http://"'
    if not plain[scheme.end() :].startswith("/"):
        return "has a url with one slash behind the scheme", f'write "{scheme[1]}://"'
    return None


def _find_platform_route(url: str) -> str:
    return next(
        (f"/api/{route}" for route in ROUTES if url.rstrip("/").endswith(f"/api/{route}")), ""
    )
