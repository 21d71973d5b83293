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
from dataclasses import dataclass, field, replace
from typing import Any, Final

from rich.console import RenderableType
from rich.text import Text

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.gates.gate import Gate
from oas_compiler.cli.checklist import CannotTick, Checklist
from oas_compiler.cli.checklist_view import checklist_view
from oas_compiler.cli.editor import EditorFailed
from oas_compiler.cli.fields import approval_value, has_form, properties_of, takes_text
from oas_compiler.cli.form import Field, Form, Path, assembled, fields_of
from oas_compiler.cli.inputs import NOT_JSON, decoded
from oas_compiler.cli.keyboard import HOW_TO_TYPE, Keyboard
from oas_compiler.cli.layout import Words
from oas_compiler.cli.pager import paged
from oas_compiler.cli.proposal import proposed
from oas_compiler.cli.render import below_heading, gate_view
from oas_compiler.cli.selecting import answer_value
from oas_compiler.cli.terminal import Terminal
from oas_compiler.cli.values import Extent, value_view

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
        selector = gate.form.selector
        return None if selector is None else Checklist.of(selector, self.names)

    def decide(self, gate: Gate, checklist: Checklist | None = None) -> Decision | None:
        """Show the gate and ask until there is a fitting decision; None leaves it waiting.

        checklist: the ticks of a choice that was refused; None begins a new checklist.
        """
        checklist = checklist or self.checklist(gate)
        extent = Extent(way="v shows all")
        view = gate_view(gate, self.names, checklist=checklist, asking=True, extent=extent)
        self.terminal.say("", view, Words(Text(_format_other_ways(gate, extent), style="dim")))
        while True:
            typed = self.keyboard.line(_format_question(gate)).strip()
            word, _, rest = typed.partition(" ")
            chosen, note = word.lower(), rest.strip()
            if chosen in {"q", "quit"}:
                return None
            if chosen in {"r", "reject"}:
                reason = note or self.keyboard.line("reason (optional): ").strip()
                return Decision.reject(by=self.by, reason=reason)
            if chosen in {"v", "view"}:
                paged(self.terminal, self._format_whole_gate(gate, checklist))
                continue
            if checklist is not None and _is_tick(chosen, note):
                checklist = self._tick_checklist(checklist, typed, chosen, note)
                continue
            if chosen not in _LETTERS or not _is_offered(gate, _LETTERS[chosen]):
                self.terminal.say("Type one of the letters and press Enter.")
                continue
            decision = self._approve_by_letter(gate, checklist, _LETTERS[chosen], note)
            if decision is not None:
                return decision

    def _format_whole_gate(self, gate: Gate, checklist: Checklist | None) -> RenderableType:
        extent = Extent(whole=True)
        return gate_view(gate, self.names, checklist=checklist, extent=extent)

    def _approve_by_letter(
        self, gate: Gate, checklist: Checklist | None, letter: str, note: str
    ) -> Decision | None:
        """The approval by one of the letters; None where it fails and the person is asked again."""
        if letter == "a":
            value = self._filled_in(gate, checklist)
        elif letter == "j":
            value = self._read_pasted_json()
        elif letter == "w":
            value, note = self._ask_text(gate, note), ""
        else:
            value = self._edit_value(gate)
        return None if value is NOT_JSON else self._make_approval(gate, note, value)

    def _tick_checklist(
        self, checklist: Checklist, typed: str, chosen: str, note: str
    ) -> Checklist:
        """Show and return the checklist after a line; unchanged where the line does not fit."""
        if chosen in {"a", "approve"}:
            self.terminal.error(f"type {note} alone to tick, then a to approve")
            return checklist
        try:
            after = checklist.after(typed)
        except CannotTick as problem:
            self.terminal.error(str(problem))
            return checklist
        self.terminal.say(below_heading(checklist_view(after, asking=True)))
        return after

    def _filled_in(self, gate: Gate, checklist: Checklist | None) -> Any:
        """The value of an approval; `NOT_JSON` for a selection that the slot refuses."""
        if checklist is not None:
            refused = checklist.refusal()
            if refused:
                self.terminal.error(refused)
                return NOT_JSON
            return answer_value(gate.form, checklist.envelope())
        return self._fill_form(gate) if has_form(gate) else approval_value(gate)

    def _make_approval(self, gate: Gate, note: str, value: Any) -> Decision | None:
        """The approval with the filled-in value; None where the value does not fit and the person
        is asked again.
        """
        try:
            decision = Decision.approve(by=self.by, reason=note, value=value)
            gate.check(decision)
        except AnswerInvalid as error:
            self.terminal.error(str(error))
            return None
        return decision

    # ------------------------------------------------------------------ ways to answer

    def _fill_form(self, gate: Gate) -> Any:
        """The value of the gate's form, field by field; `NOT_JSON` when the person went back."""
        form = gate.form
        schema = form.schema if form.schema is not None else form.inner or {}
        present = proposed(gate)
        typed = self.typed.setdefault(gate.id, {})
        if form.inner is None or not form.titled:
            fields = fields_of(schema, present, name=form.output)
            values = Form(fields, self.keyboard, typed=typed).filled()
            return NOT_JSON if values is None else assembled(fields, values)
        # The author described the document inside the answer's string: ask for this document.
        outer = {name: part for name, part in properties_of(schema).items() if name != form.output}
        around = (
            _nest_fields("around", fields_of({**schema, "properties": outer}, present))
            if outer
            else []
        )
        inside = _nest_fields("inside", fields_of(form.inner, present, name="value"))
        values = Form([*around, *inside], self.keyboard, typed=typed).filled()
        if values is None:
            return NOT_JSON
        whole = assembled([*around, *inside], values)
        text = json.dumps(whole.get("inside", {}), ensure_ascii=False)
        return {**whole.get("around", {}), form.output: text}

    def _ask_text(self, gate: Gate, words: str) -> Any:
        """The typed text; `NOT_JSON` where no text was typed."""
        if not words:
            self.terminal.say(Words(Text(HOW_TO_TYPE, style="dim")))
            words = self.keyboard.line("your words: ", words=True).strip()
        if words in {"", "<"}:
            return NOT_JSON
        name = _text_asked(gate)
        return {name: words} if name else words

    def _edit_value(self, gate: Gate) -> Any:
        """The value after editing and review; `NOT_JSON` to ask again."""
        in_words = _text_asked(gate) is not None
        text = self.drafts.get(gate.id) or _to_edit(gate, in_words)
        question = "Enter takes it, an empty text goes back: "
        try:
            text = self.keyboard.in_editor(question, text, ".txt" if in_words else ".json")
        except EditorFailed as problem:
            self.terminal.error(str(problem))
            return NOT_JSON
        self.drafts[gate.id] = text
        if not text.strip():
            return NOT_JSON
        name = _text_asked(gate)
        value: Any = {name: text} if name else text if in_words else decoded(text)
        if value is NOT_JSON:
            self.terminal.error("this is not JSON; e opens it again as you left it")
            return NOT_JSON
        self.terminal.say(below_heading(value_view(value, Extent(way="e opens it again"))))
        while True:
            typed = self.keyboard.line("approve with this [Enter], back [<]: ").strip()
            if typed in {"", "<"}:
                return NOT_JSON if typed else value
            # Here "a" means the edited answer: approving the gate itself would drop the edits.
            self.terminal.error("press Enter to approve with this, or type < to go back")

    def _read_pasted_json(self) -> Any:
        """JSON over any number of lines; `NOT_JSON` after an empty line where the JSON is not
        complete.
        """
        self.terminal.say("Paste the JSON value; an empty line ends it.")
        text = ""
        while True:
            line = self.keyboard.line("")
            text += line + "\n"
            value = decoded(text)
            if value is not NOT_JSON:
                return value
            if not line.strip():
                self.terminal.error("this is not JSON")
                return NOT_JSON


# ------------------------------------------------------------------------- offers

_LETTERS: Final = {
    "a": "a", "approve": "a", "j": "j", "json": "j", "w": "w", "words": "w", "e": "e", "edit": "e",
}  # fmt: skip


def _is_offered(gate: Gate, letter: str) -> bool:
    selects = gate.form.selector is not None
    if letter == "j":
        return selects or has_form(gate)
    if letter == "w":
        return not selects and _text_asked(gate) is not None
    if letter == "e":
        return not selects and (has_form(gate) or _text_asked(gate) is not None)
    return True


def _is_tick(chosen: str, note: str) -> bool:
    """Whether a line at a checklist names rows."""
    if chosen in {"a", "approve"}:
        return _ONLY_NUMBERS.fullmatch(note) is not None
    return chosen not in {"j", "json"}


def _format_question(gate: Gate) -> str:
    if gate.form.selector is not None:
        what = "numbers tick, " if gate.form.selector.candidates else ""
        return f"{what}approve [a], paste JSON [j], reject [r], leave waiting [q]: "
    if has_form(gate):
        return "fill in and approve [a], paste JSON [j], reject [r], leave waiting [q]: "
    return "approve [a], reject [r], leave waiting [q]: "


def _format_other_ways(gate: Gate, extent: Extent) -> str:
    """The other possible inputs, beside the letters in the question."""
    ways = ["see all that is cut [v]" if extent.is_cut else "see it in a pager [v]"]
    ways += ["answer in words [w]"] if _is_offered(gate, "w") else []
    ways += ["edit [e]"] if _is_offered(gate, "e") else []
    return f"also: {', '.join(ways)}"


def _text_asked(gate: Gate) -> str | None:
    """The only property that takes a text; empty for a gate that takes a bare text; else None."""
    form = gate.form
    if form.inner is not None:
        return None
    if form.schema is None:
        return "" if form.text_output else None
    parts = properties_of(form.schema)
    if not parts:
        return "" if takes_text(form.schema) else None
    name, part = next(iter(parts.items()))
    return name if len(parts) == 1 and takes_text(part) else None


def _to_edit(gate: Gate, in_words: bool) -> str:
    """The text that the editor opens with.

    For a text, the text that the gate proposes, else an empty one; for JSON, an example that fits,
    filled with the values that the gate proposes.
    """
    present = proposed(gate)
    if in_words:
        found = present.get(_text_asked(gate)) if isinstance(present, Mapping) else present
        return found if isinstance(found, str) else ""
    example = gate.example()
    if isinstance(example, Mapping) and isinstance(present, Mapping):
        example = {**example, **present}
    return json.dumps(example, indent=2, ensure_ascii=False)


def _nest_fields(part: str, fields: list[Field]) -> list[Field]:
    """The same fields, one object further down."""
    return [replace(field, path=(part, *field.path)) for field in fields]
