"""Answers of a model, recorded in a file and replayed from it: tests without a network and without a key.

    RecordingModel(model, "answers.jsonl")     asks the model, and appends question and answer
    ReplayingModel("answers.jsonl")            the same question -> the same answer

A line is `{"question": {…}, "answer": {…}}`.  A question is its messages, tools and schema; the file holds
no key, because a question holds none.
"""

from __future__ import annotations

import difflib
import json
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, messages_from_dict, messages_to_dict
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from cinatra_sdk.data.text.author_files import read_named
from cinatra_sdk.governed.secret_values import redact

MOST_BYTES: Final = 64 * 2**20
"""The largest record that is read."""
_SHOWN: Final = 200


class QuestionUnknown(AssertionError):
    """The file has no answer for a question; names the nearest one that it has."""


class RecordingModel(BaseChatModel):
    """Asks `inner`, and appends each question with its answer to the file."""

    inner: Any
    path: str
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, inner: BaseChatModel, path: str | os.PathLike[str], **fields: Any) -> None:
        given: dict[str, Any] = {"inner": inner, "path": os.fspath(path), **fields}
        super().__init__(**given)

    @property
    def _llm_type(self) -> str:
        return "recording"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, Any]:
        """The model, asked with these tools."""
        return self.bind(asked_tools=_describe_tools(tools), real_tools=tuple(tools), **kwargs)

    def with_structured_output(
        self, schema: Any, *, include_raw: bool = False, **kwargs: Any
    ) -> Runnable[Any, Any]:
        """The model, asked for an object; the object is kept with the answer."""
        return _bind_schema(self, schema, include_raw=include_raw, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        del run_manager
        asked = _choose_asked(self.inner, kwargs)
        return self._keep(messages, kwargs, asked.invoke(messages, **_stop(stop)))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        del run_manager
        asked = _choose_asked(self.inner, kwargs)
        return self._keep(messages, kwargs, await asked.ainvoke(messages, **_stop(stop)))

    def _keep(
        self, messages: list[BaseMessage], bound: Mapping[str, Any], found: Any
    ) -> ChatResult:
        message, value = _split_answer(found)
        answer = {"message": messages_to_dict([message])[0], "value": value}
        line = json.dumps(
            {"question": _describe_question(messages, bound), "answer": answer},
            ensure_ascii=False,
            default=str,
        )
        with self._lock, Path(self.path).open("a", encoding="utf-8") as file:
            file.write(redact(line) + "\n")
        return _make_result(message, value)


class ReplayingModel(BaseChatModel):
    """Answers from a file; equal questions get their answers in the order in which they were kept, and
    the last of them again and again.

    Raises: `ValueError` for a file that is no record; `OSError`.
    """

    path: str
    _answers: dict[str, list[Any]] = PrivateAttr(default_factory=dict)
    _texts: dict[str, str] = PrivateAttr(default_factory=dict)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, path: str | os.PathLike[str], **fields: Any) -> None:
        given: dict[str, Any] = {"path": os.fspath(path), **fields}
        super().__init__(**given)
        kept = read_named(self.path, MOST_BYTES).decode("utf-8")
        for number, line in enumerate(kept.splitlines(), 1):
            self._read_line(number, line)

    @property
    def _llm_type(self) -> str:
        return "replaying"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, Any]:
        """The model, asked with these tools."""
        return self.bind(asked_tools=_describe_tools(tools), **kwargs)

    def with_structured_output(
        self, schema: Any, *, include_raw: bool = False, **kwargs: Any
    ) -> Runnable[Any, Any]:
        """The model, asked for an object."""
        return _bind_schema(self, schema, include_raw=include_raw, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        del stop, run_manager
        question = _describe_question(messages, kwargs)
        key = _key_of(question)
        with self._lock:
            answers = self._answers.get(key)
            if answers is None:
                raise QuestionUnknown(self._describe_unknown(question))
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
        message = messages_from_dict([answer["message"]])[0]
        assert isinstance(message, AIMessage)  # kept from one
        return _make_result(message, answer["value"])

    def _read_line(self, number: int, line: str) -> None:
        try:
            kept = json.loads(line)
            question, answer = kept["question"], kept["answer"]
            _ = answer["message"]["type"], answer["value"]
        except (ValueError, TypeError, KeyError):
            raise ValueError(f"{self.path}, line {number}: no question with its answer") from None
        key = _key_of(question)
        self._answers.setdefault(key, []).append(answer)
        self._texts[key] = _text_of(question)

    def _describe_unknown(self, question: Mapping[str, Any]) -> str:
        text = _text_of(question)
        near = difflib.get_close_matches(text, self._texts.values(), n=1, cutoff=0.0)
        nearest = f"; the nearest in it: {near[0][:_SHOWN]!r}" if near else "; it is empty"
        return f"{self.path} has no answer for {text[:_SHOWN]!r}{nearest}"


def _describe_question(messages: Sequence[BaseMessage], bound: Mapping[str, Any]) -> dict[str, Any]:
    """A question as JSON, without what differs from one time to the next."""
    asked: dict[str, Any] = {
        "messages": [
            {
                "type": message.type,
                "content": message.content,
                **(
                    {"tool_calls": message.tool_calls}
                    if isinstance(message, AIMessage) and message.tool_calls
                    else {}
                ),
            }
            for message in messages
        ]
    }
    for name in ("asked_tools", "asked_schema"):
        if bound.get(name) is not None:
            asked[name.removeprefix("asked_")] = bound[name]
    described: dict[str, Any] = json.loads(
        redact(json.dumps(asked, ensure_ascii=False, default=str))
    )
    return described


def _describe_tools(tools: Sequence[Any]) -> list[Any]:
    return [convert_to_openai_tool(tool) for tool in tools]


def _bind_schema(
    model: BaseChatModel, schema: Any, *, include_raw: bool, **kwargs: Any
) -> Runnable[Any, Any]:
    described = schema if isinstance(schema, dict) else convert_to_openai_tool(schema)
    asking = model.bind(asked_schema=described, real_schema=schema, **kwargs)

    def read(message: AIMessage) -> Any:
        value = message.additional_kwargs.get("recorded_value")
        return {"raw": message, "parsed": value, "parsing_error": None} if include_raw else value

    return asking | RunnableLambda(read)


def _choose_asked(inner: BaseChatModel, bound: Mapping[str, Any]) -> Runnable[Any, Any]:
    if "real_schema" in bound:
        return inner.with_structured_output(bound["real_schema"], include_raw=True)
    return inner.bind_tools(bound["real_tools"]) if "real_tools" in bound else inner


def _split_answer(found: Any) -> tuple[AIMessage, Any]:
    """The message, and the object of a structured output."""
    if isinstance(found, AIMessage):
        return found, None
    value = found.get("parsed")
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json")
    return found["raw"], value


def _make_result(message: AIMessage, value: Any) -> ChatResult:
    if value is not None:
        more = {**message.additional_kwargs, "recorded_value": value}
        message = message.model_copy(update={"additional_kwargs": more})
    return ChatResult(generations=[ChatGeneration(message=message)])


def _stop(stop: list[str] | None) -> dict[str, Any]:
    return {} if stop is None else {"stop": stop}


def _key_of(question: Mapping[str, Any]) -> str:
    return json.dumps(question, sort_keys=True, ensure_ascii=False)


def _text_of(question: Mapping[str, Any]) -> str:
    messages = question.get("messages") or [{}]
    return str(messages[-1].get("content", ""))
