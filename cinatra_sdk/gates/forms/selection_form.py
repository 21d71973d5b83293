"""The form of a gate that asks for a context selection, around the gate's form without it.

It takes the `userResponse` envelope, as text or as an object, and refuses what the slot does not
allow: the platform would only refuse it once the gate is closed.

    form = SelectionForm(carrier=TextForm(output="userResponse"), selector=selector)
    form.read({"approved": True})                      ->  AnswerInvalid: "… chooses none"
    form.read({"approved": True, "value": envelope})   ->  Answer(approved=True, value='{"slotId":…', …)
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import JsonValue

from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.context.selector import Selector
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.answers import Answer, Given, NoWords, has_words, read_envelope
from cinatra_sdk.gates.decisions import Unset
from cinatra_sdk.gates.dialects import read_dialect
from cinatra_sdk.gates.forms.answer_form import AnswerForm, takes
from cinatra_sdk.gates.forms.schema_form import SchemaForm
from cinatra_sdk.light_imports.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionForm:
    """The envelope of a context selection."""

    carrier: AnswerForm
    """The gate's form without the selection: it says how an answer carries the envelope."""
    selector: Selector
    """The allowed selection."""

    @property
    def output(self) -> str:
        return self.carrier.output

    @property
    def text_output(self) -> bool:
        return self.carrier.text_output

    def schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the JSON that resumes the gate: the envelope's, or as the author wrote."""
        if isinstance(self.carrier, SchemaForm):
            return self.carrier.schema()
        return self.selector.answer_schema()

    def read(self, raw: object) -> Answer:
        """The checked answer; raises `AnswerInvalid`."""
        given = read_dialect(raw, asks="yes")
        text = given.get("userResponse") if isinstance(given, Mapping) else None
        if isinstance(text, str) and text.strip() and not has_words(text):
            self._check_selection(text)  # told of the selection, and not of the words in it
        return read_envelope(given, output=self.output, read_value=self.read_value)

    def read_value(self, given: Given) -> JsonValue:
        """The envelope, as the carrier reads it; a yes alone chooses nothing."""
        if given.is_yes:
            raise AnswerInvalid(
                f"the gate asks which refs are chosen for the slot '{self.selector.slot_id}', "
                "and the answer chooses none",
                hint="send the userResponse envelope; oasflow answer takes --select ID",
            )
        try:
            value = self.carrier.read_value(given)
        except NoWords:
            # told of the selection, and not of the text that carries it
            said = given.value
            self._check_selection(said if isinstance(said, str) else json.dumps(said))
            raise
        self._check_selection(value if self.text_output else json.dumps(value))
        return value

    def example(self) -> JsonValue:
        """A valid envelope, in the form of the author's schema."""
        envelope = self.selector.example()
        if not isinstance(self.carrier, SchemaForm):
            return envelope
        if not self.carrier.is_titled:
            carried = self.carry_envelope(envelope)  # a schema that asks for a text takes no object
            return carried if not takes(self, envelope) and takes(self, carried) else envelope
        from cinatra_sdk.data.schema.samples import sample  # for examples only

        around = sample(self.carrier.answer_schema, name=self.output)
        others = around if isinstance(around, dict) else {}
        return {**others, self.output: json.dumps(envelope)}

    def carry_envelope(self, envelope: Mapping[str, JsonValue]) -> JsonValue:
        """The answer's value that carries the envelope, in the form of the author's schema."""
        if not isinstance(self.carrier, SchemaForm) or not self.text_output:
            return dict(envelope)
        return self.name_value(json.dumps(envelope, ensure_ascii=False))

    @property
    def needs_data(self) -> bool:
        return True

    @property
    def needs_words(self) -> bool:
        return False

    @property
    def plain_yes(self) -> JsonValue | Unset:
        return self.carrier.plain_yes

    @property
    def fields_schema(self) -> Mapping[str, JsonValue] | None:
        """None: a person ticks refs, and fills in no fields."""
        return None

    @property
    def text_field(self) -> str | None:
        return None

    def name_value(self, value: JsonValue) -> JsonValue:
        return self.carrier.name_value(value)

    def to_record(self) -> dict[str, JsonValue]:
        return self.carrier.to_record()

    def _check_selection(self, text: object) -> None:
        try:
            self.selector.check(text)
        except ContextError as error:
            problem = f"{error} ({error.code})"
        else:
            return
        raise AnswerInvalid(
            f"the selection does not fit: {problem}",
            hint='send {"slotId": …, "resolutionMode": …, "selectedRefs": […]} with refs of the candidates',
        )
