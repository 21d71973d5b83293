"""One message to an agent behind A2A, and its answer: the only module that names the package `a2a`.

    await asay(way, Said(text="Two nights in Rome"), key="9f…")
        ->  {"state": "completed", "text": "Booked.", "data": {}, "task": "t1", "context": "c1"}
        ->  {"state": "input_required", "text": "Which hotel?", "task": "t1", "context": "c1"}

The state of an unfinished task is requested again and again, for as long as its session says.  The message
is sent once: it is sent again only where it surely never left this process.
"""

from __future__ import annotations

import asyncio
import logging
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import field
from typing import Any, Final, TypeVar, cast

from pydantic import JsonValue

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.governed.secret_values import cut_out
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.a2a.remote_agent import RemoteAgent
from cinatra_sdk.outside.effects.effect import NotMade, surely_refused
from cinatra_sdk.outside.models.attempts import is_lost
from cinatra_sdk.outside.remote_answers.foreign_answer import tell_problem
from cinatra_sdk.outside.remote_answers.remote_bounds import USUAL, RemoteBounds
from cinatra_sdk.outside.remote_answers.transport import (
    Exchange,
    bound_transport,
    hide_logs,
    read_origin,
    unlogged,
)

# ----------------------------------------------------------------------------
# The answer of an agent behind A2A: proved to be the answer to this message, then read.
#
# ExpectedAnswer(task="t1", context="c1", message="9f…").require_own(task)    AnswerForeign: of another task
# read_answer(task)    {"state": "completed", "text": "Booked.", "data": {}, "task": "t1", "context": "c1"}


COMPLETED: Final = "completed"
INPUT_REQUIRED: Final = "input_required"
_EXACT: Final = 2**53
"""Below it a float that is whole is the integer that was sent."""
_BEFORE: Final = frozenset({"submitted", "unspecified"})
"""States that no task comes back to."""


class AnswerForeign(Exception):
    """What came is no answer to what was said; says why."""


@dataclass(slots=True, kw_only=True)
class ExpectedAnswer:
    """The task and the context that an answer has to be of; empty until the agent names them."""

    task: str
    context: str
    message: str
    """The id of what was said."""
    has_begun: bool = False
    """Whether the task was seen at work."""

    def require_own(self, task: Any) -> None:
        """Raises: `AnswerForeign`."""
        if not task.id:
            raise AnswerForeign("its answer names no task")
        if self.task and task.id != self.task:
            raise AnswerForeign("it answered with another task")
        if self.context and task.context_id != self.context:
            raise AnswerForeign("it answered with a task of another context")
        self.task, self.context = task.id, self.context or task.context_id
        is_begun = read_state(task) not in _BEFORE
        if self.has_begun and not is_begun:
            raise AnswerForeign("its task goes back to where it began")
        self.has_begun = is_begun
        told = task.status.message if task.status.HasField("message") else None
        if told is not None:
            self._require_told(told)

    def read_message(self, message: Any) -> dict[str, JsonValue]:
        """An answer without a task.  Raises: `AnswerForeign`."""
        self._require_told(message)
        return {"state": COMPLETED, "context": message.context_id, **_read_parts(message.parts)}

    def _require_told(self, message: Any) -> None:
        from a2a.types.a2a_pb2 import Role

        if message.message_id == self.message or message.role == Role.ROLE_USER:
            raise AnswerForeign("it answered with what it was told")
        if self.task and message.task_id not in ("", self.task):
            raise AnswerForeign("it answered with a message of another task")
        if self.context and message.context_id not in ("", self.context):
            raise AnswerForeign("it answered with a message of another context")


def read_answer(task: Any) -> dict[str, JsonValue]:
    """What a task says that is waited for no longer."""
    return {
        "state": read_state(task),
        "task": task.id,
        "context": task.context_id,
        **_read_parts(_list_parts(task)),
    }


def read_state(task: Any) -> str:
    """`completed`, `input_required`, …"""
    from a2a.types.a2a_pb2 import TaskState

    try:
        name: str = TaskState.Name(task.status.state)
    except ValueError:
        return f"in the unknown state {task.status.state}"
    return name.removeprefix("TASK_STATE_").lower()


def _list_parts(task: Any) -> list[Any]:
    """What a task says: what it made, and its state's message; only this of one that is not done."""
    made = [part for artifact in task.artifacts for part in artifact.parts]
    told = list(task.status.message.parts)
    return made if made and read_state(task) == COMPLETED else told


def _read_parts(parts: Iterable[Any]) -> dict[str, JsonValue]:
    from a2a.helpers import get_data_parts

    texts: list[str] = []
    data: dict[str, JsonValue] = {}
    count = 0
    for part in parts:
        count += 1
        if part.HasField("text"):
            texts.append(part.text)
        elif part.HasField("data"):
            for found in get_data_parts([part]):
                data.update(_read_numbers(found) if isinstance(found, dict) else {})
        else:
            texts.append(f"[file {part.filename or part.media_type or part.url}]")
    return {"text": "\n".join(texts), "data": data, "parts": count}


def _read_numbers(value: Any) -> Any:
    """The value with whole numbers as such: the protocol's messages only have floats."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    if isinstance(value, list):
        return [_read_numbers(one) for one in value]
    if isinstance(value, dict):
        return {key: _read_numbers(one) for key, one in value.items()}
    return value


_QUIET: Final = logging.NullHandler()
_WAITS: Final = frozenset({"submitted", "working", "unspecified"})
_UNSENT: Final = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout"})
"""Class names of errors before anything of a request was sent."""
_NO_CARD: Final = "AgentCardResolutionError"
"""Class name of the package's error for a card that cannot be had."""
_NOT_NOW: Final = 429
_SUCCESS: Final = 200
_SPOKEN: Final = re.compile(r"(?:0\.3|1)(?:\.\d+)*\Z|\Z")
"""Versions of the protocol; a card may leave its own out."""
_T = TypeVar("_T")


class AgentFailed(Exception):
    """What went wrong, in one line without the client's own errors."""


class AgentLost(AgentFailed, ConnectionError):
    """The connection was lost, or the answer took too long: a later try may help."""


class AgentRefused(AgentFailed, NotMade):
    """The message was surely not taken, and will not be."""


class AgentUnreachable(AgentLost, NotMade):
    """The message was surely not taken; a later try may help."""


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
    bounds: RemoteBounds = USUAL


async def asay(way: AgentWay, said: Said, key: str) -> dict[str, JsonValue]:
    """The answer.  key: the id of the message, by which the agent can tell a repetition.

    Raises: `NotConfigured`, `AgentFailed`.
    """
    talk = _Talk(way)
    problem: Exception
    try:
        with unlogged():
            return await talk.run(said, key)
    except Exception as error:  # noqa: BLE001 - the package raises anything
        problem = error
    # Out here: in the handler it would drag the client's error along, with the request in it.
    raise talk.describe(problem)


class _Talk:
    """One message, and the looks at what becomes of it."""

    def __init__(self, way: AgentWay) -> None:
        self._agent, self._bounds = way.agent, way.bounds
        self._exchange = Exchange(
            bounds=way.bounds,
            may_call=way.may_call,
            only_origin=read_origin(way.agent.url) if way.agent.headers else "",
        )
        self._sent = False
        """Whether the message may have been taken."""
        self._answered = False
        """Whether it was taken: no error of a later request says that it was not."""
        self._wait = ""
        """What is told where the time is over that is waited just now."""

    async def run(self, said: Said, key: str) -> dict[str, JsonValue]:
        async with AsyncExitStack() as stack:
            async with self._within(*self._find_card_time()):
                client = await self._connect(stack)
            timeout = self._agent.timeout
            whole = f"no answer within {timeout:g} seconds (timeout of its session_parameters)"
            async with self._within(timeout, whole):
                answer = await self._converse(client, said, key)
        return cast("dict[str, JsonValue]", cut_out(answer, self._exchange.held))

    @asynccontextmanager
    async def _within(self, seconds: float, told: str) -> AsyncIterator[None]:
        """told: what is said where the time is over."""
        try:
            async with asyncio.timeout(seconds) as limit:
                yield
        finally:
            if limit.expired():
                self._wait = told

    def _find_card_time(self) -> tuple[float, str]:
        own, bound = self._agent.request_timeout, self._bounds.connect_seconds
        if own < bound:
            return (
                own,
                f"its card does not come within {own:g} seconds (timeout of its connection_config)",
            )
        within = self._bounds.describe("connect_seconds", "within {} seconds")
        return bound, f"its card does not come {within}"

    async def _connect(self, stack: AsyncExitStack) -> Any:
        try:
            import httpx
            from a2a.client import ClientConfig, ClientFactory
        except ImportError:
            raise NotConfigured(
                "agents behind A2A need the package a2a-sdk", hint="pip install 'oasflow[a2a]'"
            ) from None
        # Without a handler of the host's, Python would print the package's warnings.
        logging.getLogger("a2a").addHandler(_QUIET)
        hide_logs()
        agent = self._agent
        inner = httpx.AsyncHTTPTransport(verify=_read_certificates(agent))
        http = await stack.enter_async_context(
            httpx.AsyncClient(
                headers=dict(agent.headers),
                timeout=agent.request_timeout,
                transport=bound_transport(httpx, inner, self._exchange),
                follow_redirects=False,
            )
        )
        config = ClientConfig(streaming=False, polling=True, httpx_client=http)
        factory = ClientFactory(config)
        card = await self._try_again(lambda: _read_card(agent, http))
        if self._exchange.newest_status != _SUCCESS:
            raise AgentFailed(f"its card comes with status {self._exchange.newest_status}")
        _keep_spoken(card)
        return await stack.enter_async_context(factory.create(card))

    async def _converse(self, client: Any, said: Said, key: str) -> dict[str, JsonValue]:
        from a2a.types.a2a_pb2 import GetTaskRequest

        async def send() -> Any:
            self._sent = True
            self._exchange.begin_question()
            async for event in client.send_message(_make_request(said, key)):
                return event
            raise AgentFailed("it gives no answer")

        expected = ExpectedAnswer(task=said.task, context=said.context, message=key)
        event = await self._try_again(send, may_help=_is_unsent)
        self._answered = True
        if event.HasField("message"):
            return expected.read_message(event.message)
        if not event.HasField("task"):
            raise AgentFailed("it gives no answer")
        task = event.task
        expected.require_own(task)
        while read_state(task) in _WAITS:
            await asyncio.sleep(self._agent.poll_interval)
            wanted = GetTaskRequest(id=task.id)
            task = await self._look(client, wanted)
            expected.require_own(task)
        return read_answer(task)

    async def _look(self, client: Any, wanted: Any) -> Any:
        seconds = self._agent.request_timeout
        told = f"no answer about its task within {seconds:g} seconds (timeout of its connection_config)"
        async with self._within(seconds, told):
            return await self._try_again(lambda: client.get_task(wanted))

    async def _try_again(
        self, attempt: Callable[[], Awaitable[_T]], may_help: Callable[[Exception], bool] = is_lost
    ) -> _T:
        """What `attempt` returns, tried again where the connection was lost."""
        tries = 0
        while True:
            try:
                return await attempt()
            except Exception as error:
                given_up = tries >= self._agent.retries or self._exchange.broken
                if given_up or not may_help(error):
                    raise
            tries += 1
            await asyncio.sleep(min(self._agent.poll_interval, 0.25 * 2**tries))

    def describe(self, error: Exception) -> Exception:
        """The error in our words."""
        agent, exchange = self._agent, self._exchange
        if exchange.closed and not self._answered:
            return NotConfigured(
                f"the agent '{agent.label}' is at an address that this process does not open",
                hint="add it to `allow` (--allow at the command line)",
            )
        if isinstance(error, NotConfigured):
            return error
        lost, words = self._find_words(error)
        unsent = not self._answered and self._was_not_taken(error)
        words = tell_problem(words, (*agent.secrets, *exchange.held))
        if unsent:
            return AgentUnreachable(words) if lost else AgentRefused(words)
        return AgentLost(words) if lost else AgentFailed(words)

    def _was_not_taken(self, error: Exception) -> bool:
        """Whether an error that came instead of an answer to the message says that nobody took it."""
        exchange = self._exchange
        refused = surely_refused(exchange.status) and not exchange.broken
        return not self._sent or exchange.kept_back or refused or _is_unsent(error)

    def _find_words(self, error: Exception) -> tuple[bool, str]:
        """Whether a later try may help, and what went wrong."""
        status = self._exchange.status
        if self._exchange.broken or isinstance(error, (AgentFailed, AnswerForeign)):
            return False, self._exchange.broken or str(error)
        if type(error) is TimeoutError:
            return True, self._wait or "its connection took too long"
        if status:
            # The words beside it are the package's, with an address in them.
            return status == _NOT_NOW or status >= 500, f"status {status}"
        if type(error).__name__ == _NO_CARD:
            lost = is_lost(error)
            return lost, self._describe_card(lost)
        own = (
            self._exchange.is_refused
        )  # the agent's own words, and not those of a broken connection
        return is_lost(error), str(error) if own else f"{type(error).__name__}: {error}"

    def _describe_card(self, is_broken_off: bool) -> str:
        """Why the card is none, by the status with which it came."""
        status = self._exchange.newest_status
        if not status:
            return "its card does not come: the connection fails"
        if status == _SUCCESS and is_broken_off:
            return "the connection breaks off while its card comes"
        if status == _SUCCESS:
            return "what comes as its card is no card of the protocol"
        return f"its card comes with status {status}, and with no card"


async def _read_card(agent: RemoteAgent, http: Any) -> Any:
    from a2a.client import A2ACardResolver

    return await A2ACardResolver(http, agent.url).get_agent_card()


def _keep_spoken(card: Any) -> None:
    """Leave only the interfaces of versions that the package speaks: it takes any other for 1.0.

    Raises: `AgentFailed` where none is left.
    """
    offered = list(card.supported_interfaces)
    spoken = [one for one in offered if _SPOKEN.match(one.protocol_version)]
    if offered and not spoken:
        versions = ", ".join(sorted({one.protocol_version[:20] for one in offered})[:5])
        raise AgentFailed(f"its card offers A2A in version {versions}; spoken are 0.3 and 1.x")
    del card.supported_interfaces[:]
    card.supported_interfaces.extend(spoken)


def _is_unsent(error: Exception) -> bool:
    """Whether the error came before anything of the request was sent."""
    one: BaseException | None = error
    while one is not None:
        if type(one).__name__ in _UNSENT:
            return True
        one = one.__cause__
    return False


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
