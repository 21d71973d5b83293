"""Asking a person at the terminal: approve, reject, or leave the gate waiting.

In: a waiting gate.  Out: a `Decision`, or None when the person leaves it waiting.

    approve [a], reject [r], leave waiting [q]: r wrong list
        ->  Decision.reject(by="ann", reason="wrong list")

A gate whose answer has fields is asked field by field: required ones first, types converted.
A gate that asks for a context selection shows its checklist again after every change.
Ctrl-D and Ctrl-C leave the gate waiting; they arrive as `EOFError` and `KeyboardInterrupt`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rich.text import Text

from cinatra_sdk.decisions import Decision
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates import Gate
from oas_compiler.cli.checklist import CannotTick, Checklist
from oas_compiler.cli.checklist_view import checklist_view
from oas_compiler.cli.fields import (
    NotFitting,
    Schema,
    approval_value,
    choices,
    has_form,
    kind,
    read_field,
)
from oas_compiler.cli.inputs import NOT_JSON, decoded
from oas_compiler.cli.interrupts import typed_line
from oas_compiler.cli.render import below_heading, gate_view
from oas_compiler.cli.safe import clean, cut
from oas_compiler.cli.selecting import answer_value
from oas_compiler.cli.terminal import Terminal
from oas_compiler.cli.values import cell

LINE_LIMIT: Final = 4095
"""Bytes of one typed line that a terminal passes on; the rest is lost."""
MAX_NESTING: Final = 3
SKIPPED: Final = object()
_ONLY_NUMBERS: Final = re.compile(r"[\d\s,-]+")
"""No reason, but rows that somebody means to tick: an approval without them could not be undone."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks at one terminal, in the name of one person."""

    terminal: Terminal
    by: str
    names: Mapping[str, str] = field(default_factory=dict)
    """Artifact id → name, for the checklist of a context selection."""
    read: Callable[[], str] = typed_line

    def checklist(self, gate: Gate) -> Checklist | None:
        """What a gate offers, with nothing ticked by the person here; None for another gate."""
        selector = gate.form.selector
        return None if selector is None else Checklist.of(selector, self.names)

    def decide(self, gate: Gate, checklist: Checklist | None = None) -> Decision | None:
        """Show the gate and ask until there is a fitting decision; None leaves it waiting.

        checklist: what was ticked before, of a choice that was refused; None begins a new one.
        """
        checklist = checklist or self.checklist(gate)
        self.terminal.say("", gate_view(gate, self.names, checklist=checklist, asking=True))
        while True:
            typed = self._line(_choice(gate)).strip()
            word, _, rest = typed.partition(" ")
            chosen, note = word.lower(), rest.strip()
            if chosen in {"q", "quit"}:
                return None
            if chosen in {"r", "reject"}:
                reason = note or self._line("reason (optional): ").strip()
                return Decision.reject(by=self.by, reason=reason)
            if (
                chosen in {"a", "approve"}
                and checklist is not None
                and _ONLY_NUMBERS.fullmatch(note)
            ):
                self.terminal.error(f"type {note} alone to tick, then a to approve")
                continue
            if chosen in {"a", "approve"}:
                value = self._filled_in(gate, checklist)
            elif chosen in {"j", "json"} and (checklist is not None or has_form(gate)):
                value = self._pasted()
            elif checklist is not None:
                checklist = self._ticked(checklist, typed)
                continue
            else:
                self.terminal.say("Type one of the letters and press Enter.")
                continue
            decision = None if value is NOT_JSON else self._approval(gate, note, value)
            if decision is not None:
                return decision

    def _ticked(self, checklist: Checklist, typed: str) -> Checklist:
        """The checklist after a line, shown; the same one where the line does not fit."""
        try:
            after = checklist.after(typed)
        except CannotTick as problem:
            self.terminal.error(str(problem))
            return checklist
        self.terminal.say(below_heading(checklist_view(after, asking=True)))
        return after

    def _filled_in(self, gate: Gate, checklist: Checklist | None) -> Any:
        """What an approval sends along; `NOT_JSON` for a selection that the slot refuses."""
        if checklist is not None:
            refused = checklist.refusal()
            if refused:
                self.terminal.error(refused)
                return NOT_JSON
            return answer_value(gate.form, checklist.envelope())
        return self._filled(gate) if has_form(gate) else approval_value(gate)

    def _approval(self, gate: Gate, note: str, value: Any) -> Decision | None:
        """The approval with what was filled in; None when it does not fit and is asked again."""
        decision = Decision.approve(by=self.by, reason=note, value=value)
        try:
            gate.check(decision)
        except AnswerInvalid as error:
            self.terminal.error(str(error))
            return None
        return decision

    # ------------------------------------------------------------------ forms

    def _filled(self, gate: Gate) -> Any:
        """The value of the gate's form, field by field."""
        form = gate.form
        schema = form.schema if form.schema is not None else form.inner or {}
        if form.inner is None or not form.titled:
            return self._value(form.output, schema, required=True)
        # The author described the document inside the answer's string: that is what is asked.
        outer = {name: part for name, part in _properties(schema).items() if name != form.output}
        others = self._object({**schema, "properties": outer}, prefix="", nesting=0)
        inside = self._value("", form.inner, required=True)
        return {**others, form.output: json.dumps(inside, ensure_ascii=False)}

    def _object(self, schema: Schema, *, prefix: str, nesting: int) -> dict[str, Any]:
        required = schema.get("required")
        names = required if isinstance(required, list) else []
        properties = _properties(schema)
        first = [name for name in names if name in properties]
        filled: dict[str, Any] = {}
        for name in (*first, *(name for name in properties if name not in first)):
            value = self._value(
                f"{prefix}{name}", properties[name], required=name in first, nesting=nesting
            )
            if value is not SKIPPED:
                filled[name] = value
        return filled

    def _value(self, name: str, schema: Schema, *, required: bool, nesting: int = 0) -> Any:
        """A value of `schema`; `SKIPPED` when it is optional and left empty."""
        if _properties(schema) and nesting < MAX_NESTING and required:
            prefix = f"{name}." if name and nesting else ""
            return self._object(schema, prefix=prefix, nesting=nesting + 1)
        self._describe(schema)
        must = "required" if required else "optional, Enter skips"
        has_default = "default" in schema
        default = f", Enter takes {cell(schema['default'])}" if has_default else ""
        prompt = f"{clean(name) or 'value'} ({kind(schema)}{default or ', ' + must}): "
        while True:
            typed = self._line(prompt)
            if not typed.strip():
                if has_default:
                    return schema["default"]
                if not required:
                    return SKIPPED
                self.terminal.say('Something is needed here (type "" for an empty text).')
                continue
            try:
                return read_field(schema, typed)
            except NotFitting as problem:
                self.terminal.error(str(problem))

    def _describe(self, schema: Schema) -> None:
        for key in ("title", "description"):
            text = schema.get(key)
            if isinstance(text, str) and text:
                self.terminal.say(Text(cut(clean(text), 300), style="dim"))
        for number, option in enumerate(choices(schema), start=1):
            self.terminal.say(Text(f"  {number}) {cell(option)}"))

    def _pasted(self) -> Any:
        """JSON over any number of lines; `NOT_JSON` after an empty line that does not end any."""
        self.terminal.say("Paste the JSON value; an empty line ends it.")
        text = ""
        while True:
            line = self._line("")
            text += line + "\n"
            value = decoded(text)
            if value is not NOT_JSON:
                return value
            if not line.strip():
                self.terminal.error("this is not JSON")
                return NOT_JSON

    def _line(self, prompt: str) -> str:
        """One line without its end.

        Raises: `EOFError` for Ctrl-D.
        """
        if prompt:
            self.terminal.prompt(prompt)
        line = self.read()
        if not line.endswith("\n"):
            self.terminal.say("")
            raise EOFError
        if len(line.encode(errors="replace")) >= LINE_LIMIT:
            self.terminal.note("the terminal may have cut this line; `oasflow answer` takes a file")
        return line.rstrip("\r\n")


def _choice(gate: Gate) -> str:
    if gate.form.selector is not None:
        what = "numbers tick, " if gate.form.selector.candidates else ""
        return f"{what}approve [a], paste JSON [j], reject [r], leave waiting [q]: "
    if has_form(gate):
        return "fill in and approve [a], paste JSON [j], reject [r], leave waiting [q]: "
    return "approve [a], reject [r], leave waiting [q]: "


def _properties(schema: Schema) -> Mapping[str, Any]:
    found = schema.get("properties")
    if not isinstance(found, Mapping):
        return {}
    return {name: part if isinstance(part, Mapping) else {} for name, part in found.items()}
