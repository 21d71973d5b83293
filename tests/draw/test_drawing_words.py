"""Text in pictures: safe, measured generously, broken where a reader would."""

from __future__ import annotations

import pytest

from oas_compiler.draw.picture import safe, width, wrap


def test_a_name_is_broken_at_spaces_and_at_the_marks_inside_identifiers() -> None:
    assert wrap("Choose contact source", 13, most=105) == ("Choose contact", "source")
    assert wrap("drafts-check_inputs", 13, most=95) == ("drafts-check_", "inputs")


def test_a_word_too_long_for_a_line_is_cut_and_the_rest_is_marked_as_missing() -> None:
    lines = wrap("x" * 500, 10, most=60, lines=2)
    assert len(lines) == 2
    assert lines[1].endswith("…")
    assert all(width(line, 10) <= 60 for line in lines)
    assert wrap("short", 10, most=60) == ("short",)


@pytest.mark.parametrize("most", [0.5, 5, 40])
def test_every_line_has_a_character_however_narrow_it_is(most: float) -> None:
    assert all(wrap("漢字 emoji \U0001f600", 13, most=most))


def test_nothing_is_no_line() -> None:
    assert wrap("", 13, most=50) == ()
    assert wrap(" \n ", 13, most=50) == ()


def test_text_is_measured_as_the_widest_usual_font_draws_it() -> None:
    assert width("M", 100) == 86  # DejaVu Sans: 1767 of 2048 units
    assert width("M", 100, bold=True) == 100
    assert width("漢", 100) > 100
    assert width("e\u0301", 100) == width("e", 100)


def test_what_xml_forbids_or_reorders_text_is_shown_as_a_sign() -> None:
    assert safe("a\x1b[31m\x00\u202eb\ufffe") == "a␛[31m␀\ufffdb\ufffd"
    assert safe("one\ntwo") == "one two"
    assert safe("naïve 漢字 \U0001f600") == "naïve 漢字 \U0001f600"
