"""Asking a person at the terminal: approve, reject, or leave the gate waiting.

In: a waiting gate.  Out: a `Decision`, or None when the person leaves it waiting.

    approve [a], reject [r], leave waiting [q]: r wrong list
        ->  Decision.reject(by="ann", reason="wrong list")

A gate whose answer has fields is asked as a form, prefilled with the gate's proposals.  A gate that
asks for a context selection shows its checklist again after every change.  Ctrl-D and Ctrl-C leave
the gate waiting; they arrive as `EOFError` and `KeyboardInterrupt`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Final, Literal

from pydantic import JsonValue
from rich.console import RenderableType
from rich.text import Text

from cinatra_sdk.data.ports import Schema, properties_of
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.decisions import UNSET, Decision, Unset
from cinatra_sdk.gates.forms.answer_form import AnswerForm
from cinatra_sdk.gates.forms.approval_forms import TextForm
from cinatra_sdk.gates.forms.schema_form import SchemaForm
from cinatra_sdk.gates.forms.selection_form import SelectionForm
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.ask.input_form import Form, FormField, Path, assembled, fields_of
from oas_compiler.cli.terminal.argument_values import NOT_JSON, decoded
from oas_compiler.cli.terminal.keyboard import HOW_TO_TYPE, EditorFailed, Keyboard, paged
from oas_compiler.cli.terminal.layout import Words
from oas_compiler.cli.terminal.streams import Terminal
from oas_compiler.cli.view.checklist import CannotTick, Checklist, checklist_view
from oas_compiler.cli.view.run_view import below_heading, gate_view
from oas_compiler.cli.view.values import Extent, proposed, value_view

_ONLY_NUMBERS: Final = re.compile(r"[\d\s,-]+")
"""Not a reason but rows to tick: an approval without the rows could not be undone."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks at one terminal, in the name of one person."""

    terminal: Terminal
    by: str
    names: Mapping[str, str] = field(default_factory=dict)
    """Artifact id → name, for the checklist of a context selection."""
    keyboard: Keyboard = field(init=False)
    drafts: dict[str, str] = field(default_factory=dict)
    """Gate id → the text that was written in an editor but not sent."""
    typed: dict[str, dict[Path, Any]] = field(default_factory=dict)
    """Gate id → the values that were filled into a form but not accepted."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "keyboard", Keyboard(self.terminal))

    def checklist(self, gate: Gate) -> Checklist | None:
        """The checklist of a gate's offers, without ticks of this person; None for a gate without
        offers.
        """
        form = gate.form
        return Checklist.of(form.selector, self.names) if isinstance(form, SelectionForm) else None

    def decide(self, gate: Gate, checklist: Checklist | None = None) -> Decision | None:
        """Show the gate and ask until there is a fitting decision; None leaves it waiting.

        checklist: the ticks of a choice that was refused; None begins a new checklist.
        """
        checklist = checklist or self.checklist(gate)
        extent = Extent(way="v shows all")
        view = gate_view(gate, self.names, checklist=checklist, asking=True, extent=extent)
        self.terminal.say("", view, Words(Text(_format_other_ways(gate, extent), style="dim")))
        while True:
            typed = self.keyboard.line(_format_question(gate, checklist)).strip()
            word, _, rest = typed.partition(" ")
            chosen, note = word.lower(), rest.strip()
            decision: Decision | None = None
            if chosen in {"q", "quit"}:
                return None
            if chosen in {"v", "view"}:
                paged(self.terminal, self._format_whole_gate(gate, checklist))
            elif chosen in {"r", "reject"}:
                decision = self._decide(gate, "rejected", reason=self._ask_reason(note))
            elif chosen in {"d", "deny"} and gate.is_deniable:
                decision = self._decide(gate, "denied", reason=self._ask_reason(note))
            elif checklist is not None and _is_tick(chosen, note):
                checklist = self._tick_checklist(checklist, typed, chosen, note)
            elif chosen in _LETTERS and _is_offered(gate, _LETTERS[chosen]):
                decision = self._approve_by_letter(gate, checklist, _LETTERS[chosen], note)
            else:
                letters = ", ".join(_list_letters(gate))
                reminder = f"Type one of the letters ({letters}) and press Enter."
                self.keyboard.refuse(reminder, is_error=False)
            if decision is not None:
                return decision

    def _format_whole_gate(self, gate: Gate, checklist: Checklist | None) -> RenderableType:
        extent = Extent(whole=True)
        return gate_view(gate, self.names, checklist=checklist, extent=extent)

    def _approve_by_letter(
        self, gate: Gate, checklist: Checklist | None, letter: str, note: str
    ) -> Decision | None:
        """The approval by one of the letters; None where it fails and the person is asked again."""
        if note and (stray := _describe_stray_words(gate, letter, note)):
            self.keyboard.refuse(stray)
            return None
        if letter == "a" and needs_words(gate.form):
            value = self._ask_text(gate, "")
        elif letter == "a":
            value = self._filled_in(gate, checklist)
        elif letter == "j":
            value = self._read_pasted_json()
        elif letter == "w":
            value, note = self._ask_text(gate, note), ""
        else:
            value = self._edit_value(gate)
        return (
            None if value is NOT_JSON else self._decide(gate, "approved", reason=note, value=value)
        )

    def _tick_checklist(
        self, checklist: Checklist, typed: str, chosen: str, note: str
    ) -> Checklist:
        """Show and return the checklist after a line; unchanged where the line does not fit."""
        if chosen in {"a", "approve"}:
            self.keyboard.refuse(f"type {note} alone to tick, then a to approve")
            return checklist
        try:
            after = checklist.after(typed)
        except CannotTick as problem:
            self.keyboard.refuse(str(problem))
            return checklist
        self.terminal.say(below_heading(checklist_view(after, asking=True)))
        return after

    def _filled_in(self, gate: Gate, checklist: Checklist | None) -> Any:
        """The value of an approval; `NOT_JSON` for a selection that the slot refuses."""
        form = gate.form
        if checklist is not None and isinstance(form, SelectionForm):
            refused = checklist.refusal()
            if refused:
                self.keyboard.refuse(refused)
                return NOT_JSON
            return form.carry_envelope(checklist.envelope())
        return self._fill_form(gate) if form.needs_data else form.plain_yes

    def _decide(
        self,
        gate: Gate,
        kind: Literal["approved", "rejected", "denied"],
        *,
        reason: str = "",
        value: JsonValue | Unset = UNSET,
    ) -> Decision | None:
        """The person's decision about what `gate` shows: every decision of a prompt is made here.

        None where the gate refuses it and the person is asked again.
        """
        try:
            decision = Decision(
                approved=kind == "approved",
                denied=kind == "denied",
                by=self.by,
                reason=reason,
                value=value,
                shown=gate.shown,
            )
            gate.check(decision)
        except AnswerInvalid as error:
            self.keyboard.refuse(error.for_people)
            return None
        return decision

    # ------------------------------------------------------------------ ways to answer

    def _ask_reason(self, note: str) -> str:
        return note or self.keyboard.line("reason (optional): ").strip()

    def _fill_form(self, gate: Gate) -> Any:
        """The value of the gate's form, field by field; `NOT_JSON` when the person went back."""
        form = gate.form
        if isinstance(form, SchemaForm) and form.is_titled and form.document_schema is not None:
            return self._fill_titled_document(gate, form, form.document_schema)
        schema = form.answer_schema if isinstance(form, SchemaForm) else form.fields_schema
        fields = fields_of(schema or {}, proposed(gate), name=form.output)
        values = self._fill_fields(gate, fields)
        return NOT_JSON if values is None else assembled(fields, values)

    def _fill_titled_document(self, gate: Gate, form: SchemaForm, document: Schema) -> Any:
        """The same where the author described the document inside the answer's string: the fields
        of the document, and the other fields of the answer around it.
        """
        present = proposed(gate)
        parts = properties_of(form.answer_schema)
        outer = {name: part for name, part in parts.items() if name != form.output}
        around = (
            _nest_fields("around", fields_of({**form.answer_schema, "properties": outer}, present))
            if outer
            else []
        )
        inside = _nest_fields("inside", fields_of(document, present, name="value"))
        values = self._fill_fields(gate, [*around, *inside])
        if values is None:
            return NOT_JSON
        whole = assembled([*around, *inside], values)
        text = json.dumps(whole.get("inside", {}), ensure_ascii=False)
        return {**whole.get("around", {}), form.output: text}

    def _fill_fields(self, gate: Gate, fields: list[FormField]) -> dict[Path, Any] | None:
        """Path of a field → its value; None when the person went back."""
        typed = self.typed.setdefault(gate.id, {})
        needs_words = gate.form.needs_words
        return Form(fields, self.keyboard, typed=typed, needs_words=needs_words).filled()

    def _ask_text(self, gate: Gate, words: str) -> Any:
        """The typed text; `NOT_JSON` where no text was typed."""
        if not words:
            self.terminal.say(Words(Text(HOW_TO_TYPE, style="dim")))
            words = self.keyboard.line("your words: ", words=True).strip()
            if words.lower() in _COMMAND_WORDS and not self._is_meant_as_text(words):
                return NOT_JSON
        if not words:
            self.keyboard.refuse("no words were typed, and nothing was decided", is_error=False)
        if words in {"", "<"}:
            return NOT_JSON
        name = gate.form.text_field
        return {name: words} if name else words

    def _is_meant_as_text(self, words: str) -> bool:
        """Whether a letter that was a command one line before is meant as the answer here."""
        while True:
            typed = self.keyboard.line(
                f'answer with the text "{words}" [Enter], back [<]: '
            ).strip()
            if typed in {"", "<"}:
                return not typed
            self.keyboard.refuse("press Enter to answer with this, or type < to go back")

    def _edit_value(self, gate: Gate) -> Any:
        """The value after editing and review; `NOT_JSON` to ask again."""
        name = gate.form.text_field
        in_words = name is not None
        text = self.drafts.get(gate.id) or _to_edit(gate, in_words)
        question = "Enter takes it, an empty text goes back: "
        try:
            text = self.keyboard.in_editor(question, text, ".txt" if in_words else ".json")
        except EditorFailed as problem:
            self.keyboard.refuse(str(problem))
            return NOT_JSON
        self.drafts[gate.id] = text
        if not text.strip():
            self.keyboard.refuse("the text is empty, and nothing was decided", is_error=False)
            return NOT_JSON
        value: Any = {name: text} if name else text if in_words else decoded(text)
        if value is NOT_JSON:
            self.keyboard.refuse("this is not JSON; e opens it again as you left it")
            return NOT_JSON
        self.terminal.say(below_heading(value_view(value, Extent(way="e opens it again"))))
        while True:
            typed = self.keyboard.line("approve with this [Enter], back [<]: ").strip()
            if typed in {"", "<"}:
                return NOT_JSON if typed else value
            # Here "a" means the edited answer: approving the gate itself would drop the edits.
            self.keyboard.refuse("press Enter to approve with this, or type < to go back")

    def _read_pasted_json(self) -> Any:
        """JSON over any number of lines; `NOT_JSON` after an empty line where the JSON is not
        complete.
        """
        line = self.keyboard.line("Paste the JSON value; an empty line ends it: ")
        text = ""
        while True:
            text += line + "\n"
            value = decoded(text)
            if value is not NOT_JSON:
                return value
            if not line.strip():
                self.keyboard.refuse("this is not JSON")
                return NOT_JSON
            line = self.keyboard.line("", goes_on=True)


# ------------------------------------------------------------------------- offers

_LETTERS: Final = {
    "a": "a", "approve": "a", "j": "j", "json": "j", "w": "w", "words": "w", "e": "e", "edit": "e",
}  # fmt: skip
_COMMAND_WORDS: Final = frozenset({*_LETTERS, "q", "quit", "v", "view", "r", "reject", "d", "deny"})


def needs_words(form: AnswerForm) -> bool:
    """Whether an approval is one text of the person, without a form to fill in around it."""
    return isinstance(form, TextForm) and form.needs_words


def _list_letters(gate: Gate) -> list[str]:
    """The letters that a gate without a checklist takes."""
    ways = [letter for letter in ("a", "j", "w", "e") if _is_offered(gate, letter)]
    return [*ways, *(["d"] if gate.is_deniable else []), "r", "v", "q"]


def _describe_stray_words(gate: Gate, letter: str, words: str) -> str:
    """Why the words behind a letter are taken neither as the answer nor as the reason; empty where
    they are one of the two.

    Where a gate asks for words, those behind `a` would be kept as a reason, and their author means
    them as the answer.
    """
    if letter == "j":
        return "type j alone: the JSON is asked next"
    asks_words = gate.is_question or gate.form.needs_words
    if letter != "a" or not asks_words:
        return ""
    if _is_offered(gate, "w"):
        return f'words behind a are no answer: type "w {words}" to answer with them'
    return "words behind a are no answer: type a alone, and the answer is asked next"


def _is_offered(gate: Gate, letter: str) -> bool:
    form = gate.form
    if letter == "j":
        return form.needs_data and not needs_words(form)
    if letter == "w":
        return form.text_field is not None
    if letter == "e":
        return form.fields_schema is not None or form.text_field is not None or gate.is_editable
    return True


def _is_tick(chosen: str, note: str) -> bool:
    """Whether a line at a checklist names rows."""
    if chosen in {"a", "approve"}:
        return _ONLY_NUMBERS.fullmatch(note) is not None
    return chosen not in {"j", "json"}


def _format_question(gate: Gate, checklist: Checklist | None) -> str:
    if checklist is not None:
        what = "numbers tick, " if checklist.selector.candidates else ""
        return f"{what}approve [a], paste JSON [j], reject [r], leave waiting [q]: "
    if needs_words(gate.form):
        return "answer in words [a], reject [r], leave waiting [q]: "
    if gate.form.needs_data:
        return "fill in and approve [a], paste JSON [j], reject [r], leave waiting [q]: "
    if gate.is_deniable:
        return "approve [a], deny and go on [d], reject and end [r], leave waiting [q]: "
    return "approve [a], reject [r], leave waiting [q]: "


def _format_other_ways(gate: Gate, extent: Extent) -> str:
    """The other possible inputs, beside the letters in the question."""
    ways = ["see all that is cut [v]" if extent.is_cut else "see it in a pager [v]"]
    in_words = _is_offered(gate, "w") and not needs_words(gate.form)
    ways += ["answer in words [w]"] if in_words else []
    ways += ["edit [e]"] if _is_offered(gate, "e") else []
    return f"also: {', '.join(ways)}"


def _to_edit(gate: Gate, in_words: bool) -> str:
    """The text that the editor opens with.

    For a text, the text that the gate proposes, else an empty one; for JSON, an example that fits,
    filled with the values that the gate proposes.
    """
    if gate.is_editable:
        return json.dumps(gate.values["arguments"], indent=2, ensure_ascii=False)
    present = proposed(gate)
    if in_words:
        found = present.get(gate.form.text_field) if isinstance(present, Mapping) else present
        return found if isinstance(found, str) else ""
    example = gate.example()
    if isinstance(example, Mapping) and isinstance(present, Mapping):
        example = {**example, **present}
    return json.dumps(example, indent=2, ensure_ascii=False)


def _nest_fields(part: str, fields: list[FormField]) -> list[FormField]:
    """The same fields, one object further down."""
    return [replace(field, path=(part, *field.path)) for field in fields]
