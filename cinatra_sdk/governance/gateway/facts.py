"""The facts that conditions read: of a run, and of one call in it, as plain JSON.

intent, tenant_id, session_id, mode, channel, locale, safety_mode
input       {"intent", "message", "channel", "locale", "context"}: the request
context     input.context: the caller's own word, and no proof
user        the claims about the person, with `scopes`, without any token
agent       {"agent_id", "agent_urn", "role", "scopes"}
capability  "adp_payments.issue_refund"; adapter "adp_payments"; args {…}; approval_mode "destructive"
call        the whole call: method, url, path, query, headers and body, or model, tool and arguments
evidence    references to evidence of the call
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_plus, urlsplit

from cinatra_sdk.governance.contracts.invocation import VOUCHED, AgentInput, RunContext
from cinatra_sdk.governance.contracts.record_format import spell_integers
from cinatra_sdk.governance.packs.rulebook import DeclaredCapability
from cinatra_sdk.governed.secret_values import SECRET_KEYS, redact
from cinatra_sdk.outside.effects.effect import Effect

# ----------------------------------------------------------------------------
# The whole of a call, as conditions read it under `call`.
#
# http, openapi   {"kind", "method", "url", "path", "query", "headers", "body"}
# tool            {"kind", "tool", "arguments"}
# mcp             {"kind", "server", "tool", "arguments"}
# model           {"kind", "model", "arguments"}
# a2a, agent      {"kind", "agent", "arguments"}
#
#     describe_effect(effect)     ->  {"kind": "http", "method": "POST", "query": {"to": "eve@…"}, …}
#     complete_call(about, args)  ->  the same with its body, or its arguments
#
# In: an effect of a flow's node, or a capability of the loop, with its arguments.  Out: plain JSON.  Names
# of headers are in small letters.  Tokens are starred: no condition needs one, and facts are kept.


STARS: Final = "***"
SIMULATED: Final = "simulated/"
"""Before the name of what a simulation stands for."""
_SECRET_NAME: Final = re.compile(
    r"(?i)authorization|cookie|token|secret|api[-_]?key|private[-_]?key|signature|credential"
    r"|pass(?:word|wd|phrase|wort)|kennwort|mot[-_]?de[-_]?passe|contrase[nñ]a|senha|wachtwoord"
)
_COUNT: Final = re.compile(
    r"(?i)tokens$|^tokens?[-_]|(?:count|limit|budget|length|size|seconds|ttl|expir\w*|[-_]at)$"
)
"""A number under such a name counts tokens, or says when one ends."""
_USER: Final = re.compile(r"(?<=://)[^/?#\s\"'<>]*@")
_USER_AND_PASSWORD: Final = re.compile(r"(?<=://)[^/?#\s\"'<>:]*:[^/?#\s\"'<>]*@")
_PARAMETER: Final = re.compile(r"(?<=[?&#])(?P<name>[^=&#]+)=(?P<value>[^&#]+)")
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
    address = redact(_USER.sub("", url.partition("#")[0].partition("?")[0]))
    return {
        "kind": "http",
        "method": method.upper(),
        "url": address,
        "path": redact(_USER.sub("", parts.path)),
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
        return redact(_USER_AND_PASSWORD.sub("", value) if "://" in value else value)
    if isinstance(value, Mapping):
        return {str(key): _star_member(str(key), one) for key, one in value.items()}
    return [_star(one) for one in value] if isinstance(value, (list, tuple)) else value


def _star_member(name: str, value: Any) -> Any:
    is_secret = name.lower() in SECRET_KEYS or _SECRET_NAME.search(name) is not None
    return _star_whole(name, value) if is_secret else _star(value)


def _star_whole(name: str, value: Any) -> Any:
    """Nothing of a value but whether it is there, and of a list how many it has."""
    if isinstance(value, (list, tuple)):
        return [_star_whole(name, one) for one in value]
    if value is None or isinstance(value, bool) or value in ("", {}):
        return value
    is_number = isinstance(value, (int, float))
    return value if is_number and _COUNT.search(name) else STARS


def star_request(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a request, without tokens in its headers, its query and its address."""
    starred = dict(given)
    if isinstance(given.get("headers"), Mapping):
        starred["headers"] = star_headers(given["headers"])
    if isinstance(given.get("query"), Mapping):
        starred["query"] = _star(given["query"])
    if isinstance(given.get("url"), str):
        starred["url"] = _PARAMETER.sub(_star_parameter, _USER.sub("", given["url"]))
    return starred


def _star_parameter(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    is_starred = _star_member(unquote_plus(name), unquote_plus(value)) == STARS
    return f"{name}={STARS}" if is_starred else found[0]


def make_run_facts(run: RunContext, asked: AgentInput, *, mode: str = "batch") -> dict[str, Any]:
    """The facts that are the same for every call of a run."""
    claims = run.user.to_json()
    delegation = claims.pop("delegation", None) or {}
    given = asked.to_json()
    return {
        "intent": asked.intent,
        "tenant_id": run.tenant_id,
        "session_id": run.session_id,
        "mode": mode,
        "channel": asked.channel,
        "locale": asked.locale or run.locale,
        "safety_mode": run.safety_mode,
        "input": given,
        "context": given.get("context") or {},
        "user": {**claims, "scopes": list(delegation.get("scopes", ()))},
        "agent": _describe_agent(run),
    }


def _describe_agent(run: RunContext) -> dict[str, Any]:
    """As far as somebody vouches for it; runs of earlier releases do not say who, and are told whole."""
    claim, voucher = run.agent.identity_claim, run.metadata.get(VOUCHED, "host")
    return {
        "agent_id": run.agent.agent_id if voucher == "host" else None,
        "agent_urn": run.agent.agent_urn if voucher else None,
        "role": run.agent.role,
        "scopes": [] if claim is None else list(claim.scopes),
    }


def replace_context(run_facts: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a run in which something else is given, as in the flow inside of another."""
    given = spell_integers(context)
    return {**run_facts, "input": {**run_facts["input"], "context": given}, "context": given}


def make_call_facts(
    run_facts: Mapping[str, Any],
    *,
    capability: str,
    args: Any,
    approval_mode: str,
    evidence: Iterable[str],
    about: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The facts of one call.

    about: what `call_facts` says of it; None: of a record of an earlier release, whose rules did not
    read it.
    """
    whole = {} if about is None else {"call": complete_call(about, args)}
    return {
        **whole,
        **run_facts,
        "capability": capability,
        "adapter": capability.partition(".")[0],
        "args": spell_integers(args),
        "approval_mode": approval_mode,
        "evidence": list(evidence),
    }
