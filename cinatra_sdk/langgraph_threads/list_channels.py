"""Lists of a run that only grow: its decisions, and its conversation.

In: sealed lists of further items.  Out: the whole list, wherever a node or a host reads the state.

    {"decisions": seal([{"gate": "review", …}])}     a write
    [{"gate": "review", …, "seal": b"…"}]            the list

The conversation holds messages of LangChain; `make_message` and `read_record` are their way from JSON and back.

A checkpoint stores a long list whole only where the list has doubled; between two such checkpoints the
engine adds the writes since then (LangGraph's `DeltaChannel`).  A list stored whole by each checkpoint
would fill the database with the square of its length.  A short list is stored whole: no further reading.

LangGraph's channel takes `Overwrite` before its reducer is asked, and stores the value of `get` where a
thread forks.  So each item carries a seal: these channels take no item without a seal, and no write
replaces or removes an item.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Self

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.channels import DeltaChannel
from pydantic import JsonValue

from cinatra_sdk.langgraph_internals.channels import MISSING, DeltaSnapshot
from cinatra_sdk.langgraph_threads.state_channels import SEAL_KEY, SEALED, unseal

_KINDS: Final[Mapping[str, type[BaseMessage]]] = {
    "assistant": AIMessage,
    "user": HumanMessage,
    "system": SystemMessage,
    "tool": ToolMessage,
}
_ROLES: Final = {"ai": "assistant", "human": "user"}
"""LangChain's types whose role has another name."""
_FIELDS: Final = ("id", "name", "tool_calls", "tool_call_id")
"""Members of a record that are fields of a message; all others are in `additional_kwargs`."""


def make_message(
    record: Mapping[str, JsonValue], *, seal: Mapping[str, Any] | None = None
) -> BaseMessage:
    """The message of a record; raises `KeyError` for a role that no message has."""
    fields: dict[str, Any] = {name: record[name] for name in _FIELDS if record.get(name)}
    known = {"role", "content", *_FIELDS}
    about = {name: value for name, value in record.items() if name not in known}
    return _KINDS[str(record["role"])](
        content=record["content"],  # type: ignore[arg-type]  # a text, or blocks as LangChain has them
        additional_kwargs={**about, **(seal or {})},
        **fields,
    )


def make_messages(records: Iterable[Mapping[str, JsonValue]]) -> list[BaseMessage]:
    """The messages of records, such as `Run.messages`, for a chat model or a graph of LangChain's."""
    return [make_message(record) for record in records]


def read_record(message: BaseMessage) -> dict[str, JsonValue]:
    """A message as JSON, without its seal."""
    about = {key: said for key, said in message.additional_kwargs.items() if key != SEAL_KEY}
    fields = {name: said for name in _FIELDS if (said := getattr(message, name, None))}
    role = _ROLES.get(message.type, message.type)
    return {"role": role, "content": message.content, **about, **fields}


def read_records(messages: Iterable[BaseMessage]) -> list[dict[str, JsonValue]]:
    return [read_record(message) for message in messages]


log = logging.getLogger("oasflow.state")

SHORT: Final = 16
"""Lists of at most so many items are kept whole by each checkpoint."""
_UNKNOWN: Final = "?"
"""Key of a channel that is tried on what may be another one's."""
_NEVER: Final = 10**9
"""LangGraph itself keeps a list whole after so many writes: at a fixed distance, so that the square
grows all the same, only more slowly."""


def _refuse_reducer(_items: Any, _writes: Any) -> Any:
    raise AssertionError("LangGraph's own update, which takes Overwrite, is never used")


class Growing(DeltaChannel[Any]):
    """A list that only grows; a write is a sealed list of further items, as JSON."""

    __slots__ = ("is_due", "kept")

    def __init__(self, typ: Any = list, key: str = "") -> None:
        super().__init__(_refuse_reducer, list, snapshot_frequency=_NEVER)
        self.typ, self.key = typ, key
        self.value: list[Any] = []
        self.kept = 0
        """Length of the list when it was last kept whole."""
        self.is_due = False
        """Whether the next checkpoint keeps it whole."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = None  # type: ignore[assignment]  # the way to say unhashable

    def copy(self) -> Self:
        channel = type(self)(self.typ, self.key)
        channel.value, channel.kept, channel.is_due = self.value, self.kept, self.is_due
        return channel

    def get(self) -> list[Any]:
        return list(self.value)

    def update(self, values: Sequence[Any]) -> bool:
        more = self._read_all(values)
        if not more:
            return False
        self.value = [*self.value, *more]
        self.is_due = len(self.value) <= SHORT or len(self.value) >= 2 * self.kept
        if self.is_due:
            self.kept = len(self.value)
        return True

    def replay_writes(self, writes: Sequence[tuple[str, str, Any]]) -> None:
        """Add what was written since the list was last kept whole."""
        self.value = [*self.value, *self._read_all([value for _, _, value in writes])]

    def checkpoint(self) -> Any:
        return self.value if self.is_due else MISSING

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """The list that a checkpoint keeps; what no run of this project wrote is left out."""
        channel = type(self)(self.typ, self.key)
        stored = checkpoint.value if isinstance(checkpoint, DeltaSnapshot) else checkpoint
        if _is_kept_before(stored):
            stored = [self._seal_item(item) for item in stored["items"]]
        if isinstance(stored, list):
            channel.value = [item for item in stored if self.is_sealed(item)]
        channel.kept = len(channel.value)
        return channel

    def _read_all(self, values: Sequence[Any]) -> list[Any]:
        return [item for value in values for item in self.read(value)]

    def read(self, value: Any) -> list[Any]:
        """The items of one write; none where no node made it."""
        items = unseal(value)
        if isinstance(items, list):
            return [self._seal_item(item) for item in items]
        self._tell_of_a_stranger()
        return []

    def _tell_of_a_stranger(self) -> None:
        if self.key != _UNKNOWN:
            log.warning("R01_IGNORED: a write to %r that no node made", self.key)

    @classmethod
    def _seal_item(cls, item: Mapping[str, Any]) -> Any:
        """An item as the list holds it."""
        raise NotImplementedError

    @classmethod
    def is_sealed(cls, item: Any) -> bool:
        raise NotImplementedError


class Decisions(Growing):
    """Decisions at gates, each with the seal as one of its members."""

    __slots__ = ()

    @classmethod
    def _seal_item(cls, item: Mapping[str, Any]) -> Any:
        return {**item, **SEALED}

    @classmethod
    def is_sealed(cls, item: Any) -> bool:
        return isinstance(item, dict) and item.get(SEAL_KEY) == SEALED[SEAL_KEY]


class Conversation(Growing):
    """The messages of a run, LangChain's own, in the order in which they were said.

    A write is a list of messages that carry the seal; a sealed list of records (below), which an
    earlier version wrote, is taken too.
    """

    __slots__ = ()

    def read(self, value: Any) -> list[Any]:
        if not isinstance(value, list):
            return super().read(value)
        said = [item for item in value if self.is_sealed(item)]
        if len(said) < len(value):
            self._tell_of_a_stranger()
        return said

    @classmethod
    def _seal_item(cls, item: Mapping[str, Any]) -> Any:
        return make_message(item, seal=SEALED)

    @classmethod
    def is_sealed(cls, item: Any) -> bool:
        seal = SEALED[SEAL_KEY]
        return isinstance(item, BaseMessage) and item.additional_kwargs.get(SEAL_KEY) == seal


def _is_kept_before(stored: Any) -> bool:
    """Whether it is a list as an earlier version kept it."""
    return (
        isinstance(stored, dict)
        and stored.keys() == {"items", SEAL_KEY}
        and stored[SEAL_KEY] == SEALED[SEAL_KEY]
    )


def without_seals(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Decisions as they were written."""
    return [{key: value for key, value in item.items() if key != SEAL_KEY} for item in items]


def without_seal(message: BaseMessage) -> BaseMessage:
    """A message as others may keep or send it; the state's own stays as it is."""
    if SEAL_KEY not in message.additional_kwargs:
        return message
    kept = {key: value for key, value in message.additional_kwargs.items() if key != SEAL_KEY}
    return message.model_copy(update={"additional_kwargs": kept})


def as_json(value: Any) -> Any:
    """A list of this module as JSON; any other value as it is."""
    if not isinstance(value, list) or not value:
        return value
    if all(map(Conversation.is_sealed, value)):
        return read_records(value)
    return without_seals(value) if all(map(Decisions.is_sealed, value)) else value


def read_said(write: Any) -> list[BaseMessage]:
    """The messages of a node's write to the conversation; those without a seal are left out."""
    return Conversation().read(write)


def read_list(stored: Any) -> list[Any]:
    """The list that a checkpoint keeps of a channel of this module; empty for any other value."""
    return fold_history({"seed": stored, "writes": []})


def fold_history(history: Mapping[str, Any]) -> list[Any]:
    """The list of a checkpoint that leaves it to those before it; empty for any other channel.

    history: of one channel, as LangGraph's savers read it (`get_delta_channel_history`).
    """
    for kind in (Decisions, Conversation):
        channel = kind(key=_UNKNOWN).from_checkpoint(history.get("seed", MISSING))
        channel.replay_writes(history["writes"])
        if channel.value:
            return channel.value
    return []
