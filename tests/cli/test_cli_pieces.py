"""The pure pieces of the command line: safe text, values, fields, exit codes."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from cinatra_sdk import errors
from cinatra_sdk.outside.http_calls.protocol import PlatformError, PlatformUnreachable
from cinatra_sdk.runs import Run
from oas_compiler.cli.host.resources import person
from oas_compiler.cli.terminal.exits import Exit, Halt, bounded, exit_of
from oas_compiler.cli.terminal.findings_view import excerpt
from oas_compiler.cli.terminal.printable_text import clean, cut
from oas_compiler.cli.view.tables import age
from oas_compiler.cli.view.values import NotFitting, kind, read_field, values_view

INTEGER = {"type": "integer"}
TEXTS = {"type": "array", "items": {"type": "string"}}


def shown(thing: Any) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=200, color_system=None).print(thing)
    return [line.rstrip() for line in stream.getvalue().rstrip("\n").split("\n")]


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain é 漢字 👩\u200d💻", "plain é 漢字 👩\u200d💻"),
        ("\x1b[31m", "␛[31m"),
        ("a\x00b\x7f", "a␀b␡"),
        ("\x9b2J", "\ufffd2J"),
        ("a\nb\tc\rd", "a b c d"),
        ("\u202egpj.exe", "\ufffdgpj.exe"),
        ("\ud800", "\ufffd"),
    ],
)
def test_text_becomes_safe(text: str, safe: str) -> None:
    assert clean(text) == safe


def test_line_breaks_stay_where_lines_are_wanted() -> None:
    assert clean("a\r\nb\tc\x1b", lines=True) == "a\nb    c␛"


def test_long_text_is_cut_with_a_mark() -> None:
    assert (cut("abcdef", 4), cut("abcd", 4)) == ("abc…", "abcd")


def test_values_are_shown_as_names_rows_and_nested_lines() -> None:
    values = {
        "subject": "Hello [bold]you[/bold]",
        "empty": "",
        "sure": False,
        "people": [{"name": "Ann", "age": 3}, {"name": "Bo", "extra": [1]}],
        "deep": {"inner": {"list": ["a", "b"]}},
    }
    assert shown(values_view(values)) == [
        "subject  Hello [bold]you[/bold]",
        'empty    ""',
        "sure     false",
        "people   2 rows",
        "  name   age   extra",
        "  ──────────────────",
        "  Ann    3",
        "  Bo           [1]",
        "deep",
        "  inner",
        "    list  a, b",
    ]


def test_what_is_too_long_is_cut_and_says_how_much_is_missing() -> None:
    lines = shown(values_view({"text": "x" * 1000, "rows": [{"n": n} for n in range(25)]}))
    assert lines[0] == "text  1,000 characters"
    assert lines.count("  … 200 more characters; oasflow show --full has all") == 1
    assert lines[-1].strip() == "… 5 more rows; oasflow show --full has all"


@pytest.mark.parametrize(
    ("schema", "typed", "value"),
    [
        ({"type": "string"}, "5", "5"),
        ({"type": "string"}, '""', ""),
        (INTEGER, " 12 ", 12),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, "n", False),
        (TEXTS, "a, b", ["a", "b"]),
        (TEXTS, '["a, b"]', ["a, b"]),
        ({"type": "array", "items": INTEGER}, "1, 2", [1, 2]),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"enum": ["send", "wait"]}, "2", "wait"),
        ({"enum": ["send", "wait"]}, "send", "send"),
        ({"enum": [5, 1]}, "1", 1),
        ({"enum": [None, True]}, "true", True),
        ({"const": "only"}, "1", "only"),
        ({}, "5", 5),
        ({}, "words", "words"),
        ({"type": ["string", "null"]}, "null", None),
        ({"anyOf": [{"type": "string"}]}, "5", "5"),
    ],
)
def test_what_is_typed_becomes_the_value_that_the_field_asks_for(
    schema: Any, typed: str, value: Any
) -> None:
    got = read_field(schema, typed)
    assert (got, type(got)) == (value, type(value))


@pytest.mark.parametrize(
    ("schema", "typed"),
    [
        (INTEGER, "many"),
        (INTEGER, "true"),
        (INTEGER, "1.5"),
        ({"type": "integer", "minimum": 1}, "0"),
        ({"type": "boolean"}, "maybe"),
        ({"enum": ["send", "wait"]}, "3"),
        ({"enum": ["send", "wait"]}, "0"),
        ({"type": "object"}, "a"),
        ({"type": "array", "items": INTEGER}, "1, x"),
        ({"type": "string", "maxLength": 2}, "abc"),
    ],
)
def test_what_does_not_fit_the_field_is_refused_with_a_reason(schema: Any, typed: str) -> None:
    with pytest.raises(NotFitting, match=r"\w"):
        read_field(schema, typed)


def test_a_field_says_what_to_type() -> None:
    assert kind(TEXTS) == "list of texts, by commas or as JSON"
    assert kind({"enum": [1]}) == "choice"
    assert kind({}) == "text or JSON"


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [
        ('  "a": 12,', 8, ('  "a": 12,', "       ", "^^")),
        ('"x y": 1', 1, ('"x y": 1', "", "^^^^^")),
        ("漢 bad", 3, ("漢 bad", "   ", "^^^")),
        ("{", 1, ("{", "", "^")),
        ("short", 99, ("short", "     ", "^")),
    ],
)
def test_the_underline_stands_below_the_offending_token(
    line: str, column: int, expected: tuple[str, str, str]
) -> None:
    assert excerpt(line, column) == expected


@pytest.mark.parametrize(
    ("seconds", "text"), [(-5, "0 s"), (59, "59 s"), (60, "1 min"), (7300, "2 h"), (90_000, "1 d")]
)
def test_an_age_is_told_in_its_largest_unit(seconds: float, text: str) -> None:
    assert age(seconds) == text


@pytest.mark.parametrize(
    ("status", "code"),
    [("completed", 0), ("waiting", 3), ("running", 4), ("rejected", 5), ("failed", 6), ("stopped", 6)],
)  # fmt: skip
def test_where_a_run_stands_is_an_exit_code(status: Any, code: int) -> None:
    assert exit_of(Run(id="r", status=status)) == code


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Halt("x"), 2),
        (errors.InputInvalid("x"), 2),
        (errors.AnswerInvalid("x"), 2),
        (errors.PolicyInvalid("x"), 2),
        (errors.RunNotFound("x"), 2),
        (errors.GateClosed("x"), 4),
        (errors.RunEnded("x"), 4),
        (errors.RunBusy("x"), 4),
        (errors.FlowChanged("x"), 4),
        (errors.NodeFailed("x", node="n"), 6),
        (errors.StoreError("x"), 7),
        (PlatformError("x", node="n"), 6),
        (PlatformUnreachable("x", node="n"), 7),
        (PermissionError(13, "Permission denied", "file"), 2),
        (LookupError("x"), 70),
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(), 141),
    ],
)
def test_every_kind_of_error_has_its_code_and_leaves_no_traceback(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    import typer

    def command() -> Exit:
        raise error

    with pytest.raises(typer.Exit) as ended:
        bounded(command)()
    assert ended.value.exit_code == code
    assert "Traceback" not in capsys.readouterr().err


def test_a_file_error_names_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    import typer

    def command() -> Exit:
        raise PermissionError(13, "Permission denied", "notes.json")

    with pytest.raises(typer.Exit):
        bounded(command)()
    assert capsys.readouterr().err == "error: notes.json: Permission denied\n"


def test_the_person_is_the_account_and_not_an_environment_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("USER", "somebody-else")
    monkeypatch.setenv("LOGNAME", "somebody-else")
    assert person("") != "somebody-else"
    assert person("ann@example.org") == "ann@example.org"
