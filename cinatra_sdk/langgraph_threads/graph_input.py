"""The input and the answers that a caller gives to a graph: what would be lost is refused.

    graph = answering_by_id(graph)
    graph.invoke(Command(resume={"approved": True}), config)    for the one pause that waits

An answer without an id is for the pause that waits, and for no other.  The engine keeps such an answer at
the outermost checkpoint.  A node with several gates inside stands at that checkpoint until it has ended,
so the engine would give the same answer to the node's next gate, which nobody has seen.

An empty Command is refused.  Messages are streamed without their seals.

`on_own_threads(graph)` refuses a thread that another graph began, before it writes.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, Interrupt, StateSnapshot

from cinatra_sdk.contract import GOVERNED_KEYS
from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.errors import FlowChanged, InputInvalid
from cinatra_sdk.langgraph_internals import task_facts
from cinatra_sdk.langgraph_internals.channels import MISSING
from cinatra_sdk.langgraph_internals.checkpoint_ids import move_ids_beyond
from cinatra_sdk.langgraph_internals.keys import CHECKPOINTER
from cinatra_sdk.langgraph_threads.list_channels import without_seal
from cinatra_sdk.langgraph_threads.state_channels import unseal
from cinatra_sdk.langgraph_threads.tasks import shape_of

# ----------------------------------------------------------------------------
# The input by which a caller of a graph begins a compiled flow.
#
# In: the input of `graph.invoke` and its kin, and the names of the flow's inputs.  Out: nothing, or an error
# that names the members that would be lost.
#
#     {"inputs": {"topic": "Bees"}}       right
#     {"topic": "Bees"}                   refused: give {"inputs": {"topic": …}}
#     {"inputs": {}, "messages": […]}     refused: the flow takes no 'messages'
#
# The engine drops every name that is no key of the graph's input, and the run would begin without the value.
# A name that only the host sets is dropped and logged, as everywhere.


log = logging.getLogger("oasflow.state")

DECLARED: Final = "declared_inputs"
"""Attribute of the input schema of a compiled flow's graph: the names of the flow's inputs."""
_INPUTS: Final = "inputs"
_MOST_SHOWN: Final = 5


def require_start_input(given: Any, schema: Any) -> None:
    """schema: of the graph's input; nothing is required of a graph that was written by hand.

    Raises: `InputInvalid`.
    """
    declared: Collection[str] | None = getattr(schema, DECLARED, None)
    if declared is None or given is None or isinstance(given, Command):
        return
    if not isinstance(given, Mapping):
        raise InputInvalid(
            f"the input of a flow is an object, not a {type(given).__name__}",
            hint=_describe_right_input(declared, ()),
        )
    stray = [str(name) for name in given if name != _INPUTS and not _is_of_host(name, given[name])]
    if not stray:
        return
    named = ", ".join(f"'{name[:100]}'" for name in stray[:_MOST_SHOWN])
    more = len(stray) - _MOST_SHOWN
    raise InputInvalid(
        f"the input of a flow has the one member 'inputs', and {named} "
        f"{f'and {more} more ' if more > 0 else ''}would be lost",
        hint=_describe_right_input(declared, stray),
    )


def _is_of_host(name: Any, value: Any) -> bool:
    """Whether the host made the value (a graph around gives its run to this one), or only it may.

    A caller's value under such a name is dropped by the graph, and logged here.
    """
    if unseal(value) is not MISSING:
        return True
    if name not in GOVERNED_KEYS:
        return False
    log.warning("R01_IGNORED: an input %r that the host did not make", name)
    return True


def _describe_right_input(declared: Collection[str], stray: Collection[str]) -> str:
    mine = [name for name in stray if name in declared]
    if not mine and (near := [one for name in stray if (one := did_you_mean(name, declared))]):
        return f'{near[0]} it stands in {{"inputs": …}}'
    shown = mine or list(declared)[:_MOST_SHOWN]
    members = ", ".join(
        f"{json.dumps(name, ensure_ascii=False)}: …" for name in shown[:_MOST_SHOWN]
    )
    return f'give {{"inputs": {{{members}}}}}' + ("" if declared else ": the flow takes no inputs")


_G = TypeVar("_G", bound=CompiledStateGraph[Any, Any, Any, Any])
_ID: Final = re.compile("[0-9a-f]{32}")
"""Of a pause, as the engine makes it."""
_NOBODY: Final = "0" * 32
"""No pause has this id."""


def answering_by_id(graph: _G) -> _G:
    """The same graph, whose answers without an id count once."""
    made: _G = AnswersById(**graph.copy().__dict__)  # type: ignore[assignment]  # the class mixes in the graph's own
    return made


class AnswersById(CompiledStateGraph[Any, Any, Any, Any]):
    """Every graph that this project hands out."""

    def stream(
        self,
        input: Any,  # noqa: A002 - the engine's name of it
        config: RunnableConfig | None = None,
        **more: Any,
    ) -> Iterator[Any]:
        _refuse_empty(input)
        require_start_input(input, self.builder.input_schema)
        given, asked = input, self._find_place(input, config)
        if asked is not None:
            given = _answer_by_id(input, self.get_state(asked))
        parts = super().stream(given, config, **more)
        if _streams_messages(more):
            parts = map(_open_streamed, parts)
        yield from parts

    async def astream(
        self,
        input: Any,  # noqa: A002 - the engine's name of it
        config: RunnableConfig | None = None,
        **more: Any,
    ) -> AsyncIterator[Any]:
        _refuse_empty(input)
        require_start_input(input, self.builder.input_schema)
        given, asked = input, self._find_place(input, config)
        if asked is not None:
            given = _answer_by_id(input, await self.aget_state(asked))
        opens = _streams_messages(more)
        async for part in super().astream(given, config, **more):
            yield _open_streamed(part) if opens else part

    def _find_saver_and_thread(
        self, config: RunnableConfig | None
    ) -> tuple[BaseCheckpointSaver[Any] | None, RunnableConfig | None]:
        """The saver, and the newest checkpoint of the thread, even if a client names an older
        one.
        """
        configurable = {**(self.config or {}).get("configurable", {})}
        configurable |= (config or {}).get("configurable", {})
        saver = configurable.get(CHECKPOINTER) or self.checkpointer
        thread = configurable.get("thread_id")
        if thread is None or not isinstance(saver, BaseCheckpointSaver):
            return None, None
        return saver, {"configurable": {"thread_id": str(thread), "checkpoint_ns": ""}}

    def _find_place(self, given: Any, config: RunnableConfig | None) -> RunnableConfig | None:
        """The place of the thread at which an answer that names no pause is given; None for all else.

        A namespace that a client names is left out, as the engine does.
        """
        saver, thread = self._find_saver_and_thread(config)
        if saver is None or thread is None or not _names_no_pause(given):
            return None
        named = {**(config or {}).get("configurable", {}), **thread["configurable"]}
        kept = ("thread_id", "checkpoint_ns", "checkpoint_id", CHECKPOINTER)
        return {"configurable": {key: named[key] for key in kept if key in named}}


def _streams_messages(asked: Mapping[str, Any]) -> bool:
    mode = asked.get("stream_mode")
    return mode == "messages" or (isinstance(mode, (list, tuple)) and "messages" in mode)


def _open_streamed(part: Any) -> Any:
    """What a client is streamed, with each message as JSON can hold it.

    A message is a member of a tuple, with its metadata, in every form of the engine: alone, with its
    mode, with its namespace, or as the data of a part.  The state keeps the seal.
    """
    if isinstance(part, BaseMessage):
        return without_seal(part)
    if isinstance(part, tuple):
        return tuple(map(_open_streamed, part))
    if isinstance(part, dict) and part.get("type") == "messages" and "data" in part:
        return {**part, "data": _open_streamed(part["data"])}
    return part


def _refuse_empty(given: Any) -> None:
    """The engine fails at a Command without content, and does not say at what.

    Raises: `InputInvalid`.
    """
    if not isinstance(given, Command) or given.graph == Command.PARENT:
        return
    if given.resume is None and not given.goto and not given.update:
        raise InputInvalid(
            "the Command is empty: it holds no answer, no update and no way to go",
            hint="give Command(resume=…) to answer a gate, None to go on where the thread stands, "
            "or the inputs of the flow to begin",
        )


def _names_no_pause(given: Any) -> bool:
    if not isinstance(given, Command) or given.resume is None:
        return False
    by_id = isinstance(given.resume, dict) and all(map(_ID.fullmatch, map(str, given.resume)))
    return not by_id


def _answer_by_id(given: Command[Any], kept: StateSnapshot) -> Command[Any]:
    """The same answer, for the pause that waits now and for no other."""
    waiting = {interrupt.id for interrupt in kept.interrupts}
    if len(waiting) > 1:
        return given  # the engine refuses it, and keeps nothing
    return replace(given, resume={next(iter(waiting), _NOBODY): given.resume})


# ----------------------------------------------------------------------------
# Pauses that a node's code makes by itself, with LangGraph's `interrupt`.
#
# A pause of `build_hitl_gate` carries a gate; any other one (a tool of LangChain that asks a person, a
# node of an installed package) is given one by the node around it (`cinatra_sdk.flow.visit.visit`).


def read_interrupts(pause: GraphInterrupt) -> tuple[Interrupt, ...]:
    """The interrupts of a pause."""
    return tuple(pause.args[0]) if pause.args else ()


def list_given_answers() -> Sequence[Any]:
    """The answers with which the engine runs this task again, in order; empty in its first run."""
    try:
        return task_facts.list_given_answers(get_config())
    except RuntimeError:
        return ()  # called as a plain function


def on_own_threads(graph: _G, *, pin: str = "") -> _G:
    """`graph`, which refuses a thread of another graph with `FlowChanged`; reading stays free.

    pin:  the `run["pin"]` of the compiled flow's threads; empty: the graphs' shapes are compared.
    """
    own: _G = _OnOwnThreads(pin=pin, **graph.copy().__dict__)  # type: ignore[assignment]  # the class mixes in the graph's own
    return own


class _OnOwnThreads(AnswersById):
    def __init__(self, *, pin: str, **graph: Any) -> None:
        super().__init__(**graph)
        self.pin = pin

    def stream(
        self,
        input: Any,  # noqa: A002 - the engine's name of it
        config: RunnableConfig | None = None,
        **more: Any,
    ) -> Iterator[Any]:
        self._require_own(config)
        yield from super().stream(input, config, **more)

    async def astream(
        self,
        input: Any,  # noqa: A002 - the engine's name of it
        config: RunnableConfig | None = None,
        **more: Any,
    ) -> AsyncIterator[Any]:
        await self._arequire_own(config)
        async for part in super().astream(input, config, **more):
            yield part

    def bulk_update_state(self, config: RunnableConfig, supersteps: Any) -> RunnableConfig:
        self._require_own(config)
        return super().bulk_update_state(config, supersteps)

    async def abulk_update_state(self, config: RunnableConfig, supersteps: Any) -> RunnableConfig:
        await self._arequire_own(config)
        return await super().abulk_update_state(config, supersteps)

    def _require_own(self, config: RunnableConfig | None) -> None:
        saver, thread = self._find_saver_and_thread(config)
        if saver is not None and thread is not None:
            self._refuse_other_graph(saver.get_tuple(thread))

    async def _arequire_own(self, config: RunnableConfig | None) -> None:
        saver, thread = self._find_saver_and_thread(config)
        if saver is not None and thread is not None:
            self._refuse_other_graph(await saver.aget_tuple(thread))

    def _refuse_other_graph(self, newest: CheckpointTuple | None) -> None:
        if newest is not None:
            move_ids_beyond(newest.checkpoint["id"])  # too far ahead: its nodes refuse to act
        held = newest.checkpoint["channel_values"].get("run", MISSING) if newest else MISSING
        identity = MISSING if held is MISSING else unseal(held)
        if not isinstance(identity, dict):
            return  # a new thread, or a foreign one: the nodes decide
        expected, found = (
            (self.pin, identity.get("pin"))
            if self.pin
            else (shape_of(self.channels), identity.get("graph"))
        )
        if found != expected:
            raise FlowChanged(
                f"the thread holds a run that another graph began, or another version of "
                f"'{self.name}'; nothing was written",
                hint="go on with the graph that began it, or start a new thread",
            )
