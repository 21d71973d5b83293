"""One visit of a node: the check of its turn, its events, and its way out.

An error leaves a node as an error of this project, with every credential of the run cut out of its text:
the engine writes the text of an exception into the database before anybody can catch it.
"""

from __future__ import annotations

import signal
from asyncio import CancelledError
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.runtime import Runtime
from langgraph.types import Interrupt
from pydantic import JsonValue

from cinatra_sdk.contract import CALL_STEP, FALLBACK_RENDERER
from cinatra_sdk.data.json_values import check_value
from cinatra_sdk.errors import AnswerInvalid, FlowError, NodeFailed
from cinatra_sdk.flow.plan.channel_names import CURSOR, DECISIONS
from cinatra_sdk.flow.plan.frame import (
    AsyncNodeFunction,
    CompareOutputs,
    Frame,
    NodeBody,
    NodeFunction,
    effect_of,
    make_completion,
    with_seen,
)
from cinatra_sdk.flow.visit.fusion import SharedSupersteps
from cinatra_sdk.flow.visit.reports import NodeTelling, find_listener
from cinatra_sdk.flow.visit.talk import Asked, discuss
from cinatra_sdk.gates.forms.approval_forms import REJECTED_KEY, ForeignForm
from cinatra_sdk.gates.gate import GATE_KEY, gate_id
from cinatra_sdk.gates.hitl import Outcome, now
from cinatra_sdk.governed.host_keys import find_governed
from cinatra_sdk.governed.secret_values import clean_error, cut_out, find_secret, redact
from cinatra_sdk.langgraph_internals.task_facts import is_invalid_resume
from cinatra_sdk.langgraph_threads.graph_input import list_given_answers, read_interrupts
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of
from cinatra_sdk.langgraph_threads.lineage import arefuse_forks, refuse_forks
from cinatra_sdk.langgraph_threads.state_channels import has_ended, seal
from cinatra_sdk.langgraph_threads.tasks import was_sent
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import list_classes
from cinatra_sdk.outside.effects.permits import aadmit, admit
from cinatra_sdk.outside.http_calls.protocol import PlatformError

# ----------------------------------------------------------------------------
# Makes a gate of a pause that a node's own code makes: people answer it like any other.
#
# In: the pause of a node that is no gate.  Out: the same pause, with an id, a form and a payload.


State = Mapping[str, Any]


def make_gates(frame: Frame, state: State, pause: GraphInterrupt) -> GraphInterrupt:
    """The pause of a node's own code as gates; one of `build_hitl_gate` as it is.

    Raises: `NodeFailed` where the pause would show a secret; `ValueRefused` for what is no JSON.
    """
    interrupts = read_interrupts(pause)
    return GraphInterrupt([_make_gate(frame, state, one) for one in interrupts])


def find_rejection(frame: Frame, state: State) -> dict[str, Any] | None:
    """The update that ends the run, where the last answer to this node's own code is a rejection.

    Raises: `AnswerInvalid`: any client of a graph server may have said it.
    """
    given = list_given_answers()
    last = given[-1] if given else None
    if not isinstance(last, Mapping) or REJECTED_KEY not in last:
        return None
    said = ForeignForm(output=frame.id).read(last[REJECTED_KEY])
    if said.approved:
        raise AnswerInvalid(
            f"gate '{frame.id}': what is given as a rejection approves", hint="answer the gate"
        )
    outcome = Outcome(approved=False, reason=said.reason, by=said.by, at=now())
    visit = frame.visit(state)
    own = _name_gate(frame, state, len(given) - 1)
    decided = outcome.record(own, frame.id, visit, CALL_STEP)
    talk = discuss(frame, state, Asked(text=frame.id, implied=True, gate=own), outcome)
    ending = {"rejected_at": outcome.at, "status": "rejected", DECISIONS: seal([decided]), **talk}
    return frame.pass_turn(state, {"out": {}}, None, ending)


def _make_gate(frame: Frame, state: State, asked: Interrupt) -> Interrupt:
    schema: Any = asked.response_schema
    if isinstance(schema, Mapping) and GATE_KEY in schema:
        return asked
    values: dict[str, JsonValue] = {"request": asked.value}
    where = f"what node '{frame.where}' asks"
    check_value(values, where=where)
    found = find_secret([values]) or find_governed(values)
    if found:
        raise NodeFailed(
            f"{where} would show {found}", node=frame.id, hint="leave it out of interrupt(…)"
        )
    form = ForeignForm(output=frame.id, actions=_count_actions(asked.value))
    about: dict[str, JsonValue] = {
        "id": _name_gate(frame, state, len(list_given_answers())),
        "node": frame.id,
        "visit": frame.visit(state),
        "step": CALL_STEP,
        "risk": frame.risk or "read_only",
        "name": frame.id,
        **form.to_record(),
    }
    payload = {"xRenderer": FALLBACK_RENDERER, "schema": {}, "values": values}
    response = {**form.schema(), GATE_KEY: about}
    return Interrupt(value=payload, id=asked.id, response_schema=response)


def _name_gate(frame: Frame, state: State, before: int) -> str:
    """Id of the gate; before: how many pauses of this visit were answered."""
    own = gate_id(state, frame.id, frame.visit(state))
    return own if before == 0 else f"{own}[{before}]"


def _count_actions(value: Any) -> int:
    """How many calls LangChain's human-in-the-loop review asks about; 0 for anything else."""
    asked = value.get("action_requests") if isinstance(value, Mapping) else None
    return len(asked) if isinstance(asked, list) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The facts about the node and the host that the wrapper needs."""

    frame: Frame
    placeholders: tuple[str, ...] = field(default=(), repr=False)
    """Values that the host gave as `env=`: secrets, like the run's credentials."""
    compare: CompareOutputs | None = None
    """For a node of a kind that an installed package adds."""
    shared: SharedSupersteps | None = None
    """The nodes that can run on in this node's superstep; None: each node has its own."""

    def secrets(self, runtime: Runtime[HostContext]) -> tuple[str, ...]:
        held = context_of(runtime.context).credentials
        return (held.run_token, held.bearer_token, *self.placeholders)


class NodeVisit:
    """A visit of one node: its function, with everything that is the same for all nodes."""

    def __init__(self, about: Surroundings, body: NodeBody) -> None:
        self._about = about
        self._frame = about.frame
        self._shared = about.shared
        self._body = body
        self._complete = make_completion(about.frame, body, about.compare)
        self.may_run = _make_turn_check(about.frame, body)

    def work(self, state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        """The update of the node's function, told and checked; raises only clean errors."""
        telling = self._tell_start(state, runtime)
        try:
            update = self._find_rejection(state)
            if update is None:
                state = with_seen(state, self._look(state, runtime))
                given = (state, config, runtime) if self._body.contains else (state, runtime)
                update = self._check_update(state, self._body.run(*given), runtime)
        except GraphInterrupt as pause:
            raised = self._make_gates(state, pause, runtime)
        except BaseException as error:  # noqa: BLE001 - the border between a node and the engine
            raised = self._clean_error(error, runtime)
        else:
            if telling is not None:
                telling.finished(self._frame, update)
            return update
        if telling is not None:
            telling.stopped(raised)
        # Raised out here: in the handler it would drag the original along, secrets and all.
        raise raised

    async def awork(
        self, state: State, config: RunnableConfig, runtime: Runtime[HostContext]
    ) -> Any:
        """As `work`, for an event loop."""
        telling = self._tell_start(state, runtime)
        try:
            update = self._find_rejection(state)
            if update is None:
                state = with_seen(state, await self._alook(state, runtime))
                given = (state, config, runtime) if self._body.contains else (state, runtime)
                arun = self._body.arun
                made = self._body.run(*given) if arun is None else await arun(*given)
                update = self._check_update(state, made, runtime)
        except CancelledError:
            raise
        except GraphInterrupt as pause:
            raised = self._make_gates(state, pause, runtime)
        except BaseException as error:  # noqa: BLE001 - the border between a node and the engine
            raised = self._clean_error(error, runtime)
        else:
            if telling is not None:
                telling.finished(self._frame, update)
            return update
        if telling is not None:
            telling.stopped(raised)
        raise raised

    def leave(
        self, state: State, update: Any, config: RunnableConfig, runtime: Runtime[HostContext]
    ) -> Any:
        """The update for the engine, with the way on where no edge of the graph leads there."""
        if not _passes_turn(update):
            return update
        if self._shared is not None:
            return self._shared.go_on(self._frame, state, update, config, runtime)
        return self._frame.leave(update) if self._body.chooses else update

    async def aleave(
        self, state: State, update: Any, config: RunnableConfig, runtime: Runtime[HostContext]
    ) -> Any:
        """As `leave`, for an event loop."""
        if self._shared is None or not _passes_turn(update):
            return self.leave(state, update, config, runtime)
        return await self._shared.ago_on(self._frame, state, update, config, runtime)

    def _look(self, state: State, runtime: Runtime[HostContext]) -> str:
        """Whether the node may act; for nodes inside, the line of this graph is looked at here."""
        if not self._body.acts:
            return ""
        frame = self._frame
        since = frame.seen_before(state)
        seen = refuse_forks(state, runtime, node=frame.where, effects=frame.effects, since=since)
        if not self._body.performs and not self._body.contains:
            admit(effect_of(frame, state), context_of(runtime.context).door)
        return seen

    async def _alook(self, state: State, runtime: Runtime[HostContext]) -> str:
        if not self._body.acts:
            return ""
        frame = self._frame
        since = frame.seen_before(state)
        seen = await arefuse_forks(
            state, runtime, node=frame.where, effects=frame.effects, since=since
        )
        if not self._body.performs and not self._body.contains:
            await aadmit(effect_of(frame, state), context_of(runtime.context).door)
        return seen

    def _check_update(self, state: State, made: Any, runtime: Runtime[HostContext]) -> Any:
        acts = self._body.acts and not self._body.contains
        return _remove_host_tokens(self._complete(state, made), acts, runtime)

    def _find_rejection(self, state: State) -> dict[str, Any] | None:
        body = self._body
        if body.contains or body.asks or body.computes:
            return None  # its own code never pauses
        if CURSOR not in state:
            return None  # the start of a flow that runs in the task of a branch, whose answer it is
        return find_rejection(self._frame, state)

    def _make_gates(
        self, state: State, pause: GraphInterrupt, runtime: Runtime[HostContext]
    ) -> BaseException:
        """The pause, of whatever code it is, as gates."""
        if self._body.contains:
            return pause
        try:
            return make_gates(self._frame, state, pause)
        except Exception as error:  # noqa: BLE001 - what is asked cannot be shown
            return self._clean_error(error, runtime)

    def _clean_error(self, error: BaseException, runtime: Runtime[HostContext]) -> BaseException:
        # Errors of nodes inside are clean; those of the engine, which keeps their state, go out as
        # they are: a database that cannot be reached is no failure of the node.
        if self._body.contains:
            return error
        return _redact_error(self._about, error, runtime)

    def _tell_start(self, state: State, runtime: Runtime[HostContext]) -> NodeTelling | None:
        tell = find_listener(runtime)
        if tell is None or not (self._body.takes_turns or self._begins(state)):
            return None
        telling = NodeTelling(tell, self._frame, state)
        telling.started()
        return telling

    def _begins(self, state: State) -> bool:
        """Whether a StartNode has something to do: a further input on its thread changes nothing."""
        cursor = state.get(CURSOR)
        return cursor is None or cursor["next"] == self._frame.id


def _passes_turn(update: Any) -> bool:
    return type(update) is dict and CURSOR in update


def _make_turn_check(frame: Frame, body: NodeBody) -> Callable[[State], bool]:
    if body.acts or body.contains:
        return lambda state: not was_sent() and not has_ended(state) and frame.has_turn(state)
    if body.takes_turns:
        return lambda state: not was_sent() and frame.has_turn(state)
    return lambda _state: not was_sent()


def _remove_host_tokens(update: Any, acts: bool, runtime: Runtime[HostContext]) -> Any:
    """What came from outside, without the host's tokens in it.

    Not without the values of placeholders: they may be any word, also one of a node or a channel.
    They are cut out of the answer itself, before it becomes an update.
    """
    if not acts:
        return update
    held = context_of(runtime.context).credentials
    tokens = (held.run_token, held.bearer_token)
    return cut_out(update, tokens)


def _redact_error(
    about: Surroundings, error: BaseException, runtime: Runtime[HostContext]
) -> BaseException:
    """`error` as it may be shown and stored."""
    if isinstance(error, GraphBubbleUp) or is_invalid_resume(error):
        return error  # a pause, and an answer that does not fit: the engine's own business
    if isinstance(error, KeyboardInterrupt):
        return KeyboardInterrupt()
    if isinstance(error, SystemExit) and _is_raised_by_signal(error):
        return SystemExit(error.code if isinstance(error.code, int) else None)
    secrets = about.secrets(runtime)
    classes = tuple(_find_clean_class(one, secrets) for one in list_classes(error))
    if isinstance(error, (FlowError, PlatformError)) and clean_error(error, secrets):
        if isinstance(error, NodeFailed):
            error.made_from = classes[1:]
        return error
    said = redact(f"{type(error).__name__}: {_format_error(error)}", secrets)
    failed = about.frame.failed(said[:500])
    failed.made_from = classes
    return failed


def _find_clean_class(raised: type[BaseException], secrets: tuple[str, ...]) -> type[BaseException]:
    """The class, or the nearest one above it whose name holds no secret: code may name its own classes."""
    for one in raised.__mro__:
        name = f"{one.__module__}.{one.__qualname__} {one.__name__}"
        if issubclass(one, BaseException) and redact(name, secrets) == name:
            return one
    return BaseException


def _is_raised_by_signal(error: SystemExit) -> bool:
    """Whether a handler of a signal ends the process, and not the node's own code."""
    handlers = (signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
    codes = {getattr(handler, "__code__", None) for handler in handlers} - {None}
    at = error.__traceback__
    while at is not None:
        if at.tb_frame.f_code in codes:
            return True
        at = at.tb_next
    return False


def _format_error(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a stranger's __str__ may do anything
        return "(it cannot say what went wrong)"


def step(about: Surroundings, body: NodeBody) -> NodeFunction:
    """The node's function within its surroundings."""
    visit, subgraph = NodeVisit(about, body), body.subgraph

    def work(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        _ = subgraph  # named here: that is how the engine and Studio find it
        if not visit.may_run(state):
            return {}
        return visit.leave(state, visit.work(state, config, runtime), config, runtime)

    return work


def async_step(about: Surroundings, body: NodeBody) -> AsyncNodeFunction | None:
    """As `step`; None where neither the node nor any node that can run on waits."""
    if body.arun is None and not (about.shared and about.shared.waits):
        return None
    visit = NodeVisit(about, body)

    async def work(state: State, config: RunnableConfig, runtime: Runtime[HostContext]) -> Any:
        if not visit.may_run(state):
            return {}
        return await visit.aleave(state, await visit.awork(state, config, runtime), config, runtime)

    return work
