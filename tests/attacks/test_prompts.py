"""Keys that were typed before a question stood on the screen decide nothing; after it, they do.

Every attack is `oasflow` at a terminal.  Keys are typed before the question stands, and then, while
it stands, `after` (the same keys, if the row has none), and the command is left.  What came of it is
what stands in the database, or in the file that the command would change.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from typer.testing import CliRunner

from oas_compiler.cli.app import app_for
from oas_compiler.cli.terminal.keyboard import IGNORED
from tests.agents.agent_flows import agent
from tests.attacks import prompt_program
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, tests_of
from tests.attacks.prompt_program import HELD
from tests.cli.oasflow_screen import Screen
from tests.cli.selection_flow import selection_flow
from tests.flows import api, end, flow_of, gate, node, port, start
from tests.slot_flows import MANIFEST, declared

MAIN = "tests.attacks.prompt_program:main"
PROGRAM = str(Path(sys.executable).with_name("oasflow"))
GATE = "leave waiting [q]: "
FORM = {
    "type": "object",
    "properties": {"count": {"type": "integer"}, "action": {"type": "string"}},
    "required": ["count", "action"],
}
LLM = {"component_type": "OpenAiConfig", "id": "gpt", "name": "gpt", "model_id": "gpt-5"}
SEND = {
    "component_type": "RemoteTool", "id": "send-tool", "name": "send", "description": "Sends.",
    "url": "{{CINATRA_BASE_URL}}/api/send", "http_method": "POST", "data": {"to": "{{ to }}"}, "inputs": [port("to")],
    "outputs": [port("sent")], "requires_confirmation": True,
}  # fmt: skip
SHIFT = b" "
"""A key that means nothing, for a twin that is held until a key comes."""
WAYS_OUT = {
    GATE: b"q\r",
    "back [<]: ": b"<\r",
    "words: ": b"<\r",
    "reason (optional): ": b"\r",
    "required): ": b"\x03",
}
"""How a person leaves a question without deciding, by its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A command, and how its question is reached."""

    flow: Any
    question: str = GATE
    """The end of the question before which keys are typed."""
    reach: tuple[tuple[str, bytes], ...] = ()
    """What a person waits for, and types then, before."""
    then: tuple[tuple[str, bytes], ...] = ()
    """What a person waits for, and types then, after the answer."""
    hold: str = ""
    """The moment of the attack, see `prompt_program`; empty: before the command starts."""
    command: tuple[str, ...] = ()
    """What goes on with a run that was begun before; empty: `oasflow run`."""
    more: tuple[str, ...] = ()
    """Further options of `oasflow run`."""
    env: dict[str, str] = field(default_factory=dict)
    edited: str = ""
    """What the editor saves."""
    pages: bool = False
    """Whether the program waits in its pager."""

    @property
    def waits(self) -> bool:
        """Whether the program waits for keys somewhere."""
        return bool(self.hold or self.edited or self.pages)


def gates(*between: Any) -> Any:
    """Three gates; the nodes stand between the first and the second."""
    return flow_of(start(), gate("first"), *between, gate("second"), gate("third"), end())


FORM_FLOW = flow_of(start(), gate("first", output=port("filled"), inputMessageSchema=FORM), end())
TEXT_FLOW = flow_of(
    start(), gate("first", output=port("said")), end(port("said")),
    edges=[("first", "said", "end", "said")],
)  # fmt: skip
"""Its gate takes words, because somebody reads them."""
ASK = node("LlmNode", "ask", llm_config=LLM, prompt_template="Hello", outputs=[port("text")])
WORD = ((GATE, b"w\r"),)
STAGES = {
    "gate, before the start": Stage(flow=gates()),
    "gate, between its print and its question": Stage(flow=gates(), hold="question 1"),
    "gate, at the last moment": Stage(flow=gates(), hold="moment 1"),
    "gate, behind an answer": Stage(flow=gates(), reach=((GATE, b""),)),
    "gate, during a call": Stage(flow=gates(api("work")), reach=((GATE, b"a\r"),), hold="call"),
    "gate, during a model's answer": Stage(flow=gates(ASK), reach=((GATE, b"a\r"),), hold="call"),
    "gate, lines of a dumb terminal": Stage(flow=gates(), env={"TERM": "dumb"}),
    "gate, of resume": Stage(flow=gates(), command=("resume", "r1")),
    "gate, of answer": Stage(flow=gates(), command=("answer", "r1")),
    "gate, of a followed run": Stage(flow=gates(), more=("--follow",)),
    "gate, behind a pager": Stage(flow=gates(), reach=((GATE, b"v\r"),), pages=True),
    "checklist": Stage(flow=selection_flow()),
    "confirmation of a call": Stage(flow=agent(SEND), command=("resume", "r1")),
    "question of an agent": Stage(flow=agent(asks=True), command=("answer", "r1")),
    "reason": Stage(
        flow=gates(), reach=((GATE, b"r\r"),), hold="question 2", question="reason (optional): "
    ),
    "field of a form": Stage(
        flow=FORM_FLOW, reach=((GATE, b"a\r"),), hold="question 2", question="required): "
    ),
    "end of a form": Stage(
        flow=FORM_FLOW,
        reach=((GATE, b"a\r"), ("required): ", b"2\r"), ("required): ", b"send\r")),
        hold="question 4",
        question="back [<]: ",
    ),
    "input of a run": Stage(
        flow=flow_of(
            start(port("topic"), required=["topic"]), gate("first"), end(port("topic")),
            edges=[("start", "topic", "end", "topic")],
        ),
        question="topic (text, required): ",
        then=(("back [<]: ", b"\r"),),
    ),
    "pasted JSON": Stage(
        flow=FORM_FLOW, reach=((GATE, b"j\r"),), hold="question 2", question="ends it: "
    ),
    "words": Stage(flow=TEXT_FLOW, reach=WORD, hold="question 2", question="words: "),
    "line after its editor": Stage(
        flow=TEXT_FLOW, reach=(*WORD, ("words: ", b"\x18\x05")), question="words: ", edited="evil"
    ),
    "review after an editor": Stage(
        flow=TEXT_FLOW, reach=((GATE, b"e\r"),), question="back [<]: ", edited="evil"
    ),
}  # fmt: skip


def attempt(attack: Attack, place: Place) -> str:
    value = {"keys": attack.value} if isinstance(attack.value, str) else attack.value
    keys = _read_keys(value["keys"]) * value.get("times", 1) + _read_keys(value.get("end", ""))
    after = _read_keys(value["after"]) if "after" in value else keys
    if attack.harmless:
        keys = b""
    if attack.door.startswith("script"):
        return _pipe_script(attack.door, keys, place)
    if attack.door in FILES:
        return _write_files(attack.door, keys, after, place)
    stage = STAGES[attack.door]
    place.monkeypatch.setenv("DATABASE_URL", place.database)
    with _open_screen(stage, keys, place) as seen:
        try:
            questions = _attack(seen, stage, keys, after)
        except AssertionError as error:
            return f"opened: {_list_decisions(place)}, {str(error)[:80]}"
        code = seen.ended()
    return f"{_tell_ignored(seen)}{_list_decisions(place)}, exit {code}, {questions} asked again"


def _tell_ignored(seen: Screen) -> str:
    return "ignored; " if IGNORED in " ".join(seen.text.split()) else ""


def _attack(seen: Screen, stage: Stage, keys: bytes, after: bytes) -> int:
    """Type ahead, then at the question, and leave; how many questions came after it.

    Raises: `AssertionError` where the question does not stand.
    """
    for wait, typed in stage.reach:
        seen.wait_for(wait)
        seen.keys(typed)
    if stage.waits:
        seen.wait_for(HELD)
        seen.keys(keys or SHIFT)
    elif stage.reach:
        seen.keys(keys)
    seen.wait_for(stage.question)
    seen.keys(after)
    for wait, typed in stage.then:
        seen.wait_for(wait)
        seen.keys(typed)
    questions = 0
    while (asked := seen.asked()) is not None:
        way = next((out for sign, out in WAYS_OUT.items() if asked.endswith(sign)), None)
        assert way is not None, f"what is this? {asked!r}"
        questions += 1
        seen.keys(way)
    return questions


@contextlib.contextmanager
def _open_screen(stage: Stage, keys: bytes, place: Place) -> Iterator[Screen]:
    flow = place.folder / "flow.json"
    flow.write_text(json.dumps({"agentspec_version": "26.1.2", **stage.flow}), "utf-8")
    command = ("run", str(flow), "--simulate", "--run-id", "r1", *stage.more)
    if stage.command:
        begun = (*command, *_stub_model(stage, place), "--detach")
        assert CliRunner().invoke(app_for(begun), list(begun)).exit_code == 3
        command = stage.command
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    env |= {"OASFLOW_TEST_HOLD": stage.hold, "OASFLOW_TEST_EDITED": stage.edited, **stage.env}
    if stage.edited or stage.pages:
        env["PAGER"] = env["VISUAL"] = f"{sys.executable} {prompt_program.__file__}"
    early = keys if not (stage.reach or stage.hold) else b""
    seen = Screen([PROGRAM, *command], env, typed=early, main=MAIN)
    try:
        yield seen
    finally:
        seen.close()


def _stub_model(stage: Stage, place: Place) -> tuple[str, ...]:
    """Options of a run whose model asks, or calls; none where the flow is no agent."""
    if stage.flow["component_type"] != "Agent":
        return ()
    asks = stage.flow["human_in_the_loop"]
    name, args = ("ask_user", {"question": "Which?"}) if asks else ("send", {"to": "ada"})
    stubs = place.folder / "stubs.json"
    stubs.write_text(
        json.dumps({"model": {"text": "", "tool_calls": [{"name": name, "args": args}]}}), "utf-8"
    )
    return ("--stubs", str(stubs), "--set", "topic=x", "--set", "user_message=hi")


def _list_decisions(place: Place) -> str:
    query = "select gate_id, kind, reason, answer from decisions order by decided_at"
    with psycopg.connect(place.database, options="-c search_path=oasflow") as connection:
        rows = connection.execute(query).fetchall()
        ran = connection.execute("select input from runs").fetchall()
    inputs = next((row[0].get("inputs") for row in ran if row[0]), None)
    given = f"{json.dumps(inputs)}: " if inputs else ""
    told = [_describe(*row) for row in rows]
    return given + (", ".join(told) if told else "nothing decided")


def _describe(gate_id: str, kind: str, reason: str, answer: Any) -> str:
    value = answer.get("value", "") if isinstance(answer, dict) else ""
    words = [gate_id.rpartition("/")[2], kind, reason, json.dumps(value) if value != "" else ""]
    return " ".join(word for word in words if word)


# ------------------------------------------------------------------------- files


def _make_old_flow(place: Place) -> tuple[Path, tuple[str, ...]]:
    flow = flow_of(start(port("topic")), gate("review"), end())
    flow["metadata"] = {"cinatra": {"type": "flow", "packageName": "@a/a", "executionMode": "auto"}}
    path = place.folder / "flow.json"
    path.write_text(json.dumps(flow, indent=4), "utf-8")
    return path, ("check", str(path), "--fix", "--select", "legacy-key")


def _make_agent(place: Place) -> tuple[Path, tuple[str, ...]]:
    path = place.folder / "cinatra" / "oas.json"
    path.parent.mkdir()
    path.write_text(json.dumps(declared(), indent=4), "utf-8")
    (place.folder / "package.json").write_text(json.dumps(MANIFEST, indent=2), "utf-8")
    return path, ("wire-context", str(place.folder))


FILES: dict[str, Callable[[Place], tuple[Path, tuple[str, ...]]]] = {
    "file, check --fix": _make_old_flow,
    "file, wire-context": _make_agent,
}


def _write_files(door: str, keys: bytes, after: bytes, place: Place) -> str:
    path, command = FILES[door](place)
    before = path.read_bytes()
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    seen = Screen([PROGRAM, *command], env, typed=keys, main=MAIN)
    try:
        seen.wait_for("[y/N] ")
        seen.keys(after)
        seen.ended()
    except AssertionError:
        return "opened: the question did not stand"
    finally:
        seen.close()
    return f"{_tell_ignored(seen)}{'left' if path.read_bytes() == before else 'written'}"


def _pipe_script(door: str, keys: bytes, place: Place) -> str:
    """Lines on a pipe, which were written by nobody who saw the question."""
    place.monkeypatch.setenv("DATABASE_URL", place.database)
    about = door.partition(", ")[2]
    if f"file, {about}" in FILES:
        path, command = FILES[f"file, {about}"](place)
        before = path.read_bytes()
        CliRunner().invoke(app_for(command), list(command), input=keys)
        return "left" if path.read_bytes() == before else "written"
    path = place.folder / "flow.json"
    path.write_text(json.dumps(gates()), "utf-8")
    begun = ("run", str(path), "--simulate", "--run-id", "r1")
    done = CliRunner().invoke(app_for(begun), list(begun), input=keys if about == "run" else b"")
    if about != "run":
        done = CliRunner().invoke(app_for((about, "r1")), [about, "r1"], input=keys)
    return f"{_list_decisions(place)}, exit {done.exit_code}"


def _read_keys(text: str) -> bytes:
    r"""Keys of the book: `\r`, `\x1b`, … name bytes, other letters are sent as UTF-8."""
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")


# ---------------------------------------------------------------------- controls


def _without(door: str) -> Callable[[Place], Any]:
    @contextlib.contextmanager
    def opened(place: Place) -> Iterator[None]:
        with place.monkeypatch.context() as patch:
            patch.setenv("OASFLOW_TEST_OPEN", door)
            yield

    return opened


CONTROLS = {
    "the terminal is not emptied": Control(
        open=_without("terminal"),
        # Other keys than those at the question, with which they may be read in one go.
        row="gate,_before_the_start-approval,_then_a_rejection",
    ),
    "the terminal of a file's question is not emptied": Control(
        open=_without("terminal"), row="file,_check_--fix-yes"
    ),
    "what was read ahead is kept": Control(
        open=_without("read ahead"), row="gate,_behind_an_answer-two_at_once"
    ),
    "the last moment counts": Control(
        open=_without("moment"), row="gate,_at_the_last_moment-rejection"
    ),
    "keys during an editor count": Control(
        open=_without("moment"), row="line_after_its_editor-Enter"
    ),
    "a second question drops nothing": Control(
        open=_without("terminal"), row="end_of_a_form-Enter"
    ),
}

test_attack, test_twin, test_control = tests_of("prompts", attempt, CONTROLS)
