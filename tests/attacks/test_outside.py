"""MCP servers, agents behind A2A and models that lie or fail, over real processes and connections."""

from __future__ import annotations

import asyncio
import json
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import HostParts
from cinatra_sdk.data.json_values import check_value
from cinatra_sdk.data.ports import ArrayType, ObjectType, ScalarType, UnionType, port
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.data.text.person_texts import find_hidden
from cinatra_sdk.errors import NotConfigured, ValueRefused
from cinatra_sdk.flow.nodes.mcp_tool_node import ResultUnusable, read_outputs
from cinatra_sdk.flow.plan import casts as flow_results
from cinatra_sdk.flow.plan.casts import CastError
from cinatra_sdk.outside.a2a import message
from cinatra_sdk.outside.a2a.message import AgentFailed, AgentWay, Said, asay
from cinatra_sdk.outside.a2a.remote_agent import RemoteAgent
from cinatra_sdk.outside.effects.effect import NotMade
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.mcp import calls, processes
from cinatra_sdk.outside.mcp.calls import RequestFailed, ServerLink, acall, alist, read_text
from cinatra_sdk.outside.mcp.server import McpServer
from cinatra_sdk.outside.remote_answers import foreign_answer, transport
from cinatra_sdk.outside.remote_answers.remote_bounds import RemoteBounds
from cinatra_sdk.outside.remote_answers.transport import Exchange
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.a2a.test_remote_agents import remote
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, tests_of
from tests.attacks.lies import TOKEN
from tests.attacks.lying_hosts import served
from tests.flows import port as port_of
from tests.mcp.test_mcp_tools import STDIO, mcp_tool, tool_flow

ROOT = Path(__file__).parents[2]
BOUNDS = RemoteBounds(
    answer_bytes=200_000, connect_seconds=20, pages=8, tools=50, name_letters=100, requests=40,
    redirects=3, schema_bytes=50_000, values=6_000,
)  # fmt: skip
SHORT, LONG = 0.5, 20.0
"""Seconds that an answer may take: where none comes, and where one does."""
SILENT = (
    "hangs",
    "only notifications",
    "drips",
    "works for ever",
    "hints without end",
    "events of another kind",
)
"""What is waited for in vain, once it was asked."""
STRANGERS = (
    "another id", "the id as a text", "the id as a fraction", "the id with a point", "true for an id",
    "the id in a list", "the id of the beginning", "an error for the id as a text",
)  # fmt: skip
"""Answers to other requests."""
QUICK = replace(BOUNDS, connect_seconds=1)
NEVER_READY = (
    "a huge address",
    "no address",
    "comments",
    "the address elsewhere",
    "another scheme",
    "begin hangs",
    "never reads",
)
"""What never gets to where it can be asked."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    log = tmp_path_factory.mktemp("outside") / "log"
    with served(log) as address:
        yield address, log


def hosted(place: Place) -> tuple[str, Path]:
    address, log = place.request.getfixturevalue("host")
    log.write_text("", encoding="utf-8")
    return address, log


def made(log: Path) -> int:
    return len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0


# ------------------------------------------------------------------------ what came of it


REASONS = {
    "RemoteBounds(": "bound", "no JSON": "no JSON", "another request": "another's", "another task": "another's",
    "another context": "another's", "what it was told": "another's", "back to where": "another's",
    "names no task": "another's", "compressed": "compressed", "no answer within": "no answer", "about its task within": "no answer", "does not come within": "no answer",
    "cannot be asked": "no answer", "leads back": "a page twice", "in two ways": "a name twice", "status ": "status",
    "letters that nobody sees": "hidden letters", "its task is": "not done", "are for": "another origin", "redirected what": "redirected",
    "Session not found": "its own words",
}  # fmt: skip


LIBRARIES = (
    "pydantic", "input_value", "Traceback", "0x7", "MCPError", "AgentCardResolution", "HTTPStatusError",
    "Unexpected content", "Client error", "developer.mozilla",
)  # fmt: skip
"""Words of the packages, which nobody is shown."""


def tell(error: Exception) -> str:
    """`surely not made: bound answer_bytes`, and `opened` where a text is not fit to be shown."""
    shown = str(error)
    of_library = any(word in shown for word in LIBRARIES)
    if TOKEN in shown or not shown.isprintable() or len(shown) > 400 or of_library:
        return "opened: what it says is shown"
    if isinstance(error, NotConfigured):
        return "not opened"
    why = next((word for part, word in REASONS.items() if part in str(error)), "failed")
    if why == "bound":
        why += " " + str(error).partition("RemoteBounds(")[2].partition("=")[0]
    return f"{'surely not made' if isinstance(error, NotMade) else 'unknown'}: {why}"


def ask(link: ServerLink, log: Path) -> str:
    try:
        result = asyncio.run(acall(link, "send", {}, "key-1"))
        check_value(result.get("structuredContent"), where="it")
    except (RequestFailed, NotConfigured, ValueRefused) as error:
        return f"{made(log)} call, {tell(error)}"
    told = "answered with another" if "other" in read_text(result) else "answered"
    return f"{made(log)} call, {told}"


def list_tools(link: ServerLink, _log: Path) -> str:
    try:
        tools = asyncio.run(alist(link))
    except (RequestFailed, NotConfigured) as error:
        return tell(error).partition(": ")[2] or tell(error)
    about = "".join(str(one.get("description")) + str(one["name"]) for one in tools)
    return "opened" if find_hidden(about) else f"{len(tools)} tools"


# ------------------------------------------------------------------------ doors


def make_link(server: McpServer, bounds: RemoteBounds, address: str = "") -> ServerLink:
    return ServerLink(
        server=server, rules=CallRetryPolicy(initial_retry_delay=0.01, max_attempts=bounds is BOUNDS), bounds=bounds,
        may_call=lambda url: bool(address) and url.startswith((f"{address}/mcp/", f"{address}/events/")),
    )  # fmt: skip


def timed(lie: str, act: Any) -> tuple[float, RemoteBounds]:
    waits = lie in SILENT or (lie == "list: hangs" and act is list_tools)
    return SHORT if waits else LONG, QUICK if lie in NEVER_READY else BOUNDS


def program(lie: str, place: Place, act: Callable[[ServerLink, Path], str]) -> str:
    log = place.folder / "log"
    place.monkeypatch.setattr(processes, "END_SECONDS", 0.5)
    seconds, bounds = timed(lie, act)
    seconds = SHORT if lie in STRANGERS else seconds  # the right one may still come
    server = McpServer(
        name="s", transport="stdio", command=sys.executable, cwd=str(ROOT), read_timeout=seconds,
        env={"KEY": TOKEN},
        args=("-m", "tests.attacks.lies", lie, str(log)),
    )  # fmt: skip
    return act(make_link(server, bounds), log)


def web(kind: str, act: Callable[[ServerLink, Path], str]) -> Callable[[str, Place], str]:
    def attempt_it(lie: str, place: Place) -> str:
        address, log = hosted(place)
        seconds, bounds = timed(lie, act)
        url = f"{address}/{kind}/{lie}".replace(" ", "%20")
        server = McpServer(
            name="s", transport="sse" if kind == "sse" else "streamable_http", url=url, read_timeout=seconds,
            sensitive_headers={"X-Key": TOKEN},
        )  # fmt: skip
        return act(make_link(server, bounds, address), log)

    return attempt_it


def tell_agent(lie: str, place: Place, said: Said = Said(text="Rome?")) -> str:
    address, log = hosted(place)
    waits = lie in SILENT
    agent = RemoteAgent(
        name="a", url=f"{address}/agent/{lie}/".replace(" ", "%20"), headers={"X-Key": TOKEN},
        timeout=SHORT if waits else LONG, poll_interval=0.02, retries=1,
        request_timeout=1.0 if lie in ("card: drips", "card: hints without end") else LONG,
    )  # fmt: skip
    opened = (address, address.replace("127.0.0.1", "localhost"))
    way = AgentWay(agent=agent, may_call=lambda url: url.startswith(opened), bounds=BOUNDS)
    try:
        answer = asyncio.run(asay(way, said, f"key-of-{lie}"))
    except (AgentFailed, NotConfigured) as error:
        return f"{made(log)} message, {tell(error)}"
    done = "answered" if answer["state"] == "completed" and answer["text"] else "not done"
    return f"{made(log)} message, {done}"


def tell_leaving(lie: str, place: Place) -> str:
    """An agent of its own, which nobody reaches any more."""
    log = place.folder / "log"
    with served(log) as address:
        place.monkeypatch.setattr(f"{__name__}.hosted", lambda _place: (address, log))
        return tell_agent(lie, place)


def go_on(value: Any, place: Place) -> str:
    """An answer within a task that has begun."""
    lie, task, context = value
    return tell_agent(lie, place, Said(text="The Grand", task=task, context=context))


SECRET = "s3cret-of-the-file-5519"
WAYS: dict[str, tuple[dict[str, str], str]] = {
    "a bearer token": ({"Authorization": f"Bearer {SECRET}"}, ""),
    "a token under another name": ({"X-Team": f"Token {SECRET}"}, ""),
    "a user and a password": ({"Authorization": "Basic " + b64encode(f"bob:{SECRET}".encode()).decode()}, ""),
    "a cookie": ({"Cookie": f"theme=dark; session={SECRET}"}, ""),
    "a key in the query": ({}, f"?api_key={SECRET}"),
}  # fmt: skip
"""Headers, and the query of the address."""
OPTIONS = {
    "an option": ["--api-key", SECRET], "an option in one": [f"--token={SECRET}"],
    "a header as an option": ["--header", f"Authorization: Bearer {SECRET}"],
}  # fmt: skip


def repeat_it(value: Any, place: Place) -> str:
    """A whole flow, whose server or agent gives back what it was sent."""
    whom, way, kind = value
    address, _log = hosted(place)
    allowed = [address]
    path = f"/{whom}/repeats:%20{kind}"
    transport: dict[str, Any]
    if whom == "program":
        args = [
            "-m",
            "tests.attacks.lies",
            f"repeats: {kind}",
            str(place.folder / "log"),
            *OPTIONS[way],
        ]
        transport = {**STDIO, "args": args}
    else:
        headers, query = WAYS[way]
        url = address + path + ("/" if whom == "agent" else "") + query
        transport = {
            "component_type": "StreamableHTTPTransport", "id": "s", "name": "s", "url": url, "headers": headers,
        }  # fmt: skip
    if whom == "agent":
        agent = remote(url, outputs=[port_of("said")])
        agent["connection_config"]["headers"] = headers
        flow, inputs = {**agent, "agentspec_version": "26.1.0"}, {"user_message": "Rome?"}
    else:
        flow, inputs = tool_flow(mcp_tool("send", [], [port_of("said")], transport)), {}
    host = HostParts(allow=allowed, blocked_components=())
    ran = drive(compile_flow(flow, host=host), inputs, platform=HttpPlatform(None))
    shown = f"{ran!r} {ran.outputs} {ran.error} {ran.messages}"
    assert ran.status in {"completed", "failed"}
    if kind in {"text", "structured"} and ran.status != "completed":
        return f"it failed: {ran.error}"
    return "opened" if SECRET in shown or SECRET[::-1] in shown else "masked"


TYPES: dict[str, Any] = {
    "integer": ScalarType("integer"), "number": ScalarType("number"), "boolean": ScalarType("boolean"),
    "string": ScalarType("string"), "integers": ArrayType(ScalarType("integer")),
    "object": ObjectType((("n", ScalarType("integer")),)), "any": ScalarType("any"),
    "integer or null": UnionType((ScalarType("integer"), ScalarType("null"))),
    "rows": ArrayType(ObjectType((("n", ScalarType("integer")),))),
}  # fmt: skip
SPECIAL = {
    "nan": float("nan"),
    "infinite": float("inf"),
    "too large": 2**70,
    "minus infinite": float("-inf"),
}


def read_value(value: Any, _place: Place) -> str:
    """A value from a server, in an output of a type."""
    kind, given = value
    given = SPECIAL.get(given, given) if isinstance(given, str) else given
    wanted = port("out", TYPES[kind])
    try:
        check_value(given, where="it")
        # Of two outputs each is a member: a single one may take the whole result in other ways.
        both = (wanted, port("more", TYPES["any"]))
        found = read_outputs(both, {"structuredContent": {"out": given, "more": 1}})["out"]
    except (ResultUnusable, ValueRefused, CastError):
        return "refused"
    return type(found).__name__


DOORS: Mapping[str, Callable[[Any, Place], str]] = {
    "a program is asked": lambda lie, place: program(lie, place, ask),
    "a program lists its tools": lambda lie, place: program(f"list: {lie}", place, list_tools),
    "a server is asked": web("mcp", ask),
    "a server sends events": web("events", ask),
    "a server lists its tools": lambda lie, place: web("mcp", list_tools)(f"list: {lie}", place),
    "an older server is reached": web("sse", ask),
    "an agent is told": tell_agent,
    "an agent leaves": tell_leaving,
    "an agent goes on": go_on,
    "it is repeated": repeat_it,
    "a value is read": read_value,
}


def attempt(attack: Attack, place: Place) -> str:
    return DOORS[attack.door.partition(",")[0]](attack.value, place)


# ------------------------------------------------------------------------ controls


def patched(target: Any, name: str, value: Any) -> Callable[[Place], AbstractContextManager[Any]]:
    @contextmanager
    def opened(place: Place) -> Iterator[None]:
        with place.monkeypatch.context() as patch:
            patch.setattr(target, name, value)
            yield

    return opened


async def asked_by_the_package(session: Any, tool: str, arguments: Any, key: str) -> Any:
    found = await session.call_tool(tool, arguments, meta={calls.KEY: key})
    return found.model_dump(mode="json", by_alias=True, exclude_none=True)


def nothing_is_foreign(_value: Any, _asked: Any) -> bool:
    return False


def own_whatever(_conversation: Any, _task: Any) -> None:
    """Takes any task."""


@contextmanager
def forgotten(place: Place) -> Iterator[None]:
    """A talk does not know that its message was answered."""
    with place.monkeypatch.context() as patch:
        patch.setattr(message._Talk, "_answered", NeverTrue(), raising=False)
        yield


class NeverTrue:
    """In place of what a talk knows: forgets that it is set."""

    def __get__(self, _talk: Any, _owner: Any) -> bool:
        return False

    def __set__(self, _talk: Any, _value: bool) -> None:
        pass


def as_it_is(wanted: Any, value: Any) -> Any:
    return value


def any_size(_exchange: Any, _size: int) -> None:
    """Takes any size."""


def lenient(text: bytes, asked: Any) -> Any:
    value = json.loads(text)
    return foreign_answer.is_foreign(value, asked) and value


async def package_reads(client: Any, _bounds: Any) -> Any:
    page = await client.list_tools()
    return [one.model_dump(mode="json", by_alias=True) for one in page.tools]


def said_as_it_came(text: str, _secrets: Any) -> str:
    return text


def program_row(form: str) -> str:
    return f"a_program_is_asked-{form}"


CONTROLS = {
    "the package makes the call, and asks for the list": Control(
        open=patched(calls, "_call_tool", asked_by_the_package),
        row=program_row("the_list_dies_after_the_answer"),
    ),
    "a schema of the server judges the answer": Control(
        open=patched(calls, "_call_tool", asked_by_the_package),
        row="a_server_is_asked-the_list_dies_after_the_answer",
    ),
    "answers to other requests count": Control(
        open=patched(foreign_answer, "is_foreign", nothing_is_foreign),
        row="an_agent_is_told-another_id",
    ),
    "a status says what its body is": Control(
        open=patched(transport, "judge_refusal", lambda *_: None),
        row="a_server_is_asked-400:_another_id",
    ),
    "answers to other requests count in events": Control(
        open=patched(foreign_answer, "is_foreign", nothing_is_foreign),
        row="a_server_sends_events-another_id",
    ),
    "tasks of others count": Control(
        open=patched(message.ExpectedAnswer, "require_own", own_whatever),
        row="an_agent_is_told-another_task",
    ),
    "an error of a look is one of the message": Control(
        open=forgotten,
        row="an_agent_is_told-status_404_at_a_look",
    ),
    "a look that finds nobody is a message that found nobody": Control(
        open=forgotten,
        row="an_agent_leaves-gone_at_a_look",
    ),
    "any size is taken": Control(
        open=patched(Exchange, "require_size", any_size), row="a_server_is_asked-huge"
    ),
    "any line is taken": Control(
        open=patched(Exchange, "require_size", any_size), row=program_row("a_huge_line")
    ),
    "numbers that JSON lacks are read": Control(
        open=patched(processes, "judge_answer", lenient), row=program_row("nan")
    ),
    "lists have no bounds": Control(
        open=patched(calls, "read_list", package_reads),
        row="a_server_lists_its_tools-too_many_tools",
    ),
    "null is a number": Control(
        open=patched(flow_results, "_find_null", lambda *_: ""),
        row="a_value_is_read-null_as_integer",
    ),
    "errors are shown as they came": Control(
        open=patched(calls, "tell_problem", said_as_it_came),
        row=program_row("escapes_in_its_error"),
    ),
    "secrets are shown as they came": Control(
        open=patched(message, "tell_problem", said_as_it_came),
        row="an_agent_is_told-the_token_in_its_error",
    ),
    "any address may be called": Control(
        open=patched(Exchange, "require_open", lambda *_: None),
        row="an_agent_is_told-card:_another_origin",
    ),
    "redirects are followed for a question": Control(
        open=patched(Exchange, "count_redirect", lambda *_: None),
        row="a_server_is_asked-leads_in_a_circle",
    ),
}

test_attack, test_twin, test_control = tests_of("outside", attempt, CONTROLS)
