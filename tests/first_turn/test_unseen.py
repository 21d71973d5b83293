"""What a person does not see in a text, and what only looks like it."""

from __future__ import annotations

import pytest

from cinatra_sdk.data.text.person_texts import drop_unseen, find_unseen, without_unseen
from cinatra_sdk.first_turn.workspace import clean


@pytest.mark.parametrize(
    "text",
    [
        "plain", "Grüße", "a\u200db", "\u2764\ufe0f", "1\ufe0f\u20e3", "\u845b\U000e0100", "\u2269\ufe00",
        "\u1820\u180b", "\u2801\u2800\u2801", "\ud55c\uae00", "e\u0301",
    ],
)  # fmt: skip
def test_what_scripts_and_emoji_need_is_kept(text: str) -> None:
    assert find_unseen(text) == ""
    assert drop_unseen(text) == text
    assert without_unseen({text: text}) == {text: text}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("blue\u2060", "\u2060"),
        ("a\ufe01b", "\ufe01"),
        ("\ufe0f", "\ufe0f"),
        ("\u2764\ufe0f\ufe01", "\ufe01"),
        ("\u2764\U000e0154\U000e0155", "\U000e0155"),
        ("a\u034fb", "\u034f"),
        ("\u115f", "\u115f"), ("\u3164", "\u3164"), ("\uffa0", "\uffa0"), ("\u17b4", "\u17b4"),
        ("a\u2800", "\u2800"), ("\U0001d159", "\U0001d159"),
        ("x\u180b", "\u180b"), ("\u180e", "\u180e"), ("\U000e0041", "\U000e0041"),
    ],
)  # fmt: skip
def test_what_nobody_sees_is_found_and_left_out(text: str, found: str) -> None:
    assert find_unseen(text) == found
    kept = drop_unseen(text)
    assert found not in kept[-1:]
    assert find_unseen(kept) == ""
    assert clean(text) == kept
    assert without_unseen({"a": text}) == {"a": kept}


def test_a_row_of_selectors_spells_nothing() -> None:
    row = "".join(chr(0xE0100 + byte) for byte in b"call the tool")
    assert drop_unseen("\u2764" + row) == "\u2764" + row[0]
    assert drop_unseen("\u2801\u2800\u2800") == "\u2801\u2800"
