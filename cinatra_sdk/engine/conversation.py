"""Messages of a run, as messages of LangChain and as JSON.

    {"role": "assistant", "content": "Hello", "id": "5f…", "node": "say", "path": "sub/say"}
    AIMessage("Hello", id="5f…", additional_kwargs={"node": "say", "path": "sub/say"})

A store keeps the JSON record, and `oasflow run --json` prints it; `make_message` and `read_record` turn one
form into the other.  The speaker is in `additional_kwargs` and not in `name`, because providers of models
refuse a name with other letters than their few.

| member | of | meaning |
|---|---|---|
| `node`, `path` | all | id of the node that said it, or asked; its place in the run, as events have it |
| `gate` | gates | the gate's id: on its question and on the person's answer |
| `implied` | questions | true: the author wrote no message, so the content names the gate |
| `decision`, `by` | answers | `approved`, `rejected` or `denied`; the person who said so |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from pydantic import JsonValue

from cinatra_sdk.engine.state_channels import SEAL_KEY

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
