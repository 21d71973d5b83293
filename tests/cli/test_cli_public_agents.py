"""The public agents and the examples, answered by a person at a terminal, at any width.

Each is run twice over a local platform with a context file: to its end, where every gate is read in
full and one is edited, and up to a rejection.  A part of them by default, all of them with `long`.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from oasflow_process import Oasflow
from oasflow_screen import Screen

REPOSITORY = Path(__file__).resolve().parents[2]
CORPUS = REPOSITORY.parent / "shared" / "corpus" / "cinatra"
PACKAGES = [CORPUS / f"{name}-agent" for name in (
    "author", "blog-draft-writer", "context-selection", "email-drafting", "email-outreach",
    "email-test-delivery", "media-feed-lister", "project-manager", "reviewer", "trigger",
)]  # fmt: skip
EXAMPLES = sorted((REPOSITORY / "examples").glob("*-agent"))
HOSTS = {"tools-agent": "examples.tools-agent.run:lend"}
"""What lends the tools of an agent, which are Python functions and are really called."""
WIDTHS = (60, 80, 120)
GIVEN = {
    "author-agent": {"spec": "Agent that writes"},
    "blog-draft-writer-agent": {"idea": '{"title": "Bees", "summary": "On the roof"}'},
    "context-selection-agent": {
        "parentRunId": "parent",
        "parentPackageName": "@oasflow-examples/product-text-agent",
        "slotId": "brand",
    },
    "notify-agent": {"contacts": '["ann@example.org", "ben@example.org"]', "news": "We open"},
    "tools-agent": {"order_id": "A-17"},
    "media-feed-lister-agent": {"url": "https://feeds.example.org/bees"},
}
"""Inputs; what is missing is asked for at the terminal."""
CONTEXT = {
    "actor": {"orgId": "acme", "principalId": "ann"},
    "selectsForOtherRuns": True,
    "artifacts": [
        {"id": extension.removesuffix("-artifact"), "visibility": "org", "extensions": [f"{scope}/{extension}"], "content": "Plain words."}
        for scope, extension in [
            ("@cinatra-ai", "brand-voice-artifact"), ("@cinatra-ai", "blog-idea-artifact"),
            ("@cinatra-ai", "product-portfolio-artifact"),
            ("@oasflow-examples", "house-voice-artifact"),
        ]
    ],
    "extensions": {"@oasflow-examples/house-voice-artifact": ["@oasflow-examples/brand-voice-artifact"]},
}  # fmt: skip
EDITOR = """\
import json, pathlib, sys
file = pathlib.Path(sys.argv[1])
text = file.read_text()
if file.suffix == ".json":
    value = json.loads(text)
    name = next((k for k, v in value.items() if k in ("note", "notes", "comment", "reason")), None)
    value |= {name: "edited by ann"} if name else {}
    text = json.dumps(value)
else:
    text = "edited by ann"
file.write_text(text)
if "edited by ann" in text:
    pathlib.Path(__file__).with_suffix(".did").touch()
"""
COMBINATIONS = [
    (path, width, no_color)
    for path in [*PACKAGES, *EXAMPLES]
    for width, no_color in itertools.product(WIDTHS, ("", "1"))
]
BY_DEFAULT = {
    ("email-outreach-agent", 60, ""),
    ("onboarding-agent", 80, "1"),
    ("tools-agent", 120, ""),
}


def cases() -> Iterator[Any]:
    for path, width, no_color in COMBINATIONS:
        marks = [] if (path.name, width, no_color) in BY_DEFAULT else [pytest.mark.long]
        colour = "plain" if no_color else "colour"
        if not path.exists():
            marks.append(pytest.mark.skip(reason="the public flows are not beside the project"))
        yield pytest.param(path, width, no_color, id=f"{path.name}-{width}-{colour}", marks=marks)


KEEPS_NO_WORDS = frozenset({"notify-agent", "reviewer-agent", "revision-loop-agent", "tools-agent"})
"""The words of the first edited gate go no further there: they are none of the flow's outputs, and
a comment on a text that is accepted is sent to nobody, or to a tool alone.  The decision has them all the same."""


class Person:
    """Answers every question of one run; `answered` says in which way each gate was."""

    def __init__(self, seen: Screen, oasflow: Oasflow, run: str, *, rejects: bool) -> None:
        self.seen = seen
        self.oasflow = oasflow
        self.run = run
        self.rejects = rejects
        self.read: list[str] = []
        self.wanted: set[str] = set()
        """Words of the gate's value that are not seen yet."""
        self.edited = 0

    def answers_to_the_end(self) -> int:
        for _ in range(200):
            question = self.seen.asked()
            if question is None:
                return self.seen.ended()
            self.seen.type(self._answer(question))
        raise AssertionError(f"never came to an end:\n{self.seen.text}")

    def _answer(self, question: str) -> str:
        if "leave waiting [q]" in question:
            return self._at_gate(question)
        question = question.rpartition("\n")[2]
        # In a narrow terminal "[Enter]" stands a line above the end of the overview's question.
        if "Enter " in question or any(end in question for end in ("[Enter]", "back [<]")):
            return ""
        if "(choice" in question or "number" in question:
            return "1"
        return "y" if "y or n" in question else '{"a": 1}' if "JSON" in question else "Bees"

    def _at_gate(self, question: str) -> str:
        gate = self._gate()
        if gate not in self.read:  # once in full
            self.read.append(gate)
            self.wanted = self._words_of_the_gate()
            return "v"
        if self.wanted:
            shown = "".join(self._shown().split())
            assert [word for word in self.wanted if word not in shown] == []
            self.wanted = set()
        if self.rejects:
            return "r not like this"
        if "numbers tick" in question:
            ticked = re.search(r"^ +[\[(]x[\])]", self._shown(), re.MULTILINE)
            return "a" if ticked or self._shown().count("[-]") else "1"
        if not self.edited or "fill in" in question:
            self.edited += 1
            return "e"
        return "a reads well"

    def _words_of_the_gate(self) -> set[str]:
        """Every word of every leaf of what the gate that waits shows, as the store has it."""
        (gate,) = self.oasflow("gates", self.run, "--json").json["gates"]
        values = dict(gate["values"])
        if "slotMeta" in values:
            # Of a context selection a person reads the artifacts, and not the ids of revisions.
            values = {"ids": [one["artifactId"] for one in values["candidates"]]}
        return {word for leaf in leaves(values) for word in leaf.split()}

    def _gate(self) -> str:
        return next(line for line in reversed(self.seen.lines) if line.startswith("◆"))

    def _shown(self) -> str:
        return self.seen.text.rpartition("◆")[2]


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)
    else:
        yield value if isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize(("path", "width", "no_color"), list(cases()))
def test_an_agent_is_answered_to_its_end_and_rejected_at_a_terminal(
    path: Path, width: int, no_color: str, screen: Any, oasflow: Oasflow, tmp_path: Path
) -> None:
    context = path / "context.yaml"
    if not context.exists():
        context = tmp_path / "context.json"
        context.write_text(json.dumps(CONTEXT), "utf-8")
    editor = tmp_path / "editor.py"
    editor.write_text(EDITOR, "utf-8")
    given = [f"--set={key}={value}" for key, value in GIVEN.get(path.name, {}).items()]
    env = {
        "COLUMNS": str(width), "NO_COLOR": no_color, "PAGER": "cat", "LESS": "",
        "VISUAL": f"{oasflow.program.with_name('python')} {editor}",
    }  # fmt: skip
    host = HOSTS.get(path.name)
    how = ("--host", host) if host else ("--simulate",)
    command = ("run", str(path), *how, "--context", str(context), *given, "--as", "ann")
    if path.name == "context-selection-agent":
        parent = REPOSITORY / "examples" / "product-text-agent"
        begun = oasflow("run", str(parent), "--simulate", "--context", str(context), "--set=product=Tea", "--run-id", "parent")  # fmt: skip
        assert begun.code == 3, begun.err

    tape = tmp_path / "tape"
    recording = () if host else ("--record", str(tape))
    done = screen(*command, "--run-id", "to-the-end", *recording, **env)
    person = Person(done, oasflow, "to-the-end", rejects=False)
    assert person.answers_to_the_end() == 0, done.text
    run = oasflow("show", "to-the-end", "--json").json
    assert run["status"] == "completed"
    assert all(one["gate"] in done.text for one in run["decisions"])
    if editor.with_suffix(".did").exists():
        assert "edited by ann" in json.dumps(run["decisions"])
        sent = tape.read_text("utf-8") if tape.exists() else ""
        said = [one for one in run["messages"] if one["role"] == "assistant"]
        arrived = "edited by ann" in sent + json.dumps([run["outputs"], said])
        assert arrived == (path.name not in KEEPS_NO_WORDS)
    is_clean(done, width, no_color)
    if not person.read:
        return

    stopped = screen(*command, "--run-id", "rejected", **env)
    picky = Person(stopped, oasflow, "rejected", rejects=True)
    assert picky.answers_to_the_end() == 5, stopped.text
    assert re.search("✗ .*rejected by ann: not like this", " ".join(stopped.text.split()))
    is_clean(stopped, width, no_color)


def is_clean(seen: Screen, width: int, no_color: str) -> None:
    """Nothing is torn, nothing commands the terminal, and without colour there is none."""
    coloured = re.search(r"\x1b\[[0-9;]*[34][0-7]m", seen.raw) is not None
    assert coloured != bool(no_color)
    assert "\x1b]" not in seen.raw
    # What only the terminal breaks is to be copied: a command, or one word.
    for line in (line for line in seen.lines if len(line) > width):
        is_one_word = len(max(line.split(), key=len)) > width // 2
        assert "oasflow " in line or is_one_word, line
    assert "Traceback" not in seen.text
