"""YAML has one reader: every text is the same value, or refused at the same place, everywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from cinatra_sdk.data.text import documents, yaml_reader
from cinatra_sdk.data.text.documents import read_document
from cinatra_sdk.host import context_file
from cinatra_sdk.host.context_file import ContextFileError, read_context_file
from cinatra_sdk.outside.http_calls.simulation import StubError, read_stubs
from oas_compiler.findings.finding import Findings
from oas_compiler.package.skill import read_skill
from oas_compiler.text.source import read_source
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, tests_of

_PLACE = re.compile(r"line (\d+), column (\d+)")


class Refused(Exception):
    """A reader refused the text; the place, or what it said instead of one."""


Reader = Callable[[str, Path], Any]


def as_flow(text: str, folder: Path) -> Any:
    """By its path, as `check` reads it."""
    path = folder / "oas.yaml"
    path.write_text(text, encoding="utf-8", newline="")
    return _source(path)


def as_bytes(text: str, _folder: Path) -> Any:
    """By its bytes, as a stored run is compiled again and its slots are read."""
    return _source(text.encode("utf-8"))


def _source(source: Any) -> Any:
    findings = Findings()
    found = read_source(source, findings)
    if found is not None:
        return found.value
    first = findings.errors[0]
    raise Refused("bounds" if first.code == "OAS006" else f"{first.line}:{first.column}")


def as_stubs(text: str, folder: Path) -> Any:
    """As the answer of one stub: the text a level deeper."""
    path = folder / "stubs.yaml"
    path.write_text(text, encoding="utf-8", newline="")
    try:
        read_stubs(path)
    except StubError as error:
        told = str(error)
        assert str(path) in told
        if "is not valid YAML" in told:
            raise Refused(_place(told)) from None
    return read_document(path, what="stubs file", most=10**7)


def as_context(text: str, folder: Path) -> Any:
    path = folder / "context.yaml"
    path.write_text(text, encoding="utf-8", newline="")
    seen: list[Any] = []
    real = context_file.read_document

    def noted(*args: Any, **options: Any) -> Any:
        seen.append(real(*args, **options))
        return seen[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context_file, "read_document", noted)
        with pytest.raises(ContextFileError) as raised:
            read_context_file(path)
    if not seen:
        raise Refused(_place(str(raised.value)))
    return seen[0]


def as_frontmatter(text: str, _folder: Path) -> Any:
    if re.search(r"^(?:---|\.\.\.)\s*$", text, re.MULTILINE) or text.startswith("\ufeff"):
        return NotAsked  # such a line ends a frontmatter
    skill = read_skill("SKILL.md", f"---\n{text}\n---\n")
    if skill.flaw is None:
        return dict(skill.front)
    place = skill.flaw[1]
    raise Refused(f"{place.line - 1}:{place.column}")


class NotAsked:
    """A text that cannot stand where this reader reads."""


def _place(told: str) -> str:
    found = _PLACE.search(told)
    if "nested too deeply" in told:
        return "bounds"
    return f"{found[1]}:{found[2]}" if found else told


READERS: Mapping[str, Reader] = {
    "flow": as_flow,
    "bytes": as_bytes,
    "stubs": as_stubs,
    "context": as_context,
    "frontmatter": as_frontmatter,
}


def text_of(form: Any) -> str:
    if isinstance(form, str):
        return form
    return str(form["before"]) + form["repeat"] * form["times"]


def attempt(attack: Attack, place: Place) -> str:
    return DOORS.get(attack.door, read_everywhere)(attack, place)


def read_everywhere(attack: Attack, place: Place) -> str:
    form, expected = attack.value
    text = text_of(form)
    told = []
    for name, read in READERS.items():
        try:
            found = read(text, place.folder)
        except Refused as refused:
            if attack.expect != "refused everywhere" or not _is_at(str(refused), expected, name):
                told.append(f"{name} refuses it at {refused}")
        else:
            if found is NotAsked or (
                attack.expect == "the same everywhere" and _same(found, expected)
            ):
                continue
            told.append(f"{name} reads {json.dumps(found, default=repr)[:200]}")
    return "; ".join(told) or attack.expect


def _same(found: Any, expected: Any) -> bool:
    # 1 == 1.0 == True for Python, and for no JSON
    return json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)


def _is_at(where: str, expected: str, reader: str) -> bool:
    if expected == "any place":
        return True
    if reader == "frontmatter" and expected == "bounds":
        return where == "0:1"  # longer than any frontmatter
    # Of a number a flow names the place of its key, a document of a host its own.
    return where in {expected, expected.replace(":1", ":4")}


def read_by_path_and_bytes(attack: Attack, place: Place) -> str:
    told = []
    for read in (as_flow, as_bytes):
        try:
            told.append(f"{read.__name__} reads {read(attack.value, place.folder)}")
        except Refused:
            continue
    return "; ".join(told) or attack.expect


def value_of_json(attack: Attack, place: Place) -> str:
    wanted = json.loads(attack.value)
    readers = (as_flow, as_bytes)
    same = all(_same(read(attack.value, place.folder), wanted) for read in readers)
    return "the value of JSON" if same else "another value"


def told_by_check(attack: Attack, _place: Place) -> str:
    findings = Findings()
    assert read_source(attack.value.encode("utf-8"), findings) is not None
    codes = sorted({finding.code for finding in findings.warnings})
    return " ".join(codes) or "nothing said"


DOORS: Mapping[str, Callable[[Attack, Place], str]] = {
    "a flow mapping that is called YAML": read_by_path_and_bytes,
    "the readers of others": told_by_check,
    "what everybody reads alike": told_by_check,
    "JSON that is called YAML": value_of_json,
}

# ------------------------------------------------------------------ controls


@contextmanager
def another_reader(place: Place) -> Iterator[None]:
    """The host reads with PyYAML's own loader, as it did."""

    def load(text: str, _depth: int) -> tuple[Any, str]:
        return yaml.safe_load(text), ""

    with place.monkeypatch.context() as patch:
        patch.setattr(documents, "_parse_yaml", load)
        yield


@contextmanager
def former_breaks(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(yaml_reader, "_FORMER_BREAK", re.compile("$^"))
        yield


@contextmanager
def quotes_say_nothing(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(yaml_reader, "_is_plain", lambda event: bool(event.implicit[0]))
        yield


@contextmanager
def names_decide(place: Place) -> Iterator[None]:
    """A file called .yaml is YAML, whatever it begins with: its stored bytes are read otherwise."""
    from oas_compiler.text import source

    with place.monkeypatch.context() as patch:
        patch.setattr(source, "_looks_like_json", lambda raw: False)
        yield


CONTROLS = {
    "the host reads YAML 1.1": Control(open=another_reader, row="words-no"),
    "lines end where YAML 1.1 says": Control(
        open=former_breaks, row="documents_that_are_none-the_line_separator_of_1.1"
    ),
    "a tag makes quotes vanish": Control(
        open=quotes_say_nothing, row="tags_of_strings-not_specific_in_quotes"
    ),
    "a name decides what a document is": Control(
        open=names_decide, row="a_flow_mapping_that_is_called_YAML-of_words"
    ),
}

test_attack, test_twin, test_control = tests_of("yaml", attempt, CONTROLS)


@pytest.mark.parametrize(
    "text",
    [
        "name: agent-mail\ndescription: Sends mail.", "name: no\ndescription: yes, on and off",
        "name: a\ndescription: b - c, [d] {e} & * ! | > % @ ' \" ` f", "name: true", "null: a",
        "name: a b  ", "name: http://x/y:z", "name: a: b", "name: a #b", "name: a#b", "name: a:",
        "name: a\nname: b", "name: A\r\ndescription: B\r", "name: a\n  b", "name: ä ö 😀",
        "name: a\u2028b", "name: a\tb", "name: a\ufeffb", "Name-x_1: y", "name: Null", "TRUE: a",
        "name: a\n", "name: a\n\nb: c",
    ],
)  # fmt: skip
def test_the_short_way_of_a_frontmatter_says_what_the_reader_says(text: str) -> None:
    from oas_compiler.package.skill import common_members

    common = common_members(text)
    reading = yaml_reader.read_yaml(text)
    assert common is None or (not reading.flaws and common == reading.value)
