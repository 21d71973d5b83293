"""Asks for a run's missing inputs in one form, before the run begins.

In: a flow and the inputs of the command line.  Out: these and the inputs that a person filled in.

    oasflow run agents/onboarding
    Inputs of Onboarding: 2 of 3 are missing
      1  employeeName  missing
      2  role          missing
      3  team          Design
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.text import Text

from cinatra_sdk.contract import RUN_ID_INPUTS
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.form import SKIPPED, Form, FormField
from oas_compiler.cli.keyboard import Keyboard
from oas_compiler.cli.layout import Words
from oas_compiler.cli.safe import clean

if TYPE_CHECKING:
    from oas_compiler.cli.terminal import Terminal
    from oas_compiler.lower.flow import Flow


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
        _make_field(title, part, title in schema.get("required", ()))
        for title, part in schema["properties"].items()
    ]


def _make_field(title: str, schema: Any, required: bool) -> FormField:
    field = FormField(path=(title,), name=title, schema=schema, required=required)
    return replace(field, present=schema["default"]) if "default" in schema else field


def _choose_known_value(field: FormField, params: dict[str, Any]) -> Any:
    if field.name in params:
        return params[field.name]
    return field.present if field.is_proposed else SKIPPED
