"""One message to an agent behind A2A, and its answer: the only module that names the package `a2a`.

    await asay(way, Said(text="Two nights in Rome"), key="9f…")
        ->  {"state": "completed", "text": "Booked.", "data": {}, "task": "t1", "context": "c1"}
        ->  {"state": "input_required", "text": "Which hotel?", "task": "t1", "context": "c1"}

A task that is not done is looked at again and again, for as long as its session says.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from pydantic import JsonValue

from cinatra_sdk.a2a.remote import RemoteAgent
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.models.failures import is_lost

COMPLETED: Final = "completed"
INPUT_REQUIRED: Final = "input_required"
_QUIET: Final = logging.NullHandler()
_WAITS: Final = frozenset({"submitted", "working", "unspecified"})
_T = TypeVar("_T")


class AgentFailed(Exception):
    """What went wrong, in words without the client's own errors."""


class AgentLost(AgentFailed, ConnectionError):
    """The connection was lost, or the answer took too long: a later try may help."""


class _Unopened(Exception):
    """An address that the operator does not open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an agent is told."""

    text: str
    data: Mapping[str, JsonValue] = field(default_factory=dict)
    """The values of its inputs, by title."""
    task: str = ""
    """The task that the text goes on with; empty: a new one."""
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWay:
    """An agent, and what this process may call for it."""

    agent: RemoteAgent
    may_call: Callable[[str], bool]


async def asay(way: AgentWay, said: Said, key: str) -> dict[str, JsonValue]:
    """The answer.  key: the id of the message, by which the agent can tell a repetition.

    Raises: `NotConfigured`, `AgentFailed`.
    """
    problem: Exception
    try:
        async with AsyncExitStack() as stack:
            client = await _connect(way, stack)
            async with asyncio.timeout(way.agent.timeout):
                return await _talk(client, way.agent, said, key)
    except Exception as error:  # noqa: BLE001 - the package raises anything
        problem = error
    # Out here: in the handler it would drag the client's error along, with the request in it.
    raise _describe(way.agent, problem)


async def _connect(way: AgentWay, stack: AsyncExitStack) -> Any:
    try:
        import httpx
        from a2a.client import ClientConfig, ClientFactory
    except ImportError:
        raise NotConfigured(
            "agents behind A2A need the package a2a-sdk", hint="pip install 'oasflow[a2a]'"
        ) from None
    # Without a handler of the host's, Python would print the package's warnings.
    logging.getLogger("a2a").addHandler(_QUIET)
    agent = way.agent

    async def require_open(request: Any) -> None:
        # Each request: the card of the agent may name another address.
        if not way.may_call(str(request.url)):
            raise _Unopened

    http = await stack.enter_async_context(
        httpx.AsyncClient(
            headers=dict(agent.headers),
            timeout=agent.request_timeout,
            verify=_read_certificates(agent),
            follow_redirects=False,
            event_hooks={"request": [require_open]},
        )
    )
    config = ClientConfig(streaming=False, polling=True, httpx_client=http)
    found = await _try_again(agent, lambda: ClientFactory(config).create_from_url(agent.url))
    return await stack.enter_async_context(found)


def _read_certificates(agent: RemoteAgent) -> ssl.SSLContext | bool:
    """Raises: `NotConfigured` for a file that cannot be read."""
    if not (agent.cert_file or agent.ca_file):
        return agent.verify
    try:
        context = ssl.create_default_context(cafile=agent.ca_file or None)
        if not agent.verify:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if agent.cert_file:
            context.load_cert_chain(agent.cert_file, agent.key_file or None)
    except (OSError, ssl.SSLError) as error:
        raise NotConfigured(
            f"the certificates of the agent '{agent.label}' cannot be read: {type(error).__name__}",
            hint="see key_file, cert_file and ssl_ca_cert of its connection_config",
        ) from None
    return context


async def _talk(client: Any, agent: RemoteAgent, said: Said, key: str) -> dict[str, JsonValue]:
    from a2a.types.a2a_pb2 import GetTaskRequest

    async def send() -> Any:
        async for event in client.send_message(_make_request(said, key)):
            return event
        raise AgentFailed("it gives no answer")

    event = await _try_again(agent, send)
    if event.HasField("message"):
        message = event.message
        return {"state": COMPLETED, "context": message.context_id, **_read_parts(message.parts)}
    task = event.task
    while _read_state(task) in _WAITS:
        await asyncio.sleep(agent.poll_interval)
        wanted = GetTaskRequest(id=task.id)
        task = await _try_again(agent, lambda: client.get_task(wanted))  # noqa: B023 - awaited at once
    return {
        "state": _read_state(task),
        "task": task.id,
        "context": task.context_id,
        **_read_parts(_list_parts(task)),
    }


def _make_request(said: Said, key: str) -> Any:
    from a2a.helpers import new_data_part, new_text_part
    from a2a.types.a2a_pb2 import Message, Role, SendMessageRequest

    parts = [new_text_part(said.text)] if said.text else []
    parts += [new_data_part(dict(said.data))] if said.data else []
    message = Message(
        message_id=key,
        role=Role.ROLE_USER,
        parts=parts,
        task_id=said.task,
        context_id=said.context,
    )
    return SendMessageRequest(message=message)


def _read_state(task: Any) -> str:
    from a2a.types.a2a_pb2 import TaskState

    name: str = TaskState.Name(task.status.state)
    return name.removeprefix("TASK_STATE_").lower()


def _list_parts(task: Any) -> list[Any]:
    """What a task says: what it made, and its state's message; only this of one that is not done."""
    made = [part for artifact in task.artifacts for part in artifact.parts]
    told = list(task.status.message.parts)
    return made if made and _read_state(task) == COMPLETED else told


def _read_parts(parts: Iterable[Any]) -> dict[str, JsonValue]:
    from a2a.helpers import get_data_parts

    texts: list[str] = []
    data: dict[str, JsonValue] = {}
    for part in parts:
        if part.HasField("text"):
            texts.append(part.text)
        elif part.HasField("data"):
            for found in get_data_parts([part]):
                data.update(_read_numbers(found) if isinstance(found, dict) else {})
        else:
            texts.append(f"[file {part.filename or part.media_type or part.url}]")
    return {"text": "\n".join(texts), "data": data}


def _read_numbers(value: Any) -> Any:
    """The value with whole numbers as such: the protocol's messages only have floats."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_read_numbers(one) for one in value]
    if isinstance(value, dict):
        return {key: _read_numbers(one) for key, one in value.items()}
    return value


async def _try_again(agent: RemoteAgent, attempt: Callable[[], Awaitable[_T]]) -> _T:
    """What `attempt` returns, tried again where the connection was lost."""
    tries = 0
    while True:
        try:
            return await attempt()
        except Exception as error:
            if tries >= agent.retries or not is_lost(error):
                raise
        tries += 1
        await asyncio.sleep(min(agent.poll_interval, 0.25 * 2**tries))


def _describe(agent: RemoteAgent, error: Exception) -> Exception:
    if isinstance(error, (NotConfigured, AgentFailed)):
        return error
    if isinstance(error, _Unopened) or isinstance(error.__cause__, _Unopened):
        return NotConfigured(
            f"the agent '{agent.label}' is at an address that this process does not open",
            hint="add it to `allow` (--allow at the command line)",
        )
    if isinstance(error, TimeoutError):
        return AgentLost(f"no answer within {agent.timeout:g} seconds")
    if is_lost(error):
        return AgentLost(f"{type(error).__name__}: {error}"[:300])
    return AgentFailed(f"{type(error).__name__}: {error}"[:300])
