"""A module and its file: what changed, and what counts for nothing."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from oas_compiler.emit.drift import compare, is_own
from oas_compiler.emit.module import Emitted, emit_module
from oas_compiler.emit.stamp import read_stamp
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
    assert compare(emitted.text, emitted, digest).agrees
    assert is_own(emitted.text)


def test_the_text_is_the_same_each_time() -> None:
    assert emit(DOCUMENT)[0].text == emit(copy.deepcopy(DOCUMENT))[0].text


def test_another_flow_has_drifted_and_says_how() -> None:
    before, _ = emit(DOCUMENT)
    now, digest = emit(changed(name="Another name"))
    found = compare(before.text, now, digest)
    assert found.reasons == ("the flow file has changed since the module was made",)
    assert 'name="Another name"' in found.diff


def test_a_module_that_was_edited_says_so() -> None:
    emitted, digest = emit(DOCUMENT)
    edited = emitted.text.replace('"review"', '"look"')
    found = compare(edited, emitted, digest)
    assert found.reasons == ("the module was changed by hand",)
    assert not is_own(edited)


def test_both_changes_are_told() -> None:
    before, _ = emit(DOCUMENT)
    now, digest = emit(changed(name="Another name"))
    assert len(compare(before.text.replace('"review"', '"look"'), now, digest).reasons) == 2


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
    assert compare(other.replace("\r\n", "\n"), emitted, digest).agrees


def test_other_bytes_of_the_same_flow_agree_with_a_note() -> None:
    before, _ = emit(DOCUMENT)
    document = copy.deepcopy(DOCUMENT)
    document["metadata"] = {**document.get("metadata", {}), "notes": "for nobody"}
    now, digest = emit(document)
    found = compare(before.text, now, digest)
    assert found.agrees
    assert found.note


def test_a_foreign_module_is_told_apart() -> None:
    emitted, digest = emit(DOCUMENT)
    assert "was not made by it" in compare("print(1)\n", emitted, digest).reasons[0]
    stamp = next(line for line in emitted.text.splitlines() if line.startswith("# oasflow emit"))
    assert read_stamp(stamp) is not None
    assert "no Python" in compare(f"{stamp}\ndef (\n", emitted, digest).reasons[0]
    assert not is_own(f"{stamp}\ndef (\n")
