"""The request of one call: a pure function from a `PlatformCall` to a `Prepared` request.

In: the call of a node, and the operator's `RequestRules`.  Out: method, url, headers and
bytes, or `PlatformRefused`.  Nothing here touches the network.

    call.url  "{{CINATRA_BASE_URL}}/api/llm-bridge"
    prepared  POST http://host:3000/api/llm-bridge
              X-Cinatra-Bridge-Token, -A2A-Context-Id, -Run-Token, -Step-Node, -Step-Attestation

Headers that prove the caller are sent to the platform's own origin only; a call in which the author
sets such a header is refused.  Cinatra's platform defines the signed forms: the signed text has
four lines, the version, the context id, the node id and the expiry.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode, urlsplit

from pydantic import JsonValue

from cinatra_sdk.contract import HTTP_METHODS, SAFE_METHODS
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.data.templates.placeholders import describe_unfilled
from cinatra_sdk.data.text.header_names import IDENTITY, refusal
from cinatra_sdk.governed.secret_values import redact
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.call_addresses import (
    AllowEntry,
    RefusalError,
    Target,
    decoded_segments,
    read_url,
    shown,
)
from cinatra_sdk.outside.http_calls.call_headers import (
    HEADER_NAME,
    HEADER_TEXT,
    HostHeaders,
    host_headers,
    read_trace_headers,
)
from cinatra_sdk.outside.http_calls.opaque_responses import Marked, Opaque, level_of
from cinatra_sdk.outside.http_calls.protocol import (
    BASE_URL_PLACEHOLDER,
    DeclaredOutput,
    PlatformCall,
    PlatformRefused,
    secrets_of,
)

# ----------------------------------------------------------------------------
# An author's `url_allow_list`: the addresses that one node may call.
#
# In: the entries of the node, and the rendered url.  Out: nothing, or a `RefusalError` that names
# the rule and repeats nothing of the url.
#
#     `check_listed(["https://crm.example.com/v1"], "https://crm.example.com/v1/people?q=1")`
#     check_listed(["https://crm.example.com/v1"], "https://crm.example.com/v10")      RefusalError
#     check_listed(["https://crm.example.com/v1"], "https://crm.example.com/v1%2Fx")   RefusalError
#
# Scheme, host and port are equal, and the path begins with the entry's path, segment by segment; query
# and fragment do not count.  A path that a server may read in two ways (`%2F` in a segment, `//`)
# must be listed in both readings.  The list only narrows what the host allows.


_STAND_IN: Final = "http://platform.invalid"
"""The platform's origin where its address is not known: a name that no host can have."""


def check_listed(entries: Sequence[str], url: str) -> None:
    """Raises: `RefusalError` where no entry covers `url`."""
    target = read_url(url)
    for text in entries:
        with suppress(RefusalError):
            entry = AllowEntry.parse(text)
            if entry.covers(target) and _begins_as_written(url, entry.prefix):
                return
    raise RefusalError("the node's url_allow_list does not have it")


def require_listed(call: PlatformCall) -> None:
    """Refuse a call that its node's own list does not have, before anything is begun.

    A url on the platform is compared by its path with the entries on the platform; where the
    author wrote out an address instead, only the platform knows whether that is its own.

    Raises: `PlatformRefused`.
    """
    entries = call.url_allow_list
    if entries is None:
        return
    url, on_platform = call.url, call.url.startswith(BASE_URL_PLACEHOLDER)
    if on_platform:
        if entries and not any(entry.startswith(BASE_URL_PLACEHOLDER) for entry in entries):
            return
        url = with_base(url, _STAND_IN)
    problem = ""
    try:
        check_listed([with_base(entry, _STAND_IN) for entry in entries], url)
    except RefusalError as refusal:
        problem = str(refusal)
    if problem:
        shown_url = shown(call.shown_url)
        raise PlatformRefused(
            f'node "{call.node}": {shown_url} was not called: {problem}',
            node=call.node,
            url=shown_url,
        )


def with_base(url: str, base: str) -> str:
    """`url` with the address of the platform in place of its placeholder."""
    if not url.startswith(BASE_URL_PLACEHOLDER):
        return url
    return base + url.removeprefix(BASE_URL_PLACEHOLDER)


def _begins_as_written(url: str, prefix: tuple[str, ...]) -> bool:
    """Whether the path begins with `prefix` also for a server that splits it before it decodes."""
    path = urlsplit(url).path
    written = [decoded_segments(part) for part in path.split("/")[1:]][: len(prefix)]
    return all(part == (name,) for part, name in zip(written, prefix, strict=False))


ATTESTATION_SECONDS = 300

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_REPEATABLE = frozenset({*SAFE_METHODS, "PUT", "DELETE"})
_PROOFS = frozenset({"x-cinatra-context-attestation", "x-cinatra-step-attestation"})
_NOTHING_SENT: Mapping[str, str] = MappingProxyType({})
_BRIDGE = ("api", "llm-bridge")
_PASSTHROUGH = ("api", "agents", "passthrough")
_CONTEXT = (("api", "context-resolve"), ("api", "context-finalize"))
_AUDITOR = (("api", "auditor", "run-skills"), ("api", "auditor", "apply"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRules:
    """The operator's rules: addresses that calls may reach, and proofs of the caller."""

    base_url: str = ""
    """Without a trailing slash; may have a path.  Empty where the host has no platform."""
    base: AllowEntry | None = None
    """Origin and path of `base_url`."""
    allow: tuple[AllowEntry, ...] = ()
    timeout: float = 120.0
    retry_posts: bool = False
    opaque: Marked = ()
    """Origins of whose responses no text is kept."""
    host_headers: tuple[HostHeaders, ...] = ()
    """The host's headers for single origins."""
    bridge_token: str = field(default="", repr=False)
    attestation_key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """One request, ready to be sent as often as the retry rule allows."""

    node: str
    method: str
    url: str
    shown_url: str
    """The url as errors name it."""
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    content: bytes | None = field(repr=False)
    timeout: float
    repeatable: bool
    """Whether the request may be sent again after it may have arrived: it has the same effect
    twice, or the author's policy says so.
    """
    retry: CallRetryPolicy | None = None
    """The author's policy; `None` means the rule of the platform."""
    guard: AllowEntry | None = None
    """The allow entry under which addresses are checked; `None` for the platform's own origin."""
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    opaque: Opaque | None = None
    """The opaque level of the response; `None` keeps the whole response."""
    outputs: tuple[DeclaredOutput, ...] = field(default=(), repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Secrets that are cut out of responses and errors."""


def prepare(rules: RequestRules, call: PlatformCall, *, now: float) -> Prepared:
    """Turn `call` into a request.

    Raises: `PlatformRefused` for a call that must not be made.
    """
    url = _insert_base_url(rules, call.url)
    named = shown(_insert_base_url(rules, call.shown_url))
    try:
        return _build_request(rules, call, url, now=now)
    except RefusalError as refusal:
        problem = redact(str(refusal), _collect_secrets(rules, call))
    # Raised here, not in the handler: even with `from None` the caught error stays in the context.
    raise PlatformRefused(
        f'node "{call.node}": {named} was not called: {problem}',
        node=call.node,
        url=named,
    )


def _insert_base_url(rules: RequestRules, url: str) -> str:
    if not url.startswith(BASE_URL_PLACEHOLDER) or rules.base is None:
        return url
    return rules.base_url + url.removeprefix(BASE_URL_PLACEHOLDER)


def _build_request(rules: RequestRules, call: PlatformCall, url: str, *, now: float) -> Prepared:
    target, guard = _admit_target(rules, call, url)
    if call.url_allow_list is not None:
        check_listed([with_base(entry, rules.base_url) for entry in call.url_allow_list], url)
    method = _check_method(call.method)
    own = guard is None
    given = host_headers(rules.host_headers, target, call, own=own)
    headers = _build_headers(rules, call, target, given=given, proven=own, now=now)
    content, content_type = _encode_body(call.body, headers.get("content-type", ""))
    if content_type:
        headers["content-type"] = content_type
    keyed = rules.retry_posts and bool(call.idempotency_key)
    return Prepared(
        node=call.node,
        method=method,
        url=url,
        shown_url=shown(_insert_base_url(rules, call.shown_url)),
        headers=tuple(headers.items()),
        content=content,
        timeout=_timeout_of(rules, call),
        repeatable=not call.once and (method in _REPEATABLE or keyed or call.retry is not None),
        retry=call.retry,
        guard=guard,
        query=tuple(call.query.items()),
        opaque=level_of(rules.opaque, target) if rules.opaque else None,
        outputs=call.outputs,
        secrets=(*_collect_secrets(rules, call, headers), *secrets_of(given)),
    )


def _timeout_of(rules: RequestRules, call: PlatformCall) -> float:
    """Seconds of one attempt: an author may ask for less than the operator gives."""
    given = rules.timeout if call.timeout is None else call.timeout
    asked = None if call.retry is None else call.retry.request_timeout
    return given if asked is None else min(given, asked)


def _admit_target(
    rules: RequestRules, call: PlatformCall, url: str
) -> tuple[Target, AllowEntry | None]:
    if rules.base is None and url.startswith(BASE_URL_PLACEHOLDER):
        raise RefusalError("no platform is configured; give `HttpPlatform` a base_url")
    if "{{" in url or "}}" in url:
        raise RefusalError("a placeholder of the url has no value")
    rest = call.url.removeprefix(BASE_URL_PLACEHOLDER)
    if rest != call.url and rest and rest[0] not in "/?":
        raise RefusalError(f"what follows {BASE_URL_PLACEHOLDER} must begin with a slash")
    target = read_url(url)
    # Another path on the platform's host may belong to another receiver.
    if rules.base is not None and rules.base.covers(target) and not call.origin_by_value:
        return target, None
    for entry in rules.allow:
        if entry.covers(target):
            return target, entry
    if rules.base is not None and target.origin == rules.base.origin and call.origin_by_value:
        raise RefusalError(
            "its host comes from a value, and a value never names the platform; "
            f"begin the url with {BASE_URL_PLACEHOLDER}"
        )
    # An origin that came from placeholder values is not repeated in errors.
    origin = "its origin" if call.placeholders and call.origin_by_value else f'"{target.origin}"'
    own = f"{shown(rules.base_url)} and the allow list" if rules.base else "the allow list"
    raise RefusalError(
        f"only {own} may be called; add {origin} to `allow` (--allow at the command line) if the "
        "flow is meant to reach it"
    )


def _check_method(method: str) -> str:
    if method.upper() not in HTTP_METHODS:
        raise RefusalError(f"the method must be one of {', '.join(sorted(HTTP_METHODS))}")
    return method.upper()


# -------------------------------------------------------------------------- headers


def _build_headers(
    rules: RequestRules,
    call: PlatformCall,
    target: Target,
    *,
    given: Mapping[str, str],
    proven: bool,
    now: float,
) -> dict[str, str]:
    """All headers, by lower-case name; with the headers that prove the caller if `proven`.

    given: the host's headers for this origin.
    """
    for header, name in call.unfilled_headers:
        raise RefusalError(describe_unfilled(header, name))
    headers = {"accept": "application/json", "user-agent": "oasflow"}
    declared = (*call.headers.items(), *call.sensitive_headers.items())
    for name, value in _author_headers(declared, to_platform=proven):
        if name in given:
            raise RefusalError(f'the host sets the header "{name}" there: leave it out of the flow')
        headers[name] = value
    headers.update(given)
    for name, value in read_trace_headers().items():
        headers.setdefault(name.lower(), value)
    # The size of a response is limited while it is read, so it must not arrive compressed.
    headers["accept-encoding"] = IDENTITY
    if call.idempotency_key and call.method.upper() not in SAFE_METHODS:
        headers["idempotency-key"] = call.idempotency_key
    if proven:
        headers.update(_runtime_headers(rules, call, target.segments, now=now))
    for name, value in headers.items():
        if not HEADER_TEXT.fullmatch(value):
            raise RefusalError(f'the header "{name}" holds something other than printable ASCII')
    return headers


def _author_headers(
    declared: Iterable[tuple[str, str]], *, to_platform: bool
) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for written, value in declared:
        name = written.lower()
        if not HEADER_NAME.fullmatch(name):
            raise RefusalError("a header has a name that is not an HTTP token")
        if problem := refusal(name, value, to_platform=to_platform):
            raise RefusalError(problem)
        if name in seen:
            raise RefusalError(f'the header "{name}" is declared twice')
        seen.add(name)
        yield name, value


def _runtime_headers(
    rules: RequestRules, call: PlatformCall, segments: tuple[str, ...], *, now: float
) -> Iterator[tuple[str, str]]:
    """The proofs that an endpoint gets, by the table of Cinatra's HTTP contract."""
    bridge = segments[-len(_BRIDGE) :] == _BRIDGE
    passthrough = segments[-len(_PASSTHROUGH) :] == _PASSTHROUGH
    context = segments[-2:] in _CONTEXT
    auditor = segments[-3:] in _AUDITOR
    if rules.bridge_token and call.with_own_token:
        yield "x-cinatra-bridge-token", rules.bridge_token
    if call.credentials.bearer_token:
        yield "authorization", f"Bearer {call.credentials.bearer_token}"
    if call.context_id and (bridge or passthrough or context or auditor):
        yield "x-cinatra-a2a-context-id", call.context_id
    if call.credentials.run_token and (bridge or context):
        yield "x-cinatra-run-token", call.credentials.run_token
    if not (rules.attestation_key and call.context_id and call.with_own_signature):
        return
    if context:
        yield "x-cinatra-context-node", call.node
        yield "x-cinatra-context-attestation", attest(rules, call, version="v2", now=now)
    if bridge or passthrough:
        yield "x-cinatra-step-node", call.node
        yield "x-cinatra-step-attestation", attest(rules, call, version="s1", now=now)


def attest(rules: RequestRules, call: PlatformCall, *, version: str, now: float) -> str:
    """`<version>:<expiry>:<hex>`: proof that this node of this conversation is calling."""
    expiry = int(now) + ATTESTATION_SECONDS
    material = f"{version}\n{call.context_id}\n{call.node}\n{expiry}"
    key = rules.attestation_key.encode()
    return f"{version}:{expiry}:{hmac.new(key, material.encode(), hashlib.sha256).hexdigest()}"


def _collect_secrets(
    rules: RequestRules, call: PlatformCall, sent: Mapping[str, str] = _NOTHING_SENT
) -> tuple[str, ...]:
    """The host's and the run's secrets, and this call's proofs that were made from them."""
    proofs = [value for name, value in sent.items() if name in _PROOFS]
    signatures = [proof.rpartition(":")[2] for proof in proofs]
    known = (rules.bridge_token, rules.attestation_key, *call.secrets, *proofs, *signatures)
    return tuple(secret for secret in known if secret)


# ----------------------------------------------------------------------------- body


def _encode_body(body: JsonValue, content_type: str) -> tuple[bytes | None, str]:
    """The bytes of `body`, and the content type to send them with."""
    media = content_type.partition(";")[0].strip().lower()
    if body is None:
        return None, ""
    if isinstance(body, str):
        return _encode_text(body), content_type or "text/plain; charset=utf-8"
    if media == "application/x-www-form-urlencoded":
        return _encode_text(_encode_form(body)), content_type
    return _encode_text(_encode_json(body)), content_type or "application/json"


def _encode_text(text: str) -> bytes:
    # Not `encode` in a `try`: its error would carry the whole body in its context.
    if _SURROGATE.search(text):
        raise RefusalError("the body holds a lone surrogate, which is not text")
    return text.encode()


def _encode_json(value: JsonValue) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        problem = "the body holds NaN or an infinity, which are not JSON"
    raise RefusalError(problem)


def _encode_form(body: JsonValue) -> str:
    """Form encoding: a list repeats its key, null is empty, other values are JSON text."""
    if not isinstance(body, dict):
        raise RefusalError("a form-encoded body must be an object")
    pairs: list[tuple[str, str]] = []
    for key, value in body.items():
        for one in value if isinstance(value, list) else [value]:
            text = one if isinstance(one, str) else "" if one is None else _encode_json(one)
            if _SURROGATE.search(key + text):
                raise RefusalError("the body holds a lone surrogate, which is not text")
            pairs.append((key, text))
    return urlencode(pairs)
