"""What is shown is what is there: no text of a flow draws, commands, hides or passes for another."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from typer.testing import CliRunner

from cinatra_sdk.context.artifact_refs import ContextSelection
from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.flow.plan.casts import CastError, cast
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.gates.forms.form_choice import form_of
from oas_compiler import compile_flow
from oas_compiler.cli.app import app_for
from oas_compiler.cli.host.resources import person
from oas_compiler.cli.terminal.argument_values import NOT_JSON, decoded
from oas_compiler.cli.terminal.exits import Halt
from oas_compiler.cli.terminal.streams import Terminal, notes_of_the_log
from oas_compiler.draw.mermaid import mermaid_text
from oas_compiler.ir import ObjectType
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, tests_of
from tests.flows import api, branching, end, flow_of, gate, message, port, start

_OBEYED = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
)
_COMMAND = re.compile(r"^\s*::|##[a-z]*\[", re.MULTILINE)


def attempt(attack: Attack, place: Place) -> str:
    doors = {
        "picture": _picture,
        "graph's own picture": _own_picture,
        "printed": _printed,
        "command line": _command_line,
        "file": _file,
        "name of a decider": _decider,
        "JSON text": _json_text,
    }
    value = attack.value
    if isinstance(value, str):
        value = _unescaped(value)
    elif isinstance(value, dict) and "text" in value:
        value = {**value, "text": _unescaped(value["text"])}
    return doors[attack.door.partition(",")[0]](value, attack, place)


def _unescaped(text: str) -> str:
    r"""`\x1b`, `\u200b` and `\n` of the book as the letters they name."""
    return re.sub(
        r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|([nrt]))",
        lambda m: (
            {"n": "\n", "r": "\r", "t": "\t"}.get(m[4] or "") or chr(int(m[1] or m[2] or m[3], 16))
        ),
        text,
    )


# ------------------------------------------------------------------------------- pictures


def _flow_with(text: str, where: str) -> dict[str, Any]:
    ask, choose = (
        gate("ask"),
        branching("choose", port("x"), {"a": text if where == "branch" else "b"}),
    )
    if where == "name":
        ask = {**ask, "name": text}
    elif where == "id":
        ask = gate(text)
    elif where == "risk":
        ask["metadata"]["cinatra"]["riskClass"] = text
    branch = text if where == "branch" else "b"
    made = flow_of(
        start(port("x", default="a")), ask, choose, api("send", risk="email_send"), end(),
        edges=[("start", "x", "choose", "x")],
        routes=[("start", None, ask["id"]), (ask["id"], None, "choose"), ("choose", branch, "send"),
                ("choose", "default", "end"), ("send", None, "end")],
    )  # fmt: skip
    return {**made, "name": text} if where == "flow" else made


def _picture(text: str, attack: Attack, _place: Place) -> str:
    """The picture has the lines of the same flow with a harmless text, and no directive."""
    where = attack.door.partition(", ")[2]
    drawn = mermaid_text(compile_flow(_flow_with(text, where)).ir)
    plain = mermaid_text(compile_flow(_flow_with("harmless", where)).ir)
    if drawn.count("\n") != plain.count("\n") or len(drawn.splitlines()) != len(plain.splitlines()):
        return "opened: other lines"
    inside = re.findall(r'"([^"\n]*)"', drawn)
    shapes = re.sub(r'"[^"\n]*"', '""', drawn)
    if where != "id" and shapes != re.sub(r'"[^"\n]*"', '""', plain):
        return f"opened: {shapes}"
    if re.search(r"%%|```", drawn) or any(
        re.search(r"[{}<>`;%|\\](?<!;)|%%|<(?!br>)", _no_entities(one)) for one in inside
    ):
        return f"opened: {drawn}"
    if _OBEYED.search(drawn.replace("\n", "")):
        return "opened: letters nobody sees"
    return "the same picture"


def _no_entities(label: str) -> str:
    return re.sub(r"#[a-z0-9]+;|<br>", "", label)


def _own_picture(text: str, attack: Attack, _place: Place) -> str:
    where = attack.door.partition(", ")[2]
    graph = compile_flow(_flow_with(text, where)).graph().get_graph()
    plain = compile_flow(_flow_with("harmless", where)).graph().get_graph()
    drawn, other = graph.draw_mermaid(), plain.draw_mermaid()
    if len(drawn.splitlines()) != len(other.splitlines()):
        return "opened: other lines"
    if "%%{init" in drawn or re.search(r"^\s*(click|style|class) ", drawn, re.MULTILINE):
        return "opened: a directive"
    names = "".join(f"{node.id}{node.metadata}" for node in graph.nodes.values())
    return "opened" if re.search("[\x00-\x1f\x7f-\x9f`;<>]", names) else "the same picture"


# ------------------------------------------------------------------------------ terminals


class _Stream(io.StringIO):
    encoding = "utf-8"

    def __init__(self, tty: bool) -> None:
        super().__init__()
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty


def _printed(value: dict[str, str], _attack: Attack, _place: Place) -> str:
    """What a stream really gets, letter by letter."""
    text, way = value["text"], value["way"]
    tty = "terminal" in way
    out, err = _Stream(tty), _Stream(tty)
    consoles = [
        Console(file=stream, force_terminal=tty, color_system=None, width=4000, markup=False,
                highlight=False, emoji=False)
        for stream in (out, err)
    ]  # fmt: skip
    terminal = Terminal(consoles[0], consoles[1], as_json="JSON" in way)
    document = {"a": [text], text: f"x {text}"}
    with contextlib.suppress(UnicodeEncodeError):
        {
            "show": lambda: terminal.show(text),
            "show a text": lambda: terminal.show(_text(f"x\n{text}")),
            "say": lambda: terminal.say(f"{text}\n{text}"),
            "error": lambda: terminal.error(f"no\n{text}"),
            "note": lambda: terminal.note(f"no\n{text}"),
            "prompt": lambda: terminal.prompt(text),
            "part": lambda: terminal.say_part(_text(text)),
            "table": lambda: terminal.show(_table(text)),
            "log": lambda: _logged(terminal, text),
            "annotation": lambda: terminal.annotate([f"::error file=x::{text}"]),
            "as JSON": lambda: terminal.data(document, of_run=True),
        }[way.removesuffix(" at a terminal")]()
    got = out.getvalue() + err.getvalue()
    if way == "as JSON":
        same = json.loads(got) == document
        return "opened" if _OBEYED.search(got) or _COMMAND.search(got) or not same else "shown"
    if not got.strip():
        return "nothing shown"
    if way == "annotation":
        got = got.removeprefix("::error file=x::")
        if got.count("\n") != 1:
            return "opened: another line"
    if _OBEYED.search(got.replace("\n", "")) or _COMMAND.search(got):
        return f"opened: {got!r}"
    return "shown"


def _text(text: str) -> Any:
    from rich.text import Text

    return Text(text, style="bold")


def _table(text: str) -> Any:
    from rich.table import Table

    table = Table(box=None)
    table.add_column("a")
    table.add_row(text)
    table.add_row(f"{'y' * 5000} {text}")
    return table


def _logged(terminal: Terminal, text: str) -> None:
    log = logging.getLogger("oasflow")
    before = list(log.handlers), log.propagate
    notes_of_the_log(terminal)
    log.warning("%s", f"x\n{text}")
    log.handlers, log.propagate = before


def _command_line(value: dict[str, Any], _attack: Attack, place: Place) -> str:
    """An argument that is told again, as it is on the stream."""
    place.monkeypatch.setenv("DATABASE_URL", "postgresql://u:x@127.0.0.1:1/none")
    arguments = [one.replace("TEXT", value["text"]) for one in value["arguments"]]
    result = CliRunner().invoke(app_for(arguments), arguments)
    return _judged(result.output + result.stderr, result.exit_code)


def _file(value: dict[str, Any], _attack: Attack, place: Place) -> str:
    """A flow whose texts want to be more than texts, given to a command."""
    text = value["text"]
    made = flow_of(
        start(port("x", default=text, description=text)),
        {**gate("ask"), "name": text, "description": text, "message": text},
        {**message("say", text), "description": f"a\n{text}"}, end(),
    )  # fmt: skip
    made = {**made, "name": text, "description": text}
    file = place.folder / "flow.json"
    file.write_text(json.dumps(made))
    other = place.folder / "other.json"
    other.write_text(json.dumps(made).replace("The end", "The other end"))
    arguments = [
        one.replace("OTHER", str(other)).replace("FILE", str(file)) for one in value["arguments"]
    ]
    result = CliRunner().invoke(app_for(arguments), arguments)
    own = [
        line
        for line in result.output.splitlines()
        if re.match(r"::(error|warning|notice) (file|title)", line)
    ]
    said = "\n".join(
        line for line in (result.output + result.stderr).splitlines() if line not in own
    )
    return _judged(said or "-", 0 if result.exit_code in {0, 1, 3} else result.exit_code)


def _judged(said: str, code: int) -> str:
    if _OBEYED.search(said.replace("\n", "")) or _COMMAND.search(said):
        return f"opened: {said!r}"
    return f"exit {code}, shown" if said.strip() else "nothing shown"


# ------------------------------------------------------------------------- people's texts


def _decider(value: dict[str, str], _attack: Attack, _place: Place) -> str:
    name = value["text"] * int(value.get("times", 1))
    try:
        if value["at"] == "Decision":
            found = Decision.approve(by=name).by
        elif value["at"] == "wire":
            found = form_of().read({"approved": True, "by": name}).by
        elif value["at"] == "rejection":
            found = Decision.reject(by=name).by
        elif value["at"] == "plain answer":
            found = Decision.of(True, by=name).by
        else:
            found = person(name)
    except (AnswerInvalid, Halt) as error:
        return "opened" if _OBEYED.search(str(error)) else type(error).__name__
    return f"taken as {found}" if unicodedata.is_normalized("NFC", found) else "opened"


_OBJECT = {"type": "object"}
_FORMS = {
    "document of a gate": form_of(output="setup", answer_schema={"type": "object"}),
    "object of a gate": form_of(output="setup", answer_schema={"type": "object"}, text_output=False, output_schema=_OBJECT),
    "document inside": form_of(
        output="doc", answer_schema={"type": "object", "properties": {"doc": {"type": "string"}}}, document_schema=_OBJECT
    ),
    "number of a gate": form_of(output="n", answer_schema={"type": "number"}, text_output=False, output_schema={"type": "number"}),
}  # fmt: skip


def _json_text(value: dict[str, str], _attack: Attack, _place: Place) -> str:
    text, at = value["text"], value["at"]
    try:
        if at == "command line":
            return "refused" if decoded(text) is NOT_JSON else "taken"
        if at == "selection":
            ContextSelection.parse(text)
            return "taken"
        if at == "data edge":
            cast(text, ObjectType())
            return "taken"
        given = {"doc": text} if at == "document inside" else text
        _FORMS[at].read({"approved": True, "value": given})
    except (AnswerInvalid, ContextError, CastError):
        return "refused"
    return "taken"


# -------------------------------------------------------------------------------- controls


@contextlib.contextmanager
def _patched(place: Place, *changes: tuple[str, Any]) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        for target, value in changes:
            patch.setattr(target, value)
        yield


def _without(*changes: tuple[str, Any]) -> Any:
    return lambda place: _patched(place, *changes)


def _as_it_is(text: str, **_more: Any) -> str:
    return text


CONTROLS = {
    "labels are drawn as they are": Control(
        open=_without(("oas_compiler.draw.mermaid._ENTITIES", {})), row="picture,_name-directive"
    ),
    "names keep their lines": Control(
        open=_without(("oas_compiler.draw.mermaid.safe", _as_it_is)), row="picture,_name-line_break"
    ),
    "graph nodes are called as the ids are": Control(
        open=_without(("cinatra_sdk.flow.plan.channel_names._RESERVED", frozenset("|:"))),
        row="graph's_own_picture,_id-directive",
    ),
    "streams get what there is": Control(
        open=_without(("oas_compiler.cli.terminal.streams.printed", _as_it_is)),
        row="printed,_escapes-show",
    ),
    "commands to builds are printed": Control(
        open=_without(("oas_compiler.cli.terminal.printable_text.without_commands", _as_it_is)),
        row="printed,_commands-show",
    ),
    "JSON keeps its hashes": Control(
        open=_without(("oas_compiler.cli.terminal.streams._TWO_HASHES", re.compile("(?!)"))),
        row="printed,_commands-as_JSON",
    ),
    "names of deciders are taken as typed": Control(
        open=_without(("cinatra_sdk.gates.decisions.person_name", _as_it_is)),
        row="name_of_a_decider-letter_of_no_width",
    ),
    "gates read JSON as Python does": Control(
        open=_without(("cinatra_sdk.gates.forms.answer_form.read_json", json.loads)),
        row="JSON_text,_of_a_gate-NaN",
    ),
}

test_attack, test_twin, test_control = tests_of("output", attempt, CONTROLS)
