"""A form of several fields: asked in order, with a way back, and reviewed at the end.

In: a JSON Schema, and proposed values.  Out: the filled-in value; None if the person went back.

    fields_of({"properties": {"to": {…}, "mail": {"properties": {"subject": {…}}}}, …}, {"to": "a"})
        ->  [FormField(("to",), present="a"), FormField(("mail", "subject"))]
    Form(fields, keyboard).filled()  ->  {("to",): "b", ("mail", "subject"): "Hello"}
    assembled(…)                     ->  {"to": "b", "mail": {"subject": "Hello"}}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rich.console import RenderableType
from rich.text import Text

from cinatra_sdk.contract import RUN_ID_INPUTS
from cinatra_sdk.data.ports import Schema, choices, properties_of, takes_text
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.terminal.exits import Exit, Halt
from oas_compiler.cli.terminal.keyboard import HOW_TO_TYPE, Keyboard
from oas_compiler.cli.terminal.layout import Member, Words
from oas_compiler.cli.terminal.printable_text import clean, cut
from oas_compiler.cli.view.values import (
    Extent,
    NotFitting,
    as_typed,
    cell,
    fits,
    is_numbered,
    kind,
    read_field,
    words_of,
)

if TYPE_CHECKING:
    from oas_compiler.cli.terminal.streams import Terminal
    from oas_compiler.lower.flow import Flow


MAX_NESTING: Final = 3
SKIPPED: Final = object()
"""The value of an optional field that was left empty."""
_ABSENT: Final = object()
_BACK: Final = object()

Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """One question of a form."""

    path: Path
    """Property names from the outermost object inwards; empty where the form asks for the whole
    value.
    """
    name: str
    schema: Schema
    required: bool
    present: Any = _ABSENT
    """The proposal, accepted by Enter."""

    @property
    def is_proposed(self) -> bool:
        return self.present is not _ABSENT


def fields_of(schema: Schema, proposed: Any = None, *, name: str = "") -> list[FormField]:
    """The fields of an object, required ones first; for any other type, one field called `name`.

    proposed: a value of `schema`, or a part of one; a value that does not fit its field is ignored.
    """
    if not properties_of(schema):
        return [_make_field((), name, schema, True, _ABSENT if proposed is None else proposed)]
    return list(_walk_fields(schema, proposed, ()))


def _walk_fields(schema: Schema, proposed: Any, path: Path) -> Iterator[FormField]:
    listed = schema.get("required")
    required = listed if isinstance(listed, list) else []
    parts = properties_of(schema)
    first = [name for name in required if name in parts]
    values = proposed if isinstance(proposed, Mapping) else {}
    for name in (*first, *(name for name in parts if name not in first)):
        own, part = (*path, name), parts[name]
        value = values.get(name, part.get("default", _ABSENT))
        if name in first and properties_of(part) and len(own) < MAX_NESTING:
            yield from _walk_fields(part, value, own)
        else:
            yield _make_field(own, ".".join(own), part, name in first, value)


def _make_field(path: Path, name: str, schema: Schema, required: bool, value: Any) -> FormField:
    # A default of the form is shown even if it does not fit.
    usable = value is not _ABSENT and as_typed(schema, value) and not fits(schema, value)
    present = value if usable else _ABSENT
    return FormField(path=path, name=name, schema=schema, required=required, present=present)


def assembled(fields: Sequence[FormField], values: Mapping[Path, Any]) -> Any:
    """The value of the whole form; a skipped optional field is left out."""
    whole: dict[str, Any] = {}
    for one in fields:
        value = values[one.path]
        if not one.path:
            return value
        inside = whole
        for part in one.path[:-1]:
            inside = inside.setdefault(part, {})
        if value is not SKIPPED:
            inside[one.path[-1]] = value
    return whole


@dataclass(frozen=True, slots=True)
class Form:
    """Fields that one person fills in."""

    fields: Sequence[FormField]
    keyboard: Keyboard
    send: str = "approve with this"
    """The action of Enter at the end, in words."""
    typed: dict[Path, Any] = field(default_factory=dict)
    """Path → the value that was filled in; kept also after the person went back."""
    needs_words: bool = False
    """Whether the answer is one text that has to have words."""

    def filled(self, known: Mapping[Path, Any] | None = None) -> dict[Path, Any] | None:
        """A value for every field, `SKIPPED` included; None when the person went back.

        known: values that were given already; they are not asked for, but can be changed at the
        end.
        """
        values = self.typed
        values.update(known or {})
        asked = [at for at, field in enumerate(self.fields) if field.path not in (known or {})]
        self.keyboard.terminal.say(Words(Text(HOW_TO_TYPE, style="dim")))
        turn = 0
        while True:
            if turn < len(asked):
                field = self.fields[asked[turn]]
                value = self._value(field, values.get(field.path, field.present))
                if value is _BACK and turn == 0:
                    return None
                turn += -1 if value is _BACK else 1
                if value is not _BACK:
                    values[field.path] = value
                continue
            number = self._looked_over(values)
            if number == 0:
                return values
            if number < 0:
                turn = len(asked) - 1
                continue
            field = self.fields[number - 1]
            value = self._value(field, values.get(field.path, field.present))
            if value is not _BACK:
                values[field.path] = value

    def overview(self, values: Mapping[Path, Any]) -> list[RenderableType]:
        """Every field with its number and its value."""
        most = min(28, max(len(clean(field.name)) for field in self.fields))
        digits = len(str(len(self.fields)))
        return [
            Member(
                f"{number:>{digits}}  {cut(clean(field.name), 60):<{most}}",
                _format_value(field, values),
                is_words=True,
            )
            for number, field in enumerate(self.fields, 1)
        ]

    def _looked_over(self, values: Mapping[Path, Any]) -> int:
        """0 to send it, -1 to go back, else the number of a field to change."""
        terminal = self.keyboard.terminal
        terminal.say(*self.overview(values))
        most = len(self.fields)
        change = f"change a field [1-{most}]" if most > 1 else "change it [1]"
        while True:
            typed = self.keyboard.line(f"{self.send} [Enter], {change}, back [<]: ").strip()
            if typed in {"", "<"}:
                return -1 if typed else 0
            if typed.isascii() and typed.isdecimal() and len(typed) < 5 and 1 <= int(typed) <= most:
                return int(typed)
            numbers = f"a number from 1 to {most}" if most > 1 else "1"
            self.keyboard.refuse(f"type {numbers}, <, or nothing")

    def _takes_empty_text(self, field: FormField) -> bool:
        return takes_text(field.schema) and not self.needs_words and not fits(field.schema, "")

    def _value(self, field: FormField, present: Any) -> Any:
        """The typed value of a field; `SKIPPED`, or `_BACK`."""
        _print_field_help(field, self.keyboard)
        stands = present is not _ABSENT and present is not SKIPPED
        empty = stands and present == ""  # there is no value to change
        must = ", required" if field.required else ", optional, Enter skips"
        must = ", Enter leaves it empty" if empty else "" if stands else must
        prompt = f"{cut(clean(field.name), 60) or 'value'} ({kind(field.schema)}{must}): "
        text = as_typed(field.schema, present) if stands and not empty else ""
        while True:
            typed = self.keyboard.line(prompt, present=text, words=True)
            if typed.strip() == "<":
                return _BACK
            if not typed.strip():
                if empty:
                    return present
                if not field.required:
                    return SKIPPED
                hint = ' (type "" for an empty text)' if self._takes_empty_text(field) else ""
                self.keyboard.refuse(f"Something is needed here{hint}.", is_error=False)
                continue
            try:
                return read_field(field.schema, typed)
            except NotFitting as problem:
                self.keyboard.refuse(str(problem))
                text = ""


def _format_value(field: FormField, values: Mapping[Path, Any]) -> Text:
    value = values.get(field.path, _ABSENT)
    if value is _ABSENT:
        words = "missing" if field.required else "left out"
        return Text(words, style="yellow" if field.required else "dim")
    if value is SKIPPED:
        return Text("left out", style="dim")
    return Text(cell(value) or '""')


def _print_field_help(field: FormField, keyboard: Keyboard) -> None:
    for text in words_of(field.name, field.schema):
        keyboard.terminal.say(Words(Text(text, style="dim")))
    options = choices(field.schema)
    numbered = is_numbered(options)
    for number, option in enumerate(options, start=1):
        sign = f"{number})" if numbered else "-"
        keyboard.terminal.say(Words(Text(f"{sign} {cell(option, Extent(whole=True))}")))


# ----------------------------------------------------------------------------
# Asks for a run's missing inputs in one form, before the run begins.
#
# In: a flow and the inputs of the command line.  Out: these and the inputs that a person filled in.
#
#     oasflow run agents/onboarding
#     Inputs of Onboarding: 2 of 3 are missing
#       1  employeeName  missing
#       2  role          missing
#       3  team          Design


def with_asked(terminal: Terminal, flow: Flow, params: dict[str, Any]) -> dict[str, Any]:
    """`params` and the inputs that a person filled in; `params` unchanged where no input is
    missing.

    Raises: `Halt` when the person leaves the form; then no run was begun.
    """
    from oas_compiler.control.approval import visible_required

    start = flow.ir.start_node()
    hidden = {*start.hidden, *RUN_ID_INPUTS}
    missing = [t for t in visible_required(start) if t not in params and t not in hidden]
    if not missing:
        return params
    fields = [field for field in _list_input_fields(flow) if field.name not in hidden]
    known = {
        field.path: _choose_known_value(field, params)
        for field in fields
        if field.name not in missing
    }
    form = Form(fields, Keyboard(terminal), send="start the run")
    are = "is" if len(missing) == 1 else "are"
    heading = f"Inputs of {clean(flow.name)}: {len(missing)} of {len(fields)} {are} missing"
    terminal.say("", Words(Text(heading, style="bold"), 0), *form.overview(known))
    try:
        filled = form.filled(known)
    except (KeyboardInterrupt, EOFError):
        terminal.say("")
        filled = None
    if filled is None:
        raise Halt("nothing was begun", exit=Exit.INTERRUPTED, code="interrupted")
    asked = {path[0]: value for path, value in filled.items() if value is not SKIPPED}
    return {**params, **asked}


def _list_input_fields(flow: Flow) -> list[FormField]:
    """One field for every input, also for an input that is an object."""
    schema: Any = flow.input_schema
    return [
        _make_input_field(title, part, title in schema.get("required", ()))
        for title, part in schema["properties"].items()
    ]


def _make_input_field(title: str, schema: Any, required: bool) -> FormField:
    field = FormField(path=(title,), name=title, schema=schema, required=required)
    return replace(field, present=schema["default"]) if "default" in schema else field


def _choose_known_value(field: FormField, params: dict[str, Any]) -> Any:
    if field.name in params:
        return params[field.name]
    return field.present if field.is_proposed else SKIPPED
