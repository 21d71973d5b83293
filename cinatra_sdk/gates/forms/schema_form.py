"""The form of a gate with the author's JSON Schema of the answer.

    form = SchemaForm(output="setupJson", answer_schema={"type": "object", "required": ["site"], …})
    form.read({"approved": True, "value": {"site": "https://a.example"}})
        ->  Answer(approved=True, value='{"site":"https://a.example"}', …)

Three shapes of schema occur in real files, told apart by the schema itself:
* an object that has the output's own title as a property: the answer is `{title: value}`;
* any other schema on a string output: it describes the JSON document that the string carries;
* on an output of another type: it describes the value itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.data.ports import list_choices, properties_of, takes_text
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.answers import (
    Answer,
    Given,
    NoWords,
    envelope_schema,
    has_words,
    is_placeholder,
    read_envelope,
)
from cinatra_sdk.gates.decisions import UNSET, Unset
from cinatra_sdk.gates.dialects import (
    Asks,
    read_dialect,
    read_inside,
    refuse_no,
    refuse_own_answer,
)
from cinatra_sdk.gates.forms.answer_form import (
    UNDECODED,
    check_typed,
    decode_document,
    find_schema_problem,
    make_record,
    make_text,
    takes,
)
from cinatra_sdk.light_imports.records import dataclass

_AGREEMENT: Final = frozenset(
    {"accept", "accepted", "agree", "agreed", "approve", "approved", "confirm", "confirmed", "ok"}
)
"""Names of boolean members that stand for an approval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaForm:
    """A value that fits the author's schema."""

    answer_schema: Mapping[str, JsonValue]
    """JSON Schema of the answer's value."""
    output: str = "approved"
    """Title of the gate's output, or of the input of the run, that an answer fills.  Empty for a
    form of several inputs.
    """
    text_output: bool = True
    """Whether that output is a string."""
    output_schema: Mapping[str, JsonValue] | None = None
    """JSON Schema of the output itself, unless it is a string: schema of the value that the flow
    reads.
    """
    document_schema: Mapping[str, JsonValue] | None = None
    """JSON Schema of the document inside the answer's string, where the author gave a schema."""
    bare: bool = False
    """Whether an object without the title around it may be the value of a titled answer."""

    @property
    def is_titled(self) -> bool:
        """Whether the answer is an object that names the output."""
        properties = self.answer_schema.get("properties")
        return bool(self.output) and isinstance(properties, Mapping) and self.output in properties

    @property
    def asks_yes(self) -> bool:
        """Whether the schema contains the yes, and nothing else."""
        properties = self.answer_schema.get("properties")
        if not isinstance(properties, Mapping) or list(properties) != ["approved"]:
            return False
        yes = properties["approved"]
        return isinstance(yes, Mapping) and yes.get("type") == "boolean"

    @property
    def value_schema(self) -> Mapping[str, JsonValue]:
        """All that the author's schemas say of the value, for whoever looks for a name in them."""
        own = self.answer_schema
        return {"allOf": [dict(own), dict(self.document_schema)]} if self.document_schema else own

    def schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the JSON that resumes the gate."""
        # A schema with `$ref` cannot stand inside another schema; the payload carries it.
        refers = '"$' in json.dumps(self.answer_schema)
        return envelope_schema({} if refers else dict(self.answer_schema))

    def read(self, raw: object) -> Answer:
        """The checked answer; raises `AnswerInvalid`."""
        asks: Asks = "words" if self.needs_words else "yes"
        asks = "choice" if self._lists_texts else asks
        given = read_dialect(raw, asks=asks, yes=self.plain_yes, schema=self.value_schema)
        answer = read_envelope(given, output=self.output, read_value=self.read_value)
        refuse_own_answer(given, self.value_schema)
        return answer

    def read_value(self, given: Given) -> JsonValue:
        """The given value, taken out of its title, as the type of the output."""
        if given.has_value:
            value = self._check_value(given.value)
            if self.asks_yes:
                refuse_no({"approved": False} if given.value is False else given.value)
            if self.needs_words:
                self._require_words(value)
            self._refuse_blanks(given.value)
            return value
        if (
            self.asks_yes and self.document_schema is None
        ):  # the envelope's own yes is the one that the schema asks for
            return self._check_value({"approved": True})
        # An approval without a value is valid where the schema requires no value.
        if self.is_titled and not find_schema_problem(self.answer_schema, {}):
            return given.yes_text if self.text_output else self._fill_output(None)
        return self._check_value({})

    def example(self) -> JsonValue:
        """A value that fits the schemas; raises `ValueError`."""
        from cinatra_sdk.data.schema.samples import sample  # for examples only

        value = sample(self.answer_schema, name=self.output)
        if self.output_schema is not None and not takes(self, value):
            # The answer's schema is wider than the output's schema.
            value = sample(self.output_schema, name=self.output)
        if self.document_schema is not None and self.is_titled and isinstance(value, dict):
            document = sample(self.document_schema, name=self.output)
            value[self.output] = json.dumps(document, ensure_ascii=False)
        return self._accept_agreements(value)

    @property
    def needs_data(self) -> bool:
        return self.fields_schema is not None

    @property
    def needs_words(self) -> bool:
        """Whether the schema asks for one text, without which no approval fits."""
        if self.text_field is None:
            return False
        named = bool(properties_of(self.answer_schema))
        return not named or bool(find_schema_problem(self.answer_schema, {}))

    @property
    def plain_yes(self) -> JsonValue | Unset:
        return {"approved": True} if self.asks_yes else UNSET

    @property
    def fields_schema(self) -> Mapping[str, JsonValue] | None:
        if self.document_schema is not None:
            return self.document_schema
        return None if self.asks_yes else self.answer_schema

    @property
    def text_field(self) -> str | None:
        if self.document_schema is not None:
            return None
        parts = properties_of(self.answer_schema)
        if not parts:
            return "" if takes_text(self.answer_schema) else None
        name, part = next(iter(parts.items()))
        return name if len(parts) == 1 and takes_text(part) else None

    def name_value(self, value: JsonValue) -> JsonValue:
        return {self.output: value} if self.is_titled else value

    def to_record(self) -> dict[str, JsonValue]:
        return make_record(
            output=self.output,
            text_output=self.text_output,
            bare=self.bare,
            answer_schema=self.answer_schema,
            output_schema=self.output_schema,
            document_schema=self.document_schema,
        )

    # ------------------------------------------------------------------ reading a value

    @property
    def _lists_texts(self) -> bool:
        """Whether the whole answer is one of some texts."""
        parts = properties_of(self.answer_schema)
        part = self.answer_schema if not parts else next(iter(parts.values()))
        listed = list_choices(part) if isinstance(part, Mapping) and len(parts) < 2 else []
        return bool(listed) and all(isinstance(one, str) for one in listed)

    def _require_words(self, value: JsonValue) -> None:
        """Raise `AnswerInvalid` for an empty text, unless the author lists it among the answers."""
        field = self.text_field
        part = properties_of(self.answer_schema).get(field) if field else self.answer_schema
        listed = isinstance(part, Mapping) and ("enum" in part or "const" in part)
        said = value.get(field) if isinstance(value, Mapping) and field else value
        if not listed and (not has_words(said) or is_placeholder(said)):
            raise NoWords("the answer has no words", hint=self._format_question())

    def _refuse_blanks(self, value: JsonValue) -> None:
        """Raise `AnswerInvalid` where the schema asks for texts and nothing else, and each of those
        that it requires is empty: a person who writes one may leave another empty on purpose.
        """
        if self.document_schema is not None:
            return  # of a document its own schema says what may be left out
        parts = properties_of(self.answer_schema)
        said = read_inside(value) if parts else value
        asked: dict[str, Any] = {self.output: self.answer_schema}
        if parts:
            listed = self.answer_schema.get("required")
            needed = {str(name) for name in listed} if isinstance(listed, list) else set()
            asked = {name: part for name, part in parts.items() if name in needed}
        if not all(map(_asks_texts, parts.values() if parts else asked.values())):
            return
        named = said if parts and isinstance(said, Mapping) else {self.output: said}
        # Null and an empty list are answers where the author's schema takes them.
        given = [named[name] for name in asked if named.get(name) not in (None, [])]
        if given and not any(has_words(one) and not is_placeholder(one) for one in given):
            raise NoWords("the answer has no words", hint=self._format_question())

    def _check_value(self, given: JsonValue) -> JsonValue:
        problem = find_schema_problem(self.answer_schema, given)
        if not problem:
            return self._fill_output(given)
        decoded: Any = UNDECODED
        if isinstance(given, str):
            decoded = decode_document(given, output=self.output)
            if decoded is not UNDECODED and not find_schema_problem(self.answer_schema, decoded):
                # The flow gets the person's own text byte for byte, not a re-encoded text.
                return self._fill_output(decoded) if self.is_titled else self._make_text(given)
        if self.is_titled and (self.bare or not isinstance(given, Mapping)):
            # The value alone, without its title around it; an object also as its text.
            as_text = self.bare and isinstance(decoded, Mapping)
            for alone in (given, decoded) if as_text else (given,):
                titled = {self.output: alone}
                untitled_problem = find_schema_problem(self.answer_schema, titled)
                if not untitled_problem:
                    return self._fill_output(titled)
            # For an object with the title, the error says what is wrong under the title.
            if not isinstance(given, Mapping) or self.output not in given:
                problem = untitled_problem
        raise AnswerInvalid(f"the answer does not fit: {problem}", hint=self._format_question())

    def _fill_output(self, value: JsonValue) -> JsonValue:
        if self.is_titled and isinstance(value, Mapping):
            value = value.get(self.output)
        if not self.text_output:
            return check_typed(value, output=self.output, schema=self.output_schema)
        return self._make_text(value)

    def _make_text(self, value: JsonValue) -> str:
        return make_text(value, output=self.output, document_schema=self.document_schema)

    def _format_question(self) -> str:
        required = self.answer_schema.get("required")
        if isinstance(required, list) and required:
            return "the gate asks for " + ", ".join(f"'{name}'" for name in required)
        return f"the gate asks for a value of '{self.output}'"

    # ------------------------------------------------------------------ making an example

    def _accept_agreements(self, value: JsonValue) -> JsonValue:
        """`value` with true for members that stand for an approval, because the example approves."""
        if not isinstance(value, dict):
            return value
        yes = {name for name, part in value.items() if part is False and name.lower() in _AGREEMENT}
        agreed: JsonValue = {name: True if name in yes else part for name, part in value.items()}
        return agreed if yes and takes(self, agreed) else value


def _asks_texts(schema: object) -> bool:
    """Whether a schema asks for a text, a text or nothing, or a list of texts, and lists none of them
    as an answer that may be empty.
    """
    if not isinstance(schema, Mapping) or {"enum", "const", "default"} & schema.keys():
        return False
    if schema.get("minLength") == 0 or schema.get("minItems") == 0:
        return False
    for key in ("anyOf", "oneOf"):
        if key in schema:
            others = [one for one in schema[key] if one != {"type": "null"}]
            return bool(others) and all(map(_asks_texts, others))
    kind = schema.get("type")
    kinds = [one for one in kind if one != "null"] if isinstance(kind, list) else [kind]
    return kinds == ["string"] or (kinds == ["array"] and _asks_texts(schema.get("items")))
