"""What a person reads and fills in at a gate: all of it, with a way back, in words or in an editor."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from oasflow_process import Oasflow

from cinatra_sdk.gates.forms.form_choice import form_of
from cinatra_sdk.gates.gate import Gate
from oas_compiler.cli.ask.gate_dialogue import Asker
from oas_compiler.cli.ask.input_form import SKIPPED, Form, assembled, fields_of
from oas_compiler.cli.terminal.argument_values import NOT_JSON
from oas_compiler.cli.view.values import NotFitting, as_typed, proposed, read_field
from tests.flows import Json, end, flow_of, gate, node, port, start

LONG = "word " * 400 + "the very end"
MAIL = {
    "type": "object",
    "properties": {
        "subject": {"type": "string"},
        "copies": {"type": "integer"},
        "tone": {"type": "string", "enum": ["plain", "warm"]},
    },
    "required": ["subject", "copies"],
}


def agent() -> Json:
    """Two inputs are missing; then a question in words, and a form that shows what it asks for."""
    ask = node(
        "InputMessageNode", "ask", inputs=[port("topic")], outputs=[port("user_input")],
        message="What should we say about {{ topic }}?",
    )  # fmt: skip
    form = gate(
        "form", output=port("mail"), inputs=[port("subject", default="Bees")],
        inputMessageSchema=MAIL, surfaceGateInputs=True, description="Read it before it goes out.",
    )  # fmt: skip
    return flow_of(
        start(port("topic"), port("audience"), port("text", default=LONG), required=["topic", "audience"]),
        ask, form, end(port("user_input"), port("mail"), port("topic"), port("audience")),
        edges=[
            ("start", "topic", "ask", "topic"), ("ask", "user_input", "end", "user_input"),
            ("form", "mail", "end", "mail"), ("start", "topic", "end", "topic"),
            ("start", "audience", "end", "audience"),
        ],
    )  # fmt: skip


def test_a_run_is_filled_in_read_and_edited_by_a_person(
    screen: Any, flow_file: Any, oasflow: Oasflow, tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/Bees/Bees on the roof/' \"$1\"\n")
    editor.chmod(0o755)
    seen = screen(
        "run", flow_file(agent()), "--run-id", "r1", PAGER="cat", VISUAL=str(editor), COLUMNS="80"
    )
    assert "2 of 3 are missing" in seen.wait_for("audience  missing")
    seen.wait_for("topic (text, required): ")
    seen.type("Wasps")
    seen.wait_for("audience (text, required): ")
    seen.type("<")  # back to the topic, where what was typed stands
    seen.wait_for("topic (text): Wasps")
    os.write(seen._master, b"\x15Bees\r")
    seen.wait_for("audience (text, required): ")
    seen.type("all")
    overview = seen.wait_for("start the run [Enter], change a field [1-3], back [<]: ")
    assert "1  topic     Bees" in overview
    seen.type("2")
    seen.wait_for("audience (text): all")
    seen.type(" of us")
    seen.wait_for("2  audience  all of us")
    seen.wait_for("back [<]: ")
    seen.type("")

    shown = seen.wait_for("leave waiting [q]: ")
    assert "ask\n  What should we say about Bees?\n" in shown
    assert "more characters; v shows all" in shown
    assert "the very end" not in shown
    seen.type("v")
    assert "the very end" in " ".join(seen.wait_for("leave waiting [q]: ").split())
    seen.type("w")
    seen.wait_for("Alt+Enter begins a new line")
    seen.wait_for("your words: ")
    os.write(seen._master, b"They dance,\x1b\rand hum.\r")

    shown = seen.wait_for("leave waiting [q]: ")
    assert "form\n  Read it before it goes out.\n" in shown
    seen.type("a")
    seen.wait_for("subject (text): Bees")
    os.write(seen._master, b" again\r")
    seen.wait_for("copies (whole number, required): ")
    seen.type("<")
    seen.wait_for("subject (text): Bees again")
    seen.type("<")  # not a way back: it stands behind the subject
    seen.wait_for("copies (whole number, required): ")
    seen.press("U")
    seen.type("2")
    seen.wait_for("tone (choice, optional, Enter skips): ")
    seen.type("")
    assert "subject  Bees again<" in seen.wait_for("approve with this [Enter]")
    seen.wait_for("back [<]: ")
    seen.type("1")
    seen.wait_for("subject (text): Bees again<")
    os.write(seen._master, b"\x15<\r")  # leaves the field as it is
    seen.wait_for("approve with this [Enter], change a field [1-3], back [<]: ")
    seen.type("<")
    seen.wait_for("tone (choice, optional, Enter skips): ")
    for question in ("copies (whole number): 2", "subject (text): Bees again<"):
        os.write(seen._master, b"\x15<\r")
        seen.wait_for(question)
    os.write(seen._master, b"\x15<\r")  # from the first field back to the gate
    seen.wait_for("leave waiting [q]: ")

    seen.type("e")
    assert "Bees on the roof" in seen.wait_for("approve with this [Enter], back [<]: ")
    seen.type("a")  # does not lead back to the gate, where it would approve without the edit
    assert "press Enter to approve" in seen.wait_for("approve with this [Enter], back [<]: ")
    seen.type("")
    assert seen.ended() == 0
    outputs = oasflow("show", "r1", "--json").json["outputs"]
    assert outputs["user_input"] == "They dance,\nand hum."
    assert '"subject":"Bees on the roof"' in outputs["mail"]
    assert (outputs["topic"], outputs["audience"]) == ("Bees", "all of us")


def test_what_was_filled_in_stands_there_after_the_form_was_refused(
    screen: Any, flow_file: Any
) -> None:
    mail = {**MAIL, "minProperties": 3}
    asked = gate("form", output=port("mail"), inputMessageSchema=mail)
    seen = screen("run", flow_file(flow_of(start(), asked, end())), "--run-id", "r1")
    for question, typed in [
        ("leave waiting [q]: ", "a"),
        ("subject (text, required): ", "Bees on the roof"),
        ("copies (whole number, required): ", "2"),
        ("tone (choice, optional, Enter skips): ", ""),
        ("change a field [1-3], back [<]: ", ""),
    ]:
        seen.wait_for(question)
        seen.type(typed)
    assert "breaks the rule minProperties" in seen.wait_for("leave waiting [q]: ")
    seen.type("a")
    seen.wait_for("subject (text): Bees on the roof")


def test_leaving_the_form_of_inputs_begins_nothing(
    screen: Any, flow_file: Any, oasflow: Oasflow
) -> None:
    seen = screen("run", flow_file(agent()), "--run-id", "r1")
    seen.wait_for("topic (text, required): ")
    seen.press("C")
    seen.wait_for("nothing was begun")
    assert seen.ended() == 130
    assert oasflow("show", "r1", "--json").code == 2


class Typed:
    """A keyboard on which these lines are typed, one at each question."""

    def __init__(self, *lines: str) -> None:
        self.lines = [*lines]
        self.seen: list[str] = []
        self.terminal = self

    def say(self, *shown: Any) -> None:
        self.seen += [str(getattr(one, "text", getattr(one, "cell", one))) for one in shown]

    def line(self, question: str, **_kind: Any) -> str:
        self.seen.append(question)
        return self.lines.pop(0)

    def refuse(self, problem: str, **_kind: Any) -> None:
        self.seen.append(problem)


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (("q", "1", "red", ""), "red"),
        (("q", "<", "blue", ""), "blue"),
        (("q", "q", "2", "<", "<"), None),  # neither is a way to decide
        (("red", ""), "red"),
    ],
)
def test_a_form_of_one_field_decides_on_no_first_enter(
    lines: tuple[str, ...], found: str | None
) -> None:
    fields = fields_of({"type": "string"}, name="colour")
    keyboard: Any = Typed(*lines)
    filled = Form(fields, keyboard).filled()
    assert filled == (None if found is None else {(): found})
    assert keyboard.lines == []
    assert "Ctrl-C leaves" in keyboard.seen[0]
    assert "approve with this [Enter], change it [1], back [<]: " in keyboard.seen
    assert ("type 1, <, or nothing" in keyboard.seen) == (found is None)


@pytest.mark.parametrize(
    ("lines", "found"),
    [(("q", "<"), None), (("Quit", "a", ""), "Quit"), (("r", "<"), None), (("red",), "red"), (("",), None)],
)  # fmt: skip
def test_a_letter_of_a_command_is_no_answer_in_words_unseen(
    lines: tuple[str, ...], found: str | None
) -> None:
    keyboard: Any = Typed(*lines)
    asker = Asker(keyboard, "ann")
    object.__setattr__(asker, "keyboard", keyboard)
    waiting: Any = SimpleNamespace(form=SimpleNamespace(text_field=None))
    value = asker._ask_text(waiting, "")
    assert value is NOT_JSON if found is None else value == found
    assert keyboard.lines == []


def wanting() -> Json:
    """One input is missing, of which the author says a good deal."""
    about = "What the letter is about.\n  - one thing only\n" + "So that nobody is lost. " * 15
    topic = port("topic", description=about + "The end of it.")
    return flow_of(
        start(topic, port("tone", default="warm"), port("agent_run_id"),
              required=["topic", "agent_run_id"]),
        end(port("topic")), edges=[("start", "topic", "end", "topic")],
    )  # fmt: skip


def test_one_missing_input_is_asked_in_the_form_that_several_are(
    screen: Any, flow_file: Any, oasflow: Oasflow
) -> None:
    path = flow_file(wanting())
    seen = screen("run", path, "--run-id", "r1")
    shown = seen.wait_for("topic (text, required): ")
    assert "1 of 2 is missing\n" in shown
    assert "2  tone   warm" in shown
    assert "< goes back" in shown
    assert "  What the letter is about.\n    - one thing only\n  So that nobody" in shown
    assert "The end of it." in shown
    assert "agent_run_id" not in shown
    seen.type("<")
    seen.wait_for("nothing was begun")
    assert seen.ended() == 130
    seen = screen("run", path, "--run-id", "r1")
    seen.wait_for("topic (text, required): ")
    seen.type("Bees")
    seen.wait_for("start the run [Enter], change a field [1-2], back [<]: ")
    seen.type("")
    assert seen.ended() == 0
    inputs = oasflow("show", "r1", "--json").json["inputs"]
    assert (inputs["topic"], inputs["tone"]) == ("Bees", "warm")


def test_a_gate_that_shows_nothing_says_what_it_asks_for(cli: Any, flow_file: Any) -> None:
    assert cli("run", flow_file(wanting()), "--run-id", "r1", "--detach").exit_code == 3
    shown = cli("show", "r1").stdout
    assert "no data to show" not in shown
    assert "  topic  text" in shown
    assert "The end of it." in shown


def test_show_cuts_nothing_where_it_is_asked_to(cli: Any, flow_file: Any) -> None:
    begun = cli("run", flow_file(agent()), "--set=topic=x", "--set=audience=y", "--run-id", "r1")
    assert begun.exit_code == 3
    cut, full = cli("show", "r1").stdout, cli("show", "r1", "--full").stdout
    assert ("the very end" in cut, "oasflow show r1 --full has all" in cut) == (False, True)
    assert ("the very end" in full, "oasflow show r1 --full" in full) == (True, False)


@pytest.mark.parametrize(
    ("schema", "value", "typed"),
    [
        ({"type": "string"}, "Bees", "Bees"),
        ({"type": "string"}, "", '""'),
        ({"type": "integer"}, 2, "2"),
        ({"type": "boolean"}, False, "n"),
        ({"enum": ["send", "wait"]}, "wait", "wait"),
        ({"type": "array", "items": {"type": "string"}}, ["a", "b"], "a, b"),
        ({"type": "array", "items": {"type": "string"}}, ["a, b"], '["a, b"]'),
        ({"type": "object"}, {"a": [1]}, '{"a": [1]}'),
        ({}, "5", '"5"'),
    ],
)
def test_a_proposal_is_what_a_person_would_type_for_it(
    schema: Json, value: Any, typed: str
) -> None:
    assert as_typed(schema, value) == typed
    assert read_field(schema, typed) == value


def test_nested_fields_are_put_together_again() -> None:
    schema = {
        "properties": {"to": {}, "mail": {"properties": {"subject": {}, "note": {}}, "required": ["subject"]}},
        "required": ["mail"],
    }  # fmt: skip
    fields = fields_of(schema, {"mail": {"subject": "Hello"}})
    assert [(field.name, field.is_proposed) for field in fields] == [
        ("mail.subject", True), ("mail.note", False), ("to", False),
    ]  # fmt: skip
    values = {("mail", "subject"): "Hi", ("mail", "note"): SKIPPED, ("to",): "ann"}
    assert assembled(fields, values) == {"mail": {"subject": "Hi"}, "to": "ann"}


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"subject": "Hello", "to": "ann"}, {"subject": "Hello"}),
        ({"draft": {"subject": "Hello", "copies": 1}}, {"subject": "Hello", "copies": 1}),
        ({"other": {"subject": "of something else"}}, None),
        ({"subject": 5}, None),
    ],
)
def test_a_form_proposes_what_its_gate_shows(values: Json, found: Json | None) -> None:
    asked = Gate(
        id="g", node="g", visit=1, step=1, risk="", name="", renderer="", schema={}, payload={},
        values=values, form=form_of(output="mail", answer_schema=MAIL),
    )  # fmt: skip
    assert proposed(asked) == found


def test_what_stands_in_a_line_to_be_changed_hides_nothing(
    screen: Any, flow_file: Any, oasflow: Oasflow
) -> None:
    evil = "Bees \x1b[2J\x9b2J \u202eseeb\u202c \u200b\u2066."
    form = gate(
        "form", output=port("mail"), inputs=[port("subject", default=evil)],
        inputMessageSchema=MAIL, surfaceGateInputs=True,
    )  # fmt: skip
    flow = flow_of(
        start(port("topic", default="x")), form, end(port("mail")),
        edges=[("form", "mail", "end", "mail")],
    )  # fmt: skip
    seen = screen("run", flow_file(flow), "--run-id", "r1", COLUMNS="80")
    seen.wait_for("leave waiting [q]: ")
    seen.type("a")
    seen.wait_for("subject (text): Bees ")
    seen.type("")
    seen.wait_for("copies (whole number, required): ")
    assert not set("\u202e\u202c\u200b\u2066\x9b") & set(seen.raw)
    seen.type("2")
    seen.wait_for("tone (choice, optional, Enter skips): ")
    seen.type("")
    seen.wait_for("approve with this [Enter]")
    seen.type("")
    assert seen.ended() == 0
    mail = oasflow("show", "r1", "--json").json["outputs"]["mail"]
    assert json.loads(mail)["subject"] == evil  # it goes on as it was


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("exit 3", "ended with 3; nothing was changed"),
        ('rm "$1"', "No such file or directory"),
        ("printf 'caf\\351' > \"$1\"", "is no text in UTF-8; it is kept in "),
    ],
)
def test_an_editor_that_fails_is_told_in_a_line_and_the_gate_asks_again(
    screen: Any, flow_file: Any, tmp_path: Path, does: str, told: str
) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\n{does}\n")
    editor.chmod(0o755)
    edges = [("ask", "words", "end", "words")]
    flow = flow_of(start(), gate("ask", output=port("words")), end(port("words")), edges=edges)
    seen = screen("run", flow_file(flow), "--run-id", "r1", VISUAL=str(editor))
    seen.wait_for("leave waiting [q]: ")
    seen.type("e")
    between = seen.wait_for("leave waiting [q]: ")
    assert told in " ".join(between.split())
    assert "Traceback" not in seen.text
    seen.type("q")
    assert seen.ended() == 3


def test_the_editor_opens_an_empty_file_where_a_gate_takes_a_text(
    screen: Any, oasflow: Oasflow, flow_file: Any, tmp_path: Path
) -> None:
    editor, opened = tmp_path / "editor", tmp_path / "opened"
    editor.write_text(f'#!/bin/sh\ncp "$1" {opened}\nprintf \'Call it Bees\' > "$1"\n')
    editor.chmod(0o755)
    edges = [("ask", "words", "end", "words")]
    flow = flow_of(start(), gate("ask", output=port("words")), end(port("words")), edges=edges)
    seen = screen("run", flow_file(flow), "--run-id", "r1", VISUAL=str(editor))
    seen.wait_for("leave waiting [q]: ")
    seen.type("e")
    seen.wait_for("approve with this [Enter], back [<]: ")
    seen.type("")
    assert seen.ended() == 0
    assert opened.read_text("utf-8") == ""
    assert oasflow("show", "r1", "--json").json["outputs"] == {"words": "Call it Bees"}


def test_options_that_look_like_the_number_of_another_are_chosen_by_value() -> None:
    assert read_field({"enum": [2, 1]}, "1") == 1
    assert read_field({"enum": ["a", "b"]}, "2") == "b"
    with pytest.raises(NotFitting, match="type one of the values"):
        read_field({"enum": [0, 1, 7]}, "3")


def test_the_authors_words_stand_wherever_a_gate_is_shown(cli: Any, flow_file: Any) -> None:
    said = "After this the letter is on its way."
    flow = flow_of(start(), gate("review", description=said), end())
    begun = cli("run", flow_file(flow), "--run-id", "r1", "--detach")
    assert said in begun.stdout
    assert said in cli("show", "r1").stdout
    assert json.loads(cli("gates", "--json").stdout)["gates"][0]["description"] == said
