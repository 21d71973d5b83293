"""Expressions evaluate to what they say, whatever stands in their texts, in lines that fit."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cinatra_sdk.testing import drive
from oas_compiler.emit.expressions import (
    WIDTH,
    CallText,
    ListText,
    NameText,
    quote,
    write,
    write_json,
)
from oas_compiler.emit.python_module import emit_module
from tests.emit.modules import compile_whole, import_text
from tests.flows import api, end, flow_of, gate, message, port, start

TEXTS = st.text() | st.text(alphabet="\"'\\\n\r\t{}() #,ab\x00\u202e\u2028é")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(TEXTS)
def test_a_literal_is_the_text_on_one_line(text: str) -> None:
    literal = quote(text)
    assert ast.literal_eval(literal) == text
    assert literal.isprintable()


@given(VALUES)
def test_json_evaluates_to_itself(value: Any) -> None:
    written = write(write_json(value))
    assert ast.literal_eval(written) == value


@given(TEXTS.filter(lambda text: len(text) < 200), st.integers(0, 60))
def test_a_text_of_many_lines_evaluates_to_itself(text: str, indent: int) -> None:
    long = f"{text}\n" * 8
    assert ast.literal_eval(write(long, indent=indent, before=indent)) == long


def test_lines_are_no_longer_than_the_width() -> None:
    words = "many words that go on and on, " * 20
    call = CallText(
        "f", [("", words), ("items", ListText([words, {"a": 1}.__len__()])), ("x", NameText("X"))]
    )
    assert max(map(len, write(call).splitlines())) <= WIDTH


def test_a_short_call_stays_on_its_line() -> None:
    call = CallText("port", [("", "topic"), ("", NameText("STRING")), ("default", None)])
    assert write(call) == 'port("topic", STRING, default=None)'


def test_a_tuple_of_one_keeps_its_comma() -> None:
    assert write(ListText(["a"], "()")) == '("a",)'


HOSTILE = '"""\nimport os\nos.environ["OWNED"] = "yes"\n"""'


@pytest.mark.parametrize("place", ["name", "description", "message", "id", "title"])
def test_no_text_of_a_file_becomes_code(
    place: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OWNED", raising=False)
    document = flow_of(
        start(port("topic", default="x")), message("say", HOSTILE if place == "message" else "hi"), end()
    )  # fmt: skip
    if place in ("name", "description"):
        document[place] = HOSTILE
    if place == "id":
        document["id"] = HOSTILE
    if place == "title":
        document = flow_of(start(port("topic", default=HOSTILE)), end())
    flow = compile_whole(document)
    module = import_text(emit_module(flow).text, tmp_path, f"hostile_{place}")
    import os

    assert "OWNED" not in os.environ
    assert module.flow.plan == flow.plan


def test_a_long_text_takes_no_longer_than_its_length_says() -> None:
    # A text of a million letters: looking at the whole rest for each piece took minutes.
    text = "word and " * 110_000
    assert ast.literal_eval(write(text)) == text


@pytest.mark.parametrize("name", ["frozenset", "port", "flow", "Json", "list", "class", "1st", "é"])
def test_a_flow_with_the_name_of_something_else_leaves_that_alone(name: str, tmp_path: Any) -> None:
    document = flow_of(start(port("topic", default="x")), end(), id_=name)
    flow = compile_whole(document)
    module = import_text(emit_module(flow).text, tmp_path, "named")
    assert module.flow.plan == flow.plan


@pytest.mark.parametrize("name", ["__start__", "__end__"])
def test_a_gate_with_a_name_of_the_engine_is_asked(name: str, tmp_path: Any) -> None:
    document = flow_of(start(), gate(name), api("send"), end())
    flow = compile_whole(document)
    module = import_text(emit_module(flow).text, tmp_path, "engine_names")
    assert module.flow.plan == flow.plan
    result = drive(module.flow)
    assert result.status == "waiting"
    assert result.calls == ()
