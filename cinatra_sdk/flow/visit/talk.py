"""The messages that a node adds to the conversation of its run.

    say(frame, state, "Two drafts are ready")      {"messages": [AIMessage("Two drafts are ready")]}
    discuss(frame, state, asked, outcome)          the gate's question, then the person's answer

The ids of messages are the same after a crash or a repeat: they are made of the run, the node's place, its
visit and the text of the message, and not of the time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import JsonValue

from cinatra_sdk.flow.plan.channel_names import MESSAGES
from cinatra_sdk.flow.plan.frame import Frame
from cinatra_sdk.gates.answers import APPROVED_TEXT
from cinatra_sdk.gates.gate import gate_id, label
from cinatra_sdk.gates.hitl import Outcome
from cinatra_sdk.governed.host_keys import without_governed
from cinatra_sdk.governed.secret_values import redact, without_secrets
from cinatra_sdk.langgraph_threads.host_context import context_of
from cinatra_sdk.langgraph_threads.list_channels import make_message
from cinatra_sdk.langgraph_threads.state_channels import SEALED
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.tool_loop import ModelCall

State = Mapping[str, Any]
REFUSED_TEXTS: Final = {"rejected": "[Rejected by operator]", "denied": "[Denied by operator]"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The question of a gate, as the conversation has it."""

    text: str
    implied: bool = False
    """Whether the author wrote no message for it: then the text names the gate."""
    gate: str = ""
    """Id of the gate; empty: that of the node's running visit."""
    visit: int = 0
    """Visit of the gate; 0: the node's running one."""


def say(frame: Frame, state: State, text: str) -> dict[str, Any]:
    """The update by which a node says a text."""
    record = _begin_record(frame, state, frame.visit(state), "said")
    return {MESSAGES: [_seal({"role": "assistant", "content": text, **record})]}


def discuss(frame: Frame, state: State, asked: Asked, outcome: Outcome) -> dict[str, Any]:
    """The update that tells a gate's question and a person's answer."""
    visit = asked.visit or frame.visit(state)
    gate: dict[str, JsonValue] = {"gate": asked.gate or gate_id(state, frame.id, visit)}
    implied: dict[str, JsonValue] = {"implied": True} if asked.implied else {}
    question: dict[str, JsonValue] = {
        "role": "assistant",
        "content": asked.text,
        **_begin_record(frame, state, visit, "asked"),
        **gate,
        **implied,
    }
    answer: dict[str, JsonValue] = {
        "role": "user",
        "content": _format_answer(outcome),
        **_begin_record(frame, state, visit, "answered"),
        **gate,
        "decision": outcome.decision,
        **({"by": outcome.by} if outcome.by else {}),
    }
    return {MESSAGES: [_seal(question), _seal(answer)]}


def hear(frame: Frame, state: State, text: str) -> list[BaseMessage]:
    """What the caller of an agent says to it."""
    record = _begin_record(frame, state, frame.visit(state), "heard")
    return [_seal({"role": "user", "content": text, **record})]


def ask_for_calls(frame: Frame, state: State, answer: Mapping[str, Any]) -> list[BaseMessage]:
    """What a model says: a text, calls of tools, or both.

    answer: `{"text": "", "calls": [{"id": "call_1", "name": "search", "args": {…}}]}`
    """
    calls = [
        {"id": call["id"], "name": call["name"], "args": call["args"] or {}, "type": "tool_call"}
        for call in answer["calls"]
    ]
    record = _begin_record(frame, state, frame.visit(state), "said")
    asked: dict[str, Any] = {"tool_calls": calls} if calls else {}
    return [_seal({"role": "assistant", "content": answer["text"], **record, **asked})]


def give_result(
    frame: Frame, state: State, call: ModelCall, text: str, *, failed: bool = False
) -> BaseMessage:
    """The result of a call that a model asked for; failed: nothing came of the call."""
    record = _begin_record(frame, state, frame.visit(state), f"result {call['id']}")
    return _seal(
        {
            "role": "tool",
            "content": text,
            "name": call["name"],
            "tool_call_id": call["id"],
            **record,
            **({"failed": True} if failed else {}),
        }
    )


def has_open_call(said: Sequence[BaseMessage]) -> bool:
    """Whether a model has asked for a call whose result has not been told."""
    told: set[str] = set()
    for message in reversed(said):
        if isinstance(message, ToolMessage):
            told.add(message.tool_call_id)
        elif isinstance(message, AIMessage) and message.tool_calls:
            return any(str(call["id"]) not in told for call in message.tool_calls)
    return False


def read_conversation(state: State, context: object) -> list[BaseMessage]:
    """The conversation that a node sees: first the messages of the flows around it, up to this node, then those of
    its own flow.

    state:   of a node that reads the key `messages`.
    context: of the node's runtime.
    """
    return [*context_of(context).heard, *state.get(MESSAGES, ())]


def list_spoken(conversation: Iterable[BaseMessage]) -> list[BaseMessage]:
    """What people and agents said to each other, as plain messages; calls of tools are left out."""
    kinds: dict[str, type[BaseMessage]] = {"human": HumanMessage, "ai": AIMessage}
    return [
        kinds[message.type](str(message.text))
        for message in conversation
        if message.type in kinds and str(message.text)
    ]


def _begin_record(frame: Frame, state: State, visit: int, what: str) -> dict[str, JsonValue]:
    run = state.get("run") or {}
    place = [run.get("tenant", ""), run.get("run_id", ""), run.get("scope", "")]
    text = "\n".join([*place, label(frame.id, visit), what])
    own = hashlib.sha256(text.encode()).hexdigest()[:32]
    return {"node": frame.id, "path": frame.place(state), "id": own}


def _seal(record: Mapping[str, JsonValue]) -> BaseMessage:
    return make_message(record, seal=SEALED)


def _format_answer(outcome: Outcome) -> str:
    """What a person said: the text or the data given, else that they approved or refused.

    The reason of an approval is for the record alone, and no node reads it.
    """
    refused = REFUSED_TEXTS.get(outcome.decision)
    if refused is not None:
        return redact(f"{refused} {outcome.reason}".strip())
    value = outcome.value
    if value is None or isinstance(value, bool):
        return APPROVED_TEXT
    if isinstance(value, dict):
        value = without_secrets(without_governed(value, where="an answer"))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return redact(text)
