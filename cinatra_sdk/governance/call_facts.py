"""The whole of a call, as conditions read it under `call`.

http, openapi   {"kind", "method", "url", "path", "query", "headers", "body"}
tool            {"kind", "tool", "arguments"}
mcp             {"kind", "server", "tool", "arguments"}
model           {"kind", "model", "arguments"}
a2a, agent      {"kind", "agent", "arguments"}

    describe_effect(effect)     ->  {"kind": "http", "method": "POST", "query": {"to": "eve@…"}, …}
    complete_call(about, args)  ->  the same with its body, or its arguments

In: an effect of a flow's node, or a capability of the loop, with its arguments.  Out: plain JSON.  Names
of headers are in small letters.  Tokens are starred: no condition needs one, and facts are kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from cinatra_sdk.effects.effect import Effect
from cinatra_sdk.governance.canonical import spell_integers
from cinatra_sdk.governance.rulebook import DeclaredCapability
from cinatra_sdk.governed.secrets import SECRET_KEYS, redact

STARS: Final = "***"
SIMULATED: Final = "simulated/"
"""Before the name of what a simulation stands for."""
_SECRET_NAME: Final = re.compile(
    r"(?i)authorization|cookie|token|secret|api[-_]?key|password|signature"
)
_REQUESTS: Final = ("http", "openapi")
_PAIR: Final = 2


def describe_effect(effect: Effect) -> dict[str, Any]:
    """What is known of an effect beside its arguments; the body where that is no object."""
    name = effect.capability.removeprefix(SIMULATED)
    given = effect.arguments if isinstance(effect.arguments, Mapping) else {}
    if effect.kind != "http":
        return _describe_name(effect.kind, name)
    url = str(given.get("url") or name.partition(" ")[2])
    about = _describe_request(str(given.get("method") or name.partition(" ")[0]), url)
    query, headers = given.get("query"), given.get("headers")
    more = _star(dict(query)) if isinstance(query, Mapping) else {}
    for key, one in more.items():
        # Both are sent: a rule sees both, as of a name that stands twice in the address.
        before = about["query"].get(str(key))
        own = one if isinstance(one, list) else [one]
        listed = before if isinstance(before, list) else [] if before is None else [before]
        about["query"][str(key)] = [*listed, *own] if before is not None else one
    if isinstance(headers, Mapping):
        about["headers"] = star_headers(headers)
    if "body" in given and not isinstance(given["body"], Mapping):
        about["body"] = _star(given["body"])
    return about


def describe_declared(declared: DeclaredCapability) -> dict[str, Any]:
    """The same of a capability that the loop calls."""
    kind, bound = declared.adapter.type, declared.bound_to
    if kind in _REQUESTS:
        method, _, url = bound.partition(" ")
        return _describe_request(method, url)
    endpoint = declared.adapter.endpoint_ref
    name = f"{endpoint}/{bound}" if kind == "mcp" and endpoint else bound
    return _describe_name(kind, name)


def complete_call(about: Mapping[str, Any], args: Any) -> dict[str, Any]:
    """The facts of a call whose `args` rules read, too."""
    place = "body" if about.get("kind") == "http" else "arguments"
    return {place: spell_integers(_star(args)), **about}


def star_headers(headers: Mapping[Any, Any]) -> dict[str, Any]:
    """Headers by their names in small letters, without tokens."""
    return {str(key).lower(): _star_member(str(key), one) for key, one in headers.items()}


def _describe_request(method: str, url: str) -> dict[str, Any]:
    """A place of the platform (`{{CINATRA_BASE_URL}}/api/x`) has its path without that."""
    bare = re.sub(r"^\{\{[^}]*\}\}", "", url)
    parts = urlsplit(bare)
    query: dict[str, Any] = {}
    for key, text in parse_qsl(parts.query, keep_blank_values=True):
        known = query.get(key)
        again = [*known, text] if isinstance(known, list) else [known, text]
        query[key] = text if key not in query else again
    address = redact(url.partition("#")[0].partition("?")[0])
    return {
        "kind": "http",
        "method": method.upper(),
        "url": address,
        "path": redact(parts.path),
        "query": _star(query),
        "headers": {},
    }


def _describe_name(kind: str, name: str) -> dict[str, Any]:
    match kind:
        case "mcp":
            server, _, tool = name.rpartition("/")
            return {"kind": "mcp", "server": server, "tool": tool}
        case "model":
            return {"kind": "model", "model": name}
        case "a2a" | "agent":
            return {"kind": "a2a", "agent": name}
        case _:
            return {"kind": "tool", "tool": name}


def _star(value: Any) -> Any:
    """A value without the shapes of well-known tokens, and without members whose name says token."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {str(key): _star_member(str(key), one) for key, one in value.items()}
    return [_star(one) for one in value] if isinstance(value, (list, tuple)) else value


def _star_member(name: str, value: Any) -> Any:
    is_secret = name.lower() in SECRET_KEYS or _SECRET_NAME.search(name) is not None
    return STARS if is_secret and isinstance(value, str) and value else _star(value)
