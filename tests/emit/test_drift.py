"""A module and its file: what changed, and what counts for nothing."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from oas_compiler.emit.drift import ModuleUnreadable, compare, decode_module, is_own, read_stamp
from oas_compiler.emit.python_module import Emitted, emit_module
from tests.emit.modules import compile_whole
from tests.flows import api, end, flow_of, gate, port, start

DOCUMENT = flow_of(
    start(port("topic", default="x")),
    api("write", outputs=[port("draft")], data={"user": "{{ topic }}"}),
    gate("review"),
    end(port("draft")),
    edges=[("start", "topic", "write", "topic"), ("write", "draft", "end", "draft")],
)


def emit(document: dict[str, Any]) -> tuple[Emitted, str]:
    flow = compile_whole(document)
    return emit_module(flow), flow.digest


def changed(**fields: Any) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    document.update(fields)
    return document


def test_a_fresh_module_agrees() -> None:
    emitted, digest = emit(DOCUMENT)
    assert compare(emitted.text, emitted.text, digest).agrees
    assert is_own(emitted.text)


def test_the_text_is_the_same_each_time() -> None:
    assert emit(DOCUMENT)[0].text == emit(copy.deepcopy(DOCUMENT))[0].text


def test_another_flow_has_drifted_and_says_how() -> None:
    before, _ = emit(DOCUMENT)
    now, digest = emit(changed(name="Another name"))
    found = compare(before.text, now.text, digest)
    assert found.reasons == ("the flow file has changed since the module was made",)
    assert 'name="Another name"' in found.diff


def test_a_module_that_was_edited_says_so() -> None:
    emitted, digest = emit(DOCUMENT)
    edited = emitted.text.replace('"review"', '"look"')
    found = compare(edited, emitted.text, digest)
    assert found.reasons == ("the module was changed by hand",)
    assert not is_own(edited)


def test_both_changes_are_told() -> None:
    before, _ = emit(DOCUMENT)
    now, digest = emit(changed(name="Another name"))
    assert len(compare(before.text.replace('"review"', '"look"'), now.text, digest).reasons) == 2


@pytest.mark.parametrize(
    "mend",
    [
        lambda text: text.replace("\nflow = ", "\n# a remark\nflow = "),
        lambda text: text.replace(
            '    name="The write",', "    name=(\n        'The write'\n    ),"
        ),
        lambda text: text.replace("\n", "\r\n"),
    ],
    ids=["a comment", "another layout", "other line ends"],
)
def test_formatting_and_comments_count_for_nothing(mend: Any) -> None:
    emitted, digest = emit(DOCUMENT)
    other = mend(emitted.text)
    assert other != emitted.text
    assert compare(other, emitted.text, digest).agrees
    assert is_own(other)


def test_other_bytes_of_the_same_flow_agree_with_a_note() -> None:
    before, _ = emit(DOCUMENT)
    document = copy.deepcopy(DOCUMENT)
    document["metadata"] = {**document.get("metadata", {}), "notes": "for nobody"}
    now, digest = emit(document)
    found = compare(before.text, now.text, digest)
    assert found.agrees
    assert found.note


def test_a_foreign_module_is_told_apart() -> None:
    emitted, digest = emit(DOCUMENT)
    assert "was not made by it" in compare("print(1)\n", emitted.text, digest).reasons[0]
    stamp = next(line for line in emitted.text.splitlines() if line.startswith("# oasflow emit"))
    assert read_stamp(stamp) is not None
    assert "no Python" in compare(f"{stamp}\ndef (\n", emitted.text, digest).reasons[0]
    assert not is_own(f"{stamp}\ndef (\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('default="x"', "default=None"),
        ('default="x"', 'default=b"x"'),
        ("step=1", "step=True"),
        ("step=1", "step=1.0"),
    ],
)
def test_constants_that_only_look_alike_are_other_constants(before: str, after: str) -> None:
    emitted, digest = emit(DOCUMENT)
    assert before in emitted.text
    assert not compare(emitted.text.replace(before, after), emitted.text, digest).agrees


def test_an_empty_text_is_not_no_value() -> None:
    document = copy.deepcopy(DOCUMENT)
    document["$referenced_components"]["start"]["inputs"][0]["default"] = ""
    document["$referenced_components"]["start"]["outputs"] = None
    del document["$referenced_components"]["start"]["outputs"]
    emitted, digest = emit(document)
    other = emitted.text.replace('default=""', "default=None")
    assert other != emitted.text
    assert not compare(other, emitted.text, digest).agrees


@pytest.mark.parametrize("place", ["name", "description"])
def test_a_flow_that_speaks_of_the_stamp_does_not_disturb_it(place: str) -> None:
    emitted, digest = emit(changed(**{place: "# oasflow emit"}))
    assert compare(emitted.text, emitted.text, digest).agrees
    assert is_own(emitted.text)


def test_a_second_stamp_is_no_stamp() -> None:
    emitted, digest = emit(DOCUMENT)
    stamp = next(line for line in emitted.text.splitlines() if line.startswith("# oasflow emit"))
    assert not compare(f"{emitted.text}{stamp}\n", emitted.text, digest).agrees


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"# -*- coding: unicode_escape -*-\nx = 1\n", "coded as"),
        (b"# coding: utf-7\nx = 1\n", "coded as"),
        (b"x = '\xff'\n", "no text in UTF-8"),
        (b"# coding: nothing-known\n", "no text in UTF-8"),
    ],
)
def test_a_module_in_another_coding_is_not_read(raw: bytes, says: str) -> None:
    with pytest.raises(ModuleUnreadable, match=says):
        decode_module(raw)


def test_a_module_with_a_mark_of_its_coding_is_read() -> None:
    assert decode_module(b"\xef\xbb\xbfx = 1\n") == "x = 1\n"
