"""The form of a gate at which the caller runs a tool: the answer is the tool's result.

    outputs a: integer, b: string with a default
    {"approved": True, "value": {"a": 1}}     the result by title; an output with a default may be left out
    {"a": 1, "b": "x"}, or [1, "x"]           the same without `approved` around it
    one output: 42                            the value itself; {"a": 42} is the same

The member `approved` tells a decision from a plain result.  So a result that is itself an object with this
member has to be sent as the `value` of an approval.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.answers import (
    Answer,
    Given,
    NoWords,
    answers_question,
    read_envelope,
    said_name,
)
from cinatra_sdk.gates.dialects import Asks, read_dialect, refuse_own_answer
from cinatra_sdk.gates.forms.answer_form import find_schema_problem
from cinatra_sdk.gates.forms.schema_form import SchemaForm
from cinatra_sdk.light_imports.records import dataclass

_NUMBERS: Final = frozenset({"integer", "number", "boolean"})


def result_schema(
    outputs: Mapping[str, Mapping[str, JsonValue]], *, required: list[str]
) -> dict[str, JsonValue]:
    """JSON Schema of the results of a tool, by the titles of its outputs."""
    properties: dict[str, JsonValue] = {title: dict(schema) for title, schema in outputs.items()}
    return {"type": "object", "properties": properties, "required": [*required]}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultForm(SchemaForm):
    """The outputs of a tool; `answer_schema` is a `result_schema`."""

    output: str = ""
    text_output: bool = False
    is_question: bool = False
    """Whether a model asks a person: the result is what they say, and a yes says nothing."""

    @property
    def needs_words(self) -> bool:
        return self.is_question

    def read(self, raw: object) -> Answer:
        """The checked answer; raises `AnswerInvalid`."""
        if self.is_question:
            asks: Asks = "choice" if self._lists_texts else "words"
            raw = read_dialect(raw, asks=asks, schema=self.answer_schema)
        is_decision = isinstance(raw, Mapping) and "approved" in raw
        if self.is_question and not is_decision and not self._is_named(raw):
            raise AnswerInvalid(
                "the answer to a question is a text", hint='send it alone, or {"approved": false}'
            )
        given = raw if is_decision else {"approved": True, "value": _make_lists(raw)}
        answer = read_envelope(given, output="result", read_value=self.read_value)
        if self.is_question:
            refuse_own_answer(given, self.answer_schema)
        return answer

    def read_value(self, given: Given) -> JsonValue:
        """The outputs by title, each of a type that can become the output's own."""
        parts, needed = self._parts, self.answer_schema.get("required")
        if self.is_question and given.is_yes:
            raise NoWords(
                "a question is approved without words", hint="send the words as the value"
            )
        named = self._name_outputs(given.value) if given.has_value else {}
        unknown = [said_name(title) for title in named if title not in parts]
        if unknown:
            raise AnswerInvalid(f"the tool has no output {', '.join(unknown)}")
        for title in needed if isinstance(needed, list) else ():
            if title not in named:
                raise AnswerInvalid(f"the result lacks the output '{title}'")
        for title, value in named.items():
            problem = _find_cast_problem(parts[title], value)
            if problem:
                raise AnswerInvalid(f"the output '{title}' does not fit: {problem}")
            if self.is_question and not answers_question(value, parts[title]):
                raise NoWords(
                    "the answer has no words",
                    hint="send the words as the value, each part as a text",
                )
        return named

    def to_record(self) -> dict[str, JsonValue]:
        # Not by `super()`: the dataclass is made anew for its slots.
        record = {**SchemaForm.to_record(self), "result": True}
        return {**record, "question": True} if self.is_question else record

    def _is_named(self, raw: object) -> bool:
        """Whether an object names the outputs of the tool."""
        return isinstance(raw, Mapping) and bool(raw) and raw.keys() <= self._parts.keys()

    @property
    def _parts(self) -> Mapping[str, Any]:
        parts = self.answer_schema.get("properties")
        return parts if isinstance(parts, Mapping) else {}

    def _name_outputs(self, value: JsonValue) -> dict[str, JsonValue]:
        titles = [*self._parts]
        if len(titles) == 1:
            wrapped = isinstance(value, dict) and set(value) == {titles[0]}
            return dict(value) if wrapped and isinstance(value, dict) else {titles[0]: value}
        if isinstance(value, dict):
            return dict(value)
        if isinstance(value, list) and len(value) == len(titles):
            return dict(zip(titles, value, strict=True))
        if not titles and value in (None, True):
            return {}
        raise AnswerInvalid(
            f"the result gives no values for {say_number(len(titles), 'output')}",
            hint="give an object by output title, or a list in their order",
        )


def _find_cast_problem(schema: Any, value: JsonValue) -> str:
    """Why a value cannot become what an output takes; the node casts it as along an edge."""
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    if kind == "string" and not isinstance(value, str):
        return ""  # its JSON text
    if kind in _NUMBERS and isinstance(value, (bool, int, float)):
        return ""
    if kind == "array" and isinstance(value, list):
        problems = (_find_cast_problem(schema.get("items"), item) for item in value)
        return next((problem for problem in problems if problem), "")
    return find_schema_problem(schema if isinstance(schema, Mapping) else None, value)


def _make_lists(value: Any) -> Any:
    """A plain result as JSON: Python's tuples are lists."""
    if isinstance(value, (list, tuple)):
        return [_make_lists(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _make_lists(member) for key, member in value.items()}
    return value
