"""The routes beyond the local routes that a host forwards: an explicit list, matched exactly.

    routes = read_routes(["POST /api/llm-bridge", "GET /api/models?family"])
    matched(routes, "POST", "/api/llm-bridge")        the route; its own path is called
    matched(routes, "POST", "/api/llm-bridge/")       None, as for every other spelling

An entry is a method, a path, and the allowed names of a query.  There are no prefixes and no
patterns, and nothing is decoded, folded or cleaned before the comparison.  So a path that two
servers could read differently never matches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.platform.origin import RefusalError, decoded_segments

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
