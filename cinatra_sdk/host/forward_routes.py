"""Requests without a route of the served app, forwarded to the platform beyond.

In: a route that the host listed, and an HTTP request.  Out: status and body, as the caller's own
platform would return them.

    POST /api/llm-bridge  {"user": "hi"}    ->  beyond.call(POST {{CINATRA_BASE_URL}}/api/llm-bridge)
                                            ->  200 {"text": "…"}

The forwarded call has the caller's own identity.  Its path is the path that the host wrote.  Of the
caller's headers, the bearer token, the run token, the conversation and the idempotency key are
forwarded.  The host's own bridge token is added for callers that have that token themselves.  The
host's signature is added for a step that the caller has signed with the same key.  A bearer speaks
for its own person's runs: every run and conversation that the request names must belong to that
person.  A node's declared outputs do not come over HTTP: a simulation beyond answers from its
stubs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from urllib.parse import parse_qsl

from pydantic import JsonValue

from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.host.context_routes import read_json
from cinatra_sdk.host.proof import BearerIdentity, bearer_token, same, scope_for, signed_step
from cinatra_sdk.host.run_directory import KnowsConversations, RunDirectory, RunScope
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.call_addresses import RefusalError, decoded_segments
from cinatra_sdk.outside.http_calls.protocol import (
    BASE_URL_PLACEHOLDER,
    Credentials,
    HoldsProofsBack,
    Platform,
    PlatformCall,
    PlatformError,
    PlatformResponseError,
)
from cinatra_sdk.outside.routes import RoutedPlatform

# ----------------------------------------------------------------------------
# The routes beyond the local routes that a host forwards: an explicit list, matched exactly.
#
#     `routes = read_routes(["POST /api/llm-bridge", "GET /api/models?family"])`
#     matched(routes, "POST", "/api/llm-bridge")        the route; its own path is called
#     matched(routes, "POST", "/api/llm-bridge/")       None, as for every other spelling
#
# An entry is a method, a path, and the allowed names of a query.  There are no prefixes and no
# patterns, and nothing is decoded, folded or cleaned before the comparison.  So a path that two
# servers could read differently never matches.


RESOLVE: Final = ("api", "context-resolve")
FINALIZE: Final = ("api", "context-finalize")

_ENTRY: Final = re.compile(
    r"(?P<method>GET|HEAD|OPTIONS|POST|PUT|PATCH|DELETE) "
    r"(?P<path>(?:/[A-Za-z0-9._~@:+-]+)+)"
    r"(?:\?(?P<query>[A-Za-z0-9._~-]+(?:&[A-Za-z0-9._~-]+)*))?"
)
_FORM: Final = (
    'an entry is "METHOD /path" or "METHOD /path?name&name", such as "POST /api/llm-bridge"'
)
MAX_FIELDS: Final = 100
"""Fields of a query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardedRoute:
    """One method and path that may be forwarded."""

    method: str
    path: str
    query: frozenset[str] = frozenset()
    """Allowed names of a query, each at most once."""

    def fields(self, text: str) -> dict[str, str]:
        """The fields of a query.  Raises: `ContextError` `invalid_body`, which quotes no value."""
        try:
            pairs = parse_qsl(
                text, keep_blank_values=True, strict_parsing=bool(text), errors="strict",
                max_num_fields=MAX_FIELDS,
            )  # fmt: skip
        except ValueError:
            pairs = [("", "")]
        names = [name for name, _ in pairs]
        if not self.query.issuperset(names) or len(set(names)) < len(names):
            raise ContextError(
                "invalid_body",
                f"{self.method} {self.path} takes the query "
                f"{', '.join(sorted(self.query)) or 'of no name'}, each name once",
                hint="the host lists the names behind a question mark",
            )
        return dict(pairs)


def read_routes(entries: Iterable[object]) -> tuple[ForwardedRoute, ...]:
    """Raises: `ValueError`, which names an entry of the wrong form, or one that a host may not
    list.
    """
    if isinstance(entries, str):
        raise ValueError(f"a list of entries is wanted, not one text; {_FORM}")  # noqa: TRY004 - one kind of error for wrong entries
    return tuple(_parse_route(entry) for entry in entries)


def _parse_route(entry: object) -> ForwardedRoute:
    read = _ENTRY.fullmatch(entry) if isinstance(entry, str) else None
    if read is None:
        raise ValueError(f"{entry!r}: {_FORM}")
    if resembles_local(read["path"]):
        raise ValueError(f"{entry!r}: the local platform answers this route itself")
    if {".", ".."} & set(read["path"].split("/")):
        raise ValueError(f"{entry!r}: a path has no dot segments")
    names = (read["query"] or "").split("&") if read["query"] else []
    return ForwardedRoute(method=read["method"], path=read["path"], query=frozenset(names))


def matched(routes: Iterable[ForwardedRoute], method: str, path: str) -> ForwardedRoute | None:
    """The route with exactly this method and path; None where there is none."""
    return next((route for route in routes if (route.method, route.path) == (method, path)), None)


def list_methods(routes: Iterable[ForwardedRoute], path: str) -> tuple[str, ...]:
    """The methods that a path takes; empty where there is no such path."""
    own = {"POST"} if is_local(path) else set()
    return tuple(sorted(own | {route.method for route in routes if route.path == path}))


def path_in(scope: Mapping[str, object]) -> tuple[str, str]:
    """The path of an ASGI request below the app's mount point: decoded, and as it was sent.

    For a server that does not report the path as it was sent, both are the decoded path.
    """
    root = str(scope.get("root_path") or "")
    raw = scope.get("raw_path")
    path = _strip_mount_point(root, str(scope["path"]))
    sent = raw.decode("latin-1").partition("?")[0] if isinstance(raw, bytes) else ""
    return path, _strip_mount_point(root, sent) if sent else path


def _strip_mount_point(root: str, path: str) -> str:
    """`path` without the mount point, which must end at a segment boundary."""
    return path[len(root) :] if root and path.startswith(root.rstrip("/") + "/") else path


def is_local(path: str) -> bool:
    """Whether the app has a route for `path`, however it is encoded."""
    try:
        return decoded_segments(path) in (RESOLVE, FINALIZE)
    except RefusalError:
        return False


def resembles_local(path: str) -> bool:
    """Whether some server could read `path`, or a part of it behind a prefix, as a local route."""
    try:
        segments = decoded_segments(path)
    except RefusalError:
        return True  # no way to know how a server would read it
    last = segments[-1].partition(";")[0].strip().lower() if segments else ""
    return last in (RESOLVE[-1], FINALIZE[-1])


_BAD_GATEWAY: Final = 502
MOST_HEADER: Final = 1_024
"""Characters of a header that is read."""
_TEXT: Final = re.compile(rf"[\x20-\x7e]{{0,{MOST_HEADER}}}")
_NAMES_A_RUN: Final = frozenset({"runid", "parentrunid"})
_NAMES_A_CONVERSATION: Final = frozenset(
    {"contextid", "a2acontextid", "conversationid", "xcinatraa2acontextid"}
)
_NAMES_A_TOKEN: Final = frozenset({"runtoken", "xcinatraruntoken"})
_READ: Final = (
    "x-cinatra-a2a-context-id", "x-cinatra-run-token", "x-cinatra-step-node",
    "x-cinatra-context-node", "idempotency-key",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The caller over HTTP, and the authority of the call."""

    identity: BearerIdentity | None
    """The owner of the bearer token that admitted the call; `None` where another proof admitted
    it.
    """
    has_authority: bool
    """Whether the call carried the host's own bridge token."""
    runs: RunDirectory
    attestation_key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarding:
    """A call that may go on to the platform beyond, and has not yet."""

    beyond: Platform
    call: PlatformCall

    def reply(self) -> tuple[int, JsonValue]:
        """The answer of `beyond`: status and body."""
        beyond = self.beyond
        try:
            # `call` gives the value alone, and an error without the members of its body.
            made = beyond.reply(self.call) if isinstance(beyond, RoutedPlatform) else None
            return (200, beyond.call(self.call)) if made is None else (made.status, made.body)
        except PlatformError as error:
            return _write_error(error)

    async def areply(self) -> tuple[int, JsonValue]:
        """As `reply`; holds no thread while a route of functions awaits a model."""
        beyond = self.beyond
        try:
            made = await beyond.areply(self.call) if isinstance(beyond, RoutedPlatform) else None
            if made is None:
                return 200, await beyond.acall(self.call)
        except PlatformError as error:
            return _write_error(error)
        return made.status, made.body


def _write_error(error: PlatformError) -> tuple[int, JsonValue]:
    answered = isinstance(error, PlatformResponseError) and error.status is not None
    status = error.status if answered and error.status is not None else _BAD_GATEWAY
    return status, {"error": error.code, "message": str(error)}


def forwarded(
    beyond: Platform,
    route: ForwardedRoute,
    query: str,
    headers: Mapping[str, str],
    content: bytes,
    *,
    asker: Caller,
    now: float,
) -> Forwarding:
    """The call of `beyond`, which nothing has made yet.

    query:   without its question mark.  headers: by lower-case name; no header that proves the
    caller may come twice.

    Raises: `ContextError`; then nothing was sent.
    """
    if asker.identity is not None and not (
        isinstance(beyond, HoldsProofsBack) and beyond.holds_proofs_back
    ):
        raise ContextError(
            "forbidden", "the platform beyond cannot be called without the host's own proofs"
        )
    body = read_json(content) if content else None
    fields = route.fields(query)
    odd = next((name for name in _READ if _TEXT.fullmatch(headers.get(name, "")) is None), "")
    if odd:
        is_long = len(headers[odd]) > MOST_HEADER
        what = f"has more than {MOST_HEADER:,} characters" if is_long else "is no printable ASCII"
        raise ContextError("invalid_body", f'the header "{odd}" {what}')
    if asker.identity is not None:
        _check_claims(asker.runs, asker.identity, headers, [body, dict(fields)])
    signed = signed_step(headers, asker.attestation_key, now=now)
    answers = isinstance(beyond, RoutedPlatform)
    node = headers.get("x-cinatra-step-node") or headers.get("x-cinatra-context-node", "")
    call = PlatformCall(
        node=node,
        path=node,
        method=route.method,
        url=BASE_URL_PLACEHOLDER + route.path,
        query=fields,
        body=body,
        run_id=_find_run(asker.runs, headers) if answers else "",
        context_id=headers.get("x-cinatra-a2a-context-id", ""),
        idempotency_key=headers.get("idempotency-key", ""),
        credentials=Credentials(
            run_token=headers.get("x-cinatra-run-token", ""), bearer_token=bearer_token(headers)
        ),
        with_own_token=asker.has_authority,
        with_own_signature=signed,
    )
    return Forwarding(beyond=beyond, call=call)


def _find_run(runs: RunDirectory, headers: Mapping[str, str]) -> str:
    """The run whose conversation the request names, where it proves as much as the host asks; empty
    where it does not: a token that is not the run's is worse than none.
    """
    context_id = headers.get("x-cinatra-a2a-context-id", "")
    if not context_id or not isinstance(runs, KnowsConversations):
        return ""
    run_id = runs.run_of_conversation(context_id)
    scope = None if run_id is None else runs.scope(run_id)
    if run_id is None or scope is None:
        return ""
    token = headers.get("x-cinatra-run-token", "")
    if (token or scope.run_token) and not (scope.run_token and same(token, scope.run_token)):
        return ""
    return run_id


def _check_claims(
    runs: RunDirectory,
    identity: BearerIdentity,
    headers: Mapping[str, str],
    values: list[JsonValue],
) -> None:
    """Refuse a request that names a run or conversation of another person.

    Raises: `ContextError` `run_mismatch`, `run_missing`, `context_unresolved`.
    """
    named = list(_find_named_ids(values))
    own = [scope_for(identity, runs, text) for kind, text in named if kind == "run"]
    conversations = [text for kind, text in named if kind == "conversation"]
    conversations.append(headers.get("x-cinatra-a2a-context-id", ""))
    own += [_of_conversation(runs, identity, text) for text in conversations if text]
    tokens = [text for kind, text in named if kind == "token"]
    tokens.append(headers.get("x-cinatra-run-token", ""))
    for token in filter(None, tokens):
        if not any(scope.run_token and same(token, scope.run_token) for scope in own):
            raise ContextError(
                "run_mismatch", "the run token is not the one of a run that the call names"
            )


def _of_conversation(runs: RunDirectory, identity: BearerIdentity, context_id: str) -> RunScope:
    run_id = runs.run_of_conversation(context_id) if isinstance(runs, KnowsConversations) else None
    if run_id is None:
        raise ContextError("context_unresolved", "the host does not know whose the conversation is")
    scope = scope_for(identity, runs, run_id)
    if not same(scope.context_id, context_id):
        raise ContextError("run_mismatch", "the conversation is not the one of this run")
    return scope


def _find_named_ids(values: list[JsonValue]) -> Iterator[tuple[str, str]]:
    """Every run, conversation and run token that a value names, at any depth: kind and id."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()
            for key, inner in value.items():
                kind = _classify_key(key)
                for text in inner if isinstance(inner, list) else [inner]:
                    if kind and text not in (None, ""):
                        yield kind, _check_id(key, text)


def _check_id(key: str, value: JsonValue) -> str:
    if not isinstance(value, str) or "\x00" in value:
        raise ContextError("invalid_body", f'"{key[:80]}" names something by other than text')
    return value


def _classify_key(key: str) -> str:
    """The kind of id that a key holds, in any spelling: `runId`, `run_id`, `parentRunIds`."""
    plain = re.sub(r"[^a-z0-9]", "", key.lower()).removesuffix("s")
    if plain in _NAMES_A_RUN:
        return "run"
    if plain in _NAMES_A_CONVERSATION:
        return "conversation"
    return "token" if plain in _NAMES_A_TOKEN else ""
