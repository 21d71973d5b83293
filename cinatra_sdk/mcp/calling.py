"""One request to an MCP server, tried as often as its policy says.

await acall(link, "search", {"query": "bees"}, key="9f…")    {"content": […], "isError": False}
await alist(link)                                            [{"name": "search", …}]
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from pydantic import JsonValue

from cinatra_sdk.mcp.connecting import connect
from cinatra_sdk.mcp.server import McpServer
from cinatra_sdk.models.failures import is_lost
from cinatra_sdk.models.retrying import aask_again
from cinatra_sdk.values.retry_policy import CallRetryPolicy

KEY: Final = "oasflow/idempotency-key"
"""Of a request's `_meta`: names the effect for good, so that a server can tell a repetition."""
MOST_TOOLS: Final = 500
_CLOSED: Final = frozenset({-32000, -32001})
"""Codes of the package for a connection that was closed, and an answer that took too long."""
_T = TypeVar("_T")


class RequestFailed(Exception):
    """What went wrong with a request, in words without the client's own groups of errors."""


class ConnectionLost(RequestFailed, ConnectionError):
    """The connection was lost: a later try may help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLink:
    """A server, and how this process reaches it."""

    server: McpServer
    lent: Any = field(default=None, repr=False)
    """What the host lends in its place."""
    rules: CallRetryPolicy
    may_call: Callable[[str], bool] = field(default=lambda _address: False, repr=False)
    """Whether the operator opens an address, to which a login leads."""


async def acall(
    link: ServerLink, tool: str, arguments: Mapping[str, JsonValue], key: str
) -> dict[str, JsonValue]:
    """The result as MCP has it; `isError`: the tool itself says that it failed.

    Raises: `NotConfigured`, `RequestFailed`.
    """

    async def ask(client: Any) -> dict[str, JsonValue]:
        made = await client.call_tool(tool, dict(arguments), meta={KEY: key})
        found: dict[str, JsonValue] = made.model_dump(mode="json", by_alias=True, exclude_none=True)
        return found

    return await _request(link, ask)


async def alist(link: ServerLink) -> list[dict[str, JsonValue]]:
    """The tools of the server, of all pages.

    Raises: `NotConfigured`, `RequestFailed`.
    """

    async def ask(client: Any) -> list[dict[str, JsonValue]]:
        found: list[dict[str, JsonValue]] = []
        cursor: str | None = None
        while True:
            page = await client.list_tools(cursor=cursor)
            found += [tool.model_dump(mode="json", by_alias=True) for tool in page.tools]
            cursor = page.next_cursor
            if len(found) > MOST_TOOLS:
                raise RequestFailed(f"it has more than {MOST_TOOLS} tools")
            if not cursor:
                return found

    return await _request(link, ask)


async def _request(link: ServerLink, ask: Callable[[Any], Awaitable[_T]]) -> _T:
    async def attempt() -> _T:
        problem: Exception
        try:
            async with connect(link.server, link.lent, link.may_call) as client:
                return await ask(client)
        except BaseExceptionGroup as group:
            problem = _find_cause(group)
        except Exception as error:  # noqa: BLE001 - the package raises anything
            problem = error
        # Out here: the package's groups would be dragged along, with the request in them.
        raise _describe(problem)

    return await aask_again(link.rules, attempt, between=_nothing)


def _nothing() -> None:
    """Nobody watches the tries of a request."""


def _find_cause(group: BaseExceptionGroup[BaseException]) -> Exception:
    """The first error of nested groups; a cancellation and the like go on as they are."""
    for one in group.exceptions:
        if isinstance(one, BaseExceptionGroup):
            return _find_cause(one)
        if not isinstance(one, Exception):
            raise one
    found = group.exceptions[0]
    assert isinstance(found, Exception)
    return found


def _describe(error: Exception) -> Exception:
    from cinatra_sdk.errors import NotConfigured

    if isinstance(error, (NotConfigured, RequestFailed)):
        return error
    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(status, int):
        lost = status in {429, 500, 502, 503, 504}
        return (ConnectionLost if lost else RequestFailed)(f"status {status}")
    if is_lost(error) or getattr(error, "code", None) in _CLOSED:
        return ConnectionLost(f"{type(error).__name__}: {error}"[:300])
    if isinstance(error, OSError):
        named = f" '{error.filename}'" if error.filename else ""
        return RequestFailed(f"{type(error).__name__}: {error.strerror or error}{named}"[:300])
    return RequestFailed(str(error)[:300] or type(error).__name__)
