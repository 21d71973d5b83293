"""A client of an MCP server, and one request to it: a call is made once, and the server's answer counts.

await acall(link, "search", {"query": "bees"}, key="9f…")    {"content": […], "isError": False}
await alist(link)                                            [{"name": "search", …}]

Each request has a connection of its own, so that any process can go on with a run.  With `processes.py`, this
is the only module that names the package `mcp`.

Connecting changes nothing, so the server's policy says how often connecting is tried.  A call that was
sent is never sent again here: the ledger of the run says how the run goes on.
"""

from __future__ import annotations

import json
import logging
import ssl
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import field, replace
from typing import Any, Final, Generic, TypeVar

from pydantic import JsonValue

from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.data.text.person_texts import find_hidden
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.governed.secret_values import cut_out
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import NotMade, surely_refused
from cinatra_sdk.outside.mcp.processes import run_program
from cinatra_sdk.outside.mcp.server import McpServer, make_login
from cinatra_sdk.outside.models.attempts import aask_again, is_lost
from cinatra_sdk.outside.remote_answers.foreign_answer import BrokenOff, plain_value, tell_problem
from cinatra_sdk.outside.remote_answers.remote_bounds import USUAL, RemoteBounds
from cinatra_sdk.outside.remote_answers.transport import (
    Exchange,
    bound_transport,
    hide_logs,
    read_origin,
    unlogged,
)

_CONNECT_SECONDS: Final = 30.0
_QUIET: Final = logging.NullHandler()


@asynccontextmanager
async def connect(server: McpServer, lent: Any, exchange: Exchange) -> AsyncIterator[Any]:
    """A connected `mcp.Client`.

    lent: what the host lends in place of the server, anything that `mcp.Client` takes (a server of
    this process, an address); None: the server of the file.

    Raises: `NotConfigured`, and whatever the package raises.
    """
    make_client = _import_client()
    async with AsyncExitStack() as stack:
        if isinstance(lent, str):
            # As the package takes an address, but over the bounded transport.
            timeout = server.read_timeout
            server = McpServer(transport="streamable_http", url=lent, read_timeout=timeout)
        is_ours = lent is None or isinstance(lent, str)
        target = await _open_transport(server, stack, exchange) if is_ours else lent
        hide_logs()
        client = make_client(target, read_timeout_seconds=server.read_timeout)
        yield await stack.enter_async_context(client)


def _import_client() -> Any:
    """`mcp.Client`.  Raises: `NotConfigured`."""
    try:
        from mcp import Client
    except ImportError:
        raise NotConfigured(
            "tools of MCP servers need the package mcp", hint="pip install 'oasflow[mcp]'"
        ) from None
    # Without a handler of the host's, Python would print the package's warnings and tracebacks.
    for name in ("mcp", "client"):
        logging.getLogger(name).addHandler(_QUIET)
    return Client


async def _open_transport(server: McpServer, stack: AsyncExitStack, exchange: Exchange) -> Any:
    if server.transport == "stdio":
        return _make_program(server, exchange)
    verify = _read_certificates(server)
    headers = {**server.headers, **server.sensitive_headers}
    login = None
    if server.login is not None:
        login = make_login(server.login, server.url, server.label, exchange.held.append)
    make = _make_factory(verify, exchange)
    exchange.answers_in = "event" if server.transport == "sse" else "typed body"
    if server.transport == "sse":
        from mcp.client.sse import sse_client

        return sse_client(
            server.url, headers, _CONNECT_SECONDS, server.read_timeout, make, auth=login
        )
    from mcp.client.streamable_http import streamable_http_client

    http = await stack.enter_async_context(make(headers, None, login, read=server.read_timeout))
    return streamable_http_client(
        server.url, http_client=http, max_sse_event_size=exchange.bounds.answer_bytes
    )


def _make_program(server: McpServer, exchange: Exchange) -> Any:
    if sys.platform != "win32":
        return run_program(server, exchange)
    from mcp.client.stdio import StdioServerParameters

    return StdioServerParameters(
        command=server.command,
        args=list(server.args),
        env=dict(server.env),
        cwd=server.cwd or None,
    )


def _make_factory(verify: ssl.SSLContext | bool, exchange: Exchange) -> Callable[..., Any]:
    import httpx2

    def make(
        headers: Mapping[str, str] | None = None,
        timeout: Any = None,
        auth: Any = None,
        *,
        read: float | None = None,
    ) -> Any:
        usual = httpx2.Timeout(_CONNECT_SECONDS, read=read)
        inner = httpx2.AsyncHTTPTransport(verify=verify)
        return httpx2.AsyncClient(
            headers=dict(headers or {}),
            timeout=timeout or usual,
            auth=auth,
            transport=bound_transport(httpx2, inner, exchange),
        )

    return make


def _read_certificates(server: McpServer) -> ssl.SSLContext | bool:
    """Raises: `NotConfigured` for a file that cannot be read."""
    if not (server.cert_file or server.ca_file):
        return True
    try:
        context = ssl.create_default_context(cafile=server.ca_file or None)
        if server.cert_file:
            context.load_cert_chain(server.cert_file, server.key_file or None)
    except (OSError, ssl.SSLError) as error:
        raise NotConfigured(
            f"the certificates of the MCP server '{server.label}' cannot be read: "
            f"{type(error).__name__}",
            hint="see key_file, cert_file and ca_file of its transport",
        ) from None
    return context


# ----------------------------------------------------------------------------
# The list of a server's tools: of all its pages, each tool within bounds and in plain letters.


async def read_list(client: Any, bounds: RemoteBounds) -> list[dict[str, JsonValue]]:
    """The tools, as MCP has them; client: an `mcp.Client`.

    Raises: `BrokenOff`, and whatever the package raises.
    """
    found: list[dict[str, JsonValue]] = []
    named: dict[str, JsonValue] = {}
    seen: set[str] = set()
    cursor: str | None = None
    for _ in range(bounds.pages):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            listed = tool.model_dump(mode="json", by_alias=True)
            require_bounded(listed, bounds)
            plain = plain_value(listed)
            if named.setdefault(plain["name"], plain) != plain:
                raise BrokenOff(f"it lists its tool '{plain['name'][:80]}' in two ways")
            found.append(plain)
        if len(found) > bounds.tools:
            raise BrokenOff(bounds.describe("tools", "it has more than {} tools"))
        cursor = page.next_cursor
        if not cursor:
            return found
        if cursor in seen:
            raise BrokenOff("its list of tools leads back to a page that was read")
        seen.add(cursor)
    raise BrokenOff(bounds.describe("pages", "its list of tools has more than {} pages"))


def require_bounded(tool: dict[str, Any], bounds: RemoteBounds) -> None:
    """Raises: `BrokenOff` for a tool that says too much, or whose name cannot be shown."""
    name, about = str(tool.get("name") or ""), str(tool.get("description") or "")
    if len(name) > bounds.name_letters:
        raise BrokenOff(
            bounds.describe("name_letters", "a tool of it has a name of more than {} letters")
        )
    if find_hidden(name) or name != name.strip() or not name:
        raise BrokenOff("a tool of it has no name, or one with letters that nobody sees")
    if len(about) > bounds.description_letters:
        words = f"more than {{}} letters describe its tool '{name[:80]}'"
        raise BrokenOff(bounds.describe("description_letters", words))
    schema = json.dumps(tool.get("inputSchema"), ensure_ascii=False, allow_nan=False)
    if len(schema.encode("utf-8", "replace")) > bounds.schema_bytes:
        words = f"more than {{}} bytes are the schema of its tool '{name[:80]}'"
        raise BrokenOff(bounds.describe("schema_bytes", words))


KEY: Final = "oasflow/idempotency-key"
"""Of a request's `_meta`: names the effect for good, so that a server can tell a repetition."""
_CLOSED: Final = frozenset({-32000, -32001})
"""Codes of the package for a connection that was closed, and an answer that took too long."""
_TOO_LATE: Final = -32001
_NO_SUCCESS: Final = "HTTPStatusError"
"""Class name of the package's error for a status where nothing was asked yet."""
_LIST_ANSWERS: Final = 5
"""A list of tools takes as long as so many answers, whatever number of pages it has."""
_GRACE_SECONDS: Final = 1.0
"""The package's own clock comes first: it tells which request took too long."""
_CLOSE_SECONDS: Final = 10.0
_NOT_NOW: Final = 429
_T = TypeVar("_T")


class RequestFailed(Exception):
    """What went wrong with a request, in one line without the client's own groups of errors."""

    held: tuple[str, ...] = ()
    """Secrets that came up on the way, and must not be shown."""
    was_answered: bool = False
    """Whether the server said so itself: it runs."""


class ConnectionLost(RequestFailed, ConnectionError):
    """The connection was lost, or the answer took too long: a later try may help."""


class RequestRefused(RequestFailed, NotMade):
    """The request was surely not made, and will not be."""


class ServerUnreachable(ConnectionLost, NotMade):
    """The request was surely not made; a later try may help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLink:
    """A server, and how this process reaches it."""

    server: McpServer
    lent: Any = field(default=None, repr=False)
    """What the host lends in its place."""
    rules: CallRetryPolicy
    may_call: Callable[[str], bool] = field(default=lambda _address: False, repr=False)
    """Whether the operator opens an address, to which a login or a redirect leads."""
    bounds: RemoteBounds = USUAL

    def opens(self, address: str) -> bool:
        """Whether a request may go to the address."""
        if isinstance(self.lent, str):
            return read_origin(address) == read_origin(self.lent) or self.may_call(address)
        # The protocol of the transport names the address for messages on the way, within the origin.
        is_own = address == self.server.url or (
            self.server.transport == "sse" and address.startswith(f"{self.server.origin}/")
        )
        return is_own or self.may_call(address)


def link_lent(name: str, lent: Any, bounds: RemoteBounds = USUAL) -> ServerLink:
    """A server that the host lends under a name, of which no file says more."""
    server = McpServer(name=name, transport="streamable_http")
    return ServerLink(server=server, lent=lent, rules=server.retry, bounds=bounds)


async def acall(
    link: ServerLink, tool: str, arguments: Mapping[str, JsonValue], key: str
) -> dict[str, JsonValue]:
    """The result as MCP has it; `isError`: the tool itself says that it failed.

    Raises: `NotConfigured`, `RequestFailed`.
    """

    async def ask(client: Any) -> dict[str, JsonValue]:
        return await _call_tool(client.session, tool, dict(arguments), key)

    async def attempt() -> dict[str, JsonValue] | Exception:
        one = _Attempt(link=link, ask=ask, seconds=link.server.read_timeout)
        try:
            return await one.run()
        except (RequestFailed, NotConfigured) as error:
            if not one.asked:
                raise
            return error  # it may have been done: not to be tried again

    rules = replace(link.rules, request_timeout=None)
    outcome = await aask_again(rules, attempt, between=_nothing)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


async def alist(link: ServerLink) -> list[dict[str, JsonValue]]:
    """The tools of the server, of all pages.

    Raises: `NotConfigured`, `RequestFailed`.
    """

    async def ask(client: Any) -> list[dict[str, JsonValue]]:
        return await read_list(client, link.bounds)

    async def attempt() -> list[dict[str, JsonValue]]:
        seconds = _LIST_ANSWERS * link.server.read_timeout
        return await _Attempt(link=link, ask=ask, seconds=seconds).run()

    rules = replace(link.rules, request_timeout=None)
    return await aask_again(rules, attempt, between=_nothing)


def read_text(result: Mapping[str, Any]) -> str:
    """The texts of a result; anything else is named by its kind."""
    blocks = result.get("content")
    return "\n".join(map(_describe_block, blocks if isinstance(blocks, list) else ()))


def _describe_block(block: Any) -> str:
    if not isinstance(block, dict):
        return ""
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text") or "")
    if kind == "resource" and isinstance(block.get("resource"), dict):
        inside = block["resource"]
        return str(inside.get("text") or f"[resource {inside.get('uri', '')}]")
    if kind == "resource_link":
        return f"[resource {block.get('uri', '')}]"
    return f"[{kind} {block.get('mimeType', '')}]".replace(" ]", "]")


async def _call_tool(
    session: Any, tool: str, arguments: dict[str, JsonValue], key: str
) -> dict[str, JsonValue]:
    # The package's own `call_tool` asks for the list of tools after the answer, and judges the answer
    # by a schema of the server's: the answer would be lost with the list.
    from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult

    told = {"name": tool, "arguments": arguments, "_meta": {KEY: key}}
    parameters = CallToolRequestParams.model_validate(told)
    made = await session.send_request(CallToolRequest(params=parameters), CallToolResult)
    found: dict[str, JsonValue] = made.model_dump(mode="json", by_alias=True, exclude_none=True)
    if made.structured_content is not None:
        # As it came: the package makes null of a number that is not finite.
        found["structuredContent"] = made.structured_content
    return found


@dataclass(slots=True, kw_only=True)
class _Attempt(Generic[_T]):
    """One connection, and one question."""

    link: ServerLink
    ask: Callable[[Any], Awaitable[_T]]
    seconds: float
    """That the answer may take."""
    asked: bool = False
    """Whether the question may have been put: until then nothing was done."""
    began: float = field(init=False, default_factory=time.monotonic)
    exchange: Exchange = field(init=False)

    def __post_init__(self) -> None:
        bounds = self.link.bounds
        self.exchange = Exchange(
            bounds=bounds, may_call=self.link.opens, most_requests=bounds.requests
        )

    async def run(self) -> _T:
        """Raises: `NotConfigured`, `RequestFailed`."""
        answers: list[_T] = []
        problem: Exception = TimeoutError()
        try:
            with unlogged():
                await self._exchange_words(answers)
        except BaseExceptionGroup as group:
            problem = _find_cause(group)
        except Exception as error:  # noqa: BLE001 - the package raises anything
            problem = error
        if answers:
            # Whatever went wrong after the answer changes nothing of it.
            return cut_out(answers[0], self.exchange.held)  # type: ignore[arg-type, return-value] # JSON goes in and comes out
        # Out here: the package's groups would be dragged along, with the request in them.
        raise self._describe(problem)

    async def _exchange_words(self, answers: list[_T]) -> None:
        from anyio import CancelScope, current_time

        link = self.link
        most = link.rules.request_timeout or float("inf")
        connect_seconds = min(link.bounds.connect_seconds, most)
        with CancelScope(deadline=current_time() + connect_seconds) as scope:
            async with connect(link.server, link.lent, self.exchange) as client:
                scope.deadline = current_time() + min(self.seconds + _GRACE_SECONDS, most)
                self.asked = True
                self.exchange.begin_question()
                answers.append(await self.ask(client))
                scope.deadline = current_time() + _CLOSE_SECONDS

    def _describe(self, error: Exception) -> Exception:
        found = self._find_words(error)
        if isinstance(found, RequestFailed):
            found.held = tuple(self.exchange.held)
        return found

    def _find_words(self, error: Exception) -> Exception:
        exchange, label = self.exchange, self.link.server.label
        if exchange.closed:
            return NotConfigured(
                f"the MCP server '{label}' leads to {exchange.closed}, which this process does not open",
                hint="add it to `allow` (--allow at the command line)",
            )
        if isinstance(error, (NotConfigured, RequestFailed)):
            return error
        code = getattr(error, "code", None)
        is_own = (
            exchange.is_refused and code is not None
        )  # first: what comes after it changes nothing
        if (exchange.broken or isinstance(error, BrokenOff)) and not is_own:
            return self._fail(exchange.broken or str(error))
        if isinstance(error, TimeoutError) or self._has_waited(error):
            return self._fail(self._describe_wait(), is_lost=True)
        if exchange.status:
            return self._describe_status(error)
        if code in _CLOSED:
            if self._is_closed(error):
                return self._fail("the connection was closed before an answer came", is_lost=True)
            # What a server says itself under one of the package's numbers are its own words.
            return self._fail(str(error) or "it answered with an error")
        return self._describe_other(error)

    def _describe_other(self, error: Exception) -> Exception:
        """An error that says itself what went wrong, or whose kind does."""
        kind = type(error).__name__
        if kind == _NO_SUCCESS:
            words = f"status {self.exchange.newest_status}, where its events are to come"
            found = self._fail(words, is_lost=is_lost(error))
            found.was_answered = True
            return found
        if is_lost(error):
            return self._fail(f"{kind}: {error}", is_lost=True)
        if isinstance(error, OSError):
            named = f" '{error.filename}'" if error.filename else ""
            return self._fail(f"{kind}: {error.strerror or error}{named}")
        if kind == "ValidationError":
            return self._fail("what it answered is no answer of the protocol")
        return self._fail(str(error) or kind)

    def _is_closed(self, error: Exception) -> bool:
        """Whether an error under one of the package's own numbers is the package's."""
        is_ours = self.link.lent is None or isinstance(self.link.lent, str)
        code = getattr(error, "code", None)
        if not is_ours and code == _TOO_LATE:
            # Nothing is seen of what a server of this process sends.
            return self._has_taken_its_time()
        return not self.exchange.is_refused and code in _CLOSED

    def _has_taken_its_time(self) -> bool:
        return time.monotonic() - self.began >= min(self.seconds, self.link.server.read_timeout)

    def _has_waited(self, error: Exception) -> bool:
        """Whether the package tells that an answer took too long.

        Servers use its number for what they say themselves, such as "Session not found".
        """
        return getattr(error, "code", None) == _TOO_LATE and self._is_closed(error)

    def _describe_wait(self) -> str:
        if not self.asked:
            within = self.link.bounds.describe("connect_seconds", "within {} seconds")
            return f"it cannot be asked {within}"
        return f"no answer within {self.seconds:g} seconds (read_timeout_seconds of its transport)"

    def _describe_status(self, error: Exception) -> Exception:
        # Without an error of the server's own, the words are the package's and say no more.
        status, text = self.exchange.status, str(error) if self.exchange.is_refused else ""
        words = f"status {status}: {text}" if text else f"status {status}"
        lost = status == _NOT_NOW or status >= 500
        found = self._fail(words, is_lost=lost, surely_not=surely_refused(status))
        found.was_answered = True
        return found

    def _fail(
        self, words: str, *, is_lost: bool = False, surely_not: bool = False
    ) -> RequestFailed:
        words = tell_problem(words, (*self.link.server.secrets, *self.exchange.held))
        if self.asked and not surely_not:
            return ConnectionLost(words) if is_lost else RequestFailed(words)
        return ServerUnreachable(words) if is_lost else RequestRefused(words)


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
