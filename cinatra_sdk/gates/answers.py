"""The answer form of one gate: turns a person's answer into the value that the flow reads.

In: the JSON that resumes a gate (`{"approved": true, "value": …}`).
Out: an `Answer` with the text or value that the gate's output carries, or `AnswerInvalid`.

    AnswerForm(output="setupJson", schema={"type": "object", "required": ["site"], …})
        .read({"approved": True, "value": {"site": "https://a.example"}})
        -> Answer(approved=True, value='{"site":"https://a.example"}', …)

Three shapes of schema occur in real files, told apart by the schema itself:
* an object that has the output's own title as a property: the answer is `{title: value}`;
* any other schema on a string output: it describes the JSON document that the string carries;
* on an output of another type: it describes the value itself.
A gate without a schema asks for approval, or for free text.

`reason` is for the record of decisions and never reaches the flow.  `approvalNote` is Cinatra's key
for a note to the flow: the note is the answer's text where the gate takes text and no other text
was sent.

A gate that asks for a context selection takes the `userResponse` envelope, as text or as an object,
and refuses what the slot does not allow: the platform would only refuse it once the gate is closed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.context.selector import Selector
from cinatra_sdk.errors import AnswerInvalid, ValueRefused
from cinatra_sdk.governed.keys import without_governed
from cinatra_sdk.governed.secrets import find_secret, redact
from cinatra_sdk.text.people import person_name
from cinatra_sdk.values.json_values import check_value
from cinatra_sdk.values.strict_json import NotStrictJson, read_json

APPROVED_TEXT: Final = "[Approved by operator]"
"""The value of a text output when a person approved without writing a text (Cinatra's words)."""
APPROVAL_SCHEMA: Final[dict[str, JsonValue]] = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}},
    "required": ["approved"],
}
MAX_ANSWER_BYTES: Final = 65_536
_LONGEST_NAME: Final = 40
"""Characters of a given name that an error repeats."""
_KEYS: Final = ("approved", "approvedAt", "value", "userResponse", "approvalNote", "reason", "by")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A checked answer."""

    approved: bool
    value: JsonValue = None
    """The value of the gate's output; None after a rejection."""
    reason: str = ""
    """The reason, for the record; the note where only a note was written."""
    by: str = ""
    at: str = ""
    """`approvedAt` as the host gave it; empty where it is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerForm:
    """The form of the answers that one gate accepts."""

    output: str = "approved"
    """Title of the gate's output, or of the input of the run, that an answer fills.  Empty for a
    form of several inputs.
    """
    text_output: bool = True
    """Whether that output is a string."""
    schema: Mapping[str, JsonValue] | None = None
    """JSON Schema of the answer; None asks for approval or text."""
    output_schema: Mapping[str, JsonValue] | None = None
    """JSON Schema of the output itself, unless it is a string: schema of the value that the flow
    reads.
    """
    inner: Mapping[str, JsonValue] | None = None
    """JSON Schema of the document inside the answer's string, where the author gave a schema."""
    bare: bool = False
    """Whether an object without the title around it may be the value of a titled answer."""
    selector: Selector | None = None
    """The allowed selection, at a gate that asks for a context selection."""

    @property
    def titled(self) -> bool:
        """Whether the answer is an object that names the output."""
        properties = (self.schema or {}).get("properties")
        return bool(self.output) and isinstance(properties, Mapping) and self.output in properties

    def resume_schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the JSON that resumes the gate; clients build their form from it."""
        text = json.dumps(self.schema)
        # A schema with `$ref` cannot stand inside another schema; the payload carries it.
        own = self.schema is not None and '"$' not in text
        value: JsonValue = dict(self.schema or {}) if own else {}
        if self.selector is not None and self.schema is None:
            return self.selector.answer_schema()
        return {
            "type": "object",
            "properties": {
                "approved": {"type": "boolean"},
                "value": value,
                "reason": {"type": "string"},
                "by": {"type": "string"},
            },
            "required": ["approved"],
        }

    def read(self, raw: object) -> Answer:
        """The checked answer.

        Raises: `AnswerInvalid`, which names the wrong key and the expected answer; `read_answer` of
        `gate.py` adds the gate, and an example that fits.
        """
        message = _read_envelope(raw)
        texts = {
            key: _read_text(message, key) for key in ("reason", "by", "approvedAt", "approvalNote")
        }
        texts["by"] = person_name(texts["by"])
        reason = texts["reason"] or texts["approvalNote"]
        if message["approved"] is False:
            if "value" in message or "userResponse" in message:
                raise AnswerInvalid("a rejection carries no value", hint="send approved and reason")
            return Answer(approved=False, reason=reason, by=texts["by"])
        return Answer(
            approved=True,
            value=self._value(message, texts["approvalNote"].strip()),
            reason=reason,
            by=texts["by"],
            at=texts["approvedAt"],
        )

    def _value(self, message: Mapping[str, Any], note: str) -> JsonValue:
        given = without_governed(message.get("value"), where=f"the answer for '{self.output}'")
        if "userResponse" in message:
            given = message["userResponse"]
            if "value" in message:
                raise AnswerInvalid("the answer has both value and userResponse", hint="send one")
            if not isinstance(given, str) or not given:
                raise AnswerInvalid("userResponse is not a non-empty string")
        bare = "userResponse" not in message and ("value" not in message or given is True)
        if bare and self.selector is not None:
            raise AnswerInvalid(
                f"the gate asks which refs are chosen for the slot '{self.selector.slot_id}', "
                "and the answer chooses none",
                hint="send the userResponse envelope; oasflow answer takes --select ID",
            )
        if self.schema is None:
            return self._convert_output(given) if not bare else (note or APPROVED_TEXT)
        if bare and "value" not in message:
            return self._without_value(note)
        return self._check_answer(given)

    def _without_value(self, note: str) -> JsonValue:
        """An approval without a value: valid where the schema requires no value."""
        if self.titled and not _find_schema_problem(self.schema, {}):
            return (note or APPROVED_TEXT) if self.text_output else self._convert_output(None)
        return self._check_answer({})

    def _check_answer(self, given: JsonValue) -> JsonValue:
        first = _find_schema_problem(self.schema, given)
        if not first:
            return self._convert_output(given)
        decoded: Any = _UNDECODED
        if isinstance(given, str):
            decoded = _governed_out(_decode_json(given), self.output)
            if decoded is not _UNDECODED and not _find_schema_problem(self.schema, decoded):
                # The flow gets the person's own text byte for byte, not a re-encoded text.
                return (
                    self._check_inner_document(given)
                    if not self.titled
                    else self._convert_output(decoded)
                )
        if self.titled and (self.bare or not isinstance(given, Mapping)):
            # The value alone, without its title around it; an object also as its text.
            as_text = self.bare and isinstance(decoded, Mapping)
            for alone in (given, decoded) if as_text else (given,):
                titled = {self.output: alone}
                problem = _find_schema_problem(self.schema, titled)
                if not problem:
                    return self._convert_output(titled)
            # For an object with the title, the error says what is wrong under the title.
            if not isinstance(given, Mapping) or self.output not in given:
                first = problem
        raise AnswerInvalid(f"the answer does not fit: {first}", hint=self._asks())

    def _convert_output(self, value: JsonValue) -> JsonValue:
        if self.titled and isinstance(value, Mapping):
            value = value.get(self.output)
        if not self.text_output:
            if isinstance(value, float) and value.is_integer():
                value = int(value)  # 3.0 is an integer in JSON Schema
                check_answer_value(value)
            problem = _find_schema_problem(self.output_schema, value)
            if problem:
                raise AnswerInvalid(f"the answer does not fit '{self.output}': {problem}")
            if self.selector is not None:
                _check_selection(self.selector, json.dumps(value))
            return value
        if isinstance(value, str):
            return self._check_inner_document(value)
        return self._check_inner_document(
            json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        )

    def _check_inner_document(self, text: str) -> str:
        if self.inner is not None:
            decoded = _decode_json(text)
            problem = (
                "it is not JSON"
                if decoded is _UNDECODED
                else _find_schema_problem(self.inner, decoded)
            )
            if problem:
                raise AnswerInvalid(f"the document in '{self.output}' does not fit: {problem}")
        if self.selector is not None:
            _check_selection(self.selector, text)
        return text

    def _asks(self) -> str:
        schema = self.schema or {}
        required = schema.get("required")
        if isinstance(required, list) and required:
            return "the gate asks for " + ", ".join(f"'{name}'" for name in required)
        return f"the gate asks for a value of '{self.output}'"


def _check_selection(selector: Selector, text: str) -> None:
    try:
        selector.check(text)
    except ContextError as error:
        problem = f"{error} ({error.code})"
    else:
        return
    raise AnswerInvalid(
        f"the selection does not fit: {problem}",
        hint='send {"slotId": …, "resolutionMode": …, "selectedRefs": […]} with refs of the candidates',
    )


_UNDECODED: Final = object()


def check_answer_value(value: Any) -> None:
    """Raise `AnswerInvalid` for a value that no run can hold."""
    try:
        check_value(value, where="the answer")
    except ValueRefused as refused:
        raise AnswerInvalid(str(refused)) from None


def _read_envelope(raw: object) -> dict[str, Any]:
    if not isinstance(raw, Mapping):
        from cinatra_sdk.values.json_schema import type_name  # for errors only

        raise AnswerInvalid(
            f"the answer is not an object, got {type_name(raw)}",
            hint='send {"approved": true} or {"approved": false}',
        )
    message = dict(raw)
    unknown = sorted(said_name(key) for key in message if key not in _KEYS)
    if unknown:
        raise AnswerInvalid(f"the answer has unknown keys: {', '.join(unknown)[:200]}")
    if not isinstance(message.get("approved"), bool):
        raise AnswerInvalid(
            "'approved' is missing or is neither true nor false",
            hint='send {"approved": true} or {"approved": false}',
        )
    check_answer_value(message)
    found = find_secret(message)
    if found:
        raise AnswerInvalid(
            f"the answer holds a credential: {found}", hint="answers are kept; leave it out"
        )
    if len(json.dumps(message)) > MAX_ANSWER_BYTES:
        raise AnswerInvalid(f"the answer is larger than {MAX_ANSWER_BYTES} bytes")
    return message


def said_name(name: object) -> str:
    """A given member name for an error text, without credentials and invisible characters."""
    shown = redact(str(name))[:_LONGEST_NAME]
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in shown
    )


def _read_text(message: Mapping[str, Any], key: str) -> str:
    value = message.get(key, "")
    if not isinstance(value, str):
        raise AnswerInvalid(f"'{key}' is not a string")
    return value


def _governed_out(decoded: Any, output: str) -> Any:
    """The JSON document in a text, cleaned by the rules for a document that is sent as an
    object.
    """
    if decoded is _UNDECODED:
        return decoded
    found = find_secret(decoded)
    if found:
        raise AnswerInvalid(
            f"the answer holds a credential: {found}", hint="answers are kept; leave it out"
        )
    return without_governed(decoded, where=f"the answer for '{output}'")


def _decode_json(text: str) -> Any:
    try:
        return read_json(text)
    except NotStrictJson:
        return _UNDECODED


def _find_schema_problem(schema: Mapping[str, JsonValue] | None, value: Any) -> str:
    """The first way in which `value` breaks `schema`; empty when it fits."""
    from cinatra_sdk.values.json_schema import (
        first_problem,  # on first use
    )

    return first_problem(schema or {}, value)
