"""A graph that gives an answer without an id to the pause that waits, and to no other; a Command
that holds nothing is refused, and an input of which something would be lost; messages are streamed
without their seals.

    graph = answering_by_id(graph)
    graph.invoke(Command(resume={"approved": True}), config)

The engine keeps an answer without an id at the outermost checkpoint.  A node with several gates inside
stands at that checkpoint until it has ended, so the engine would give the same answer to its next gate,
at which nobody has looked.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot

from cinatra_sdk.engine.start_input import require_start_input
from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.governed.growing import without_seal

_G = TypeVar("_G", bound=CompiledStateGraph[Any, Any, Any, Any])
_SAVER: Final = "__pregel_checkpointer"
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
        saver = configurable.get(_SAVER) or self.checkpointer
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
        kept = ("thread_id", "checkpoint_ns", "checkpoint_id", _SAVER)
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
