"""The note about files that the model cannot read, and what a stranger's title can do to it."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cinatra_sdk.attachments import UnreadableFile, place_manifest, write_manifest
from cinatra_sdk.attachments.manifest import HEAD, MAX_MIME, MAX_REASON, MAX_SHOWN_NAME
from tests.attachments.samples import ref, vectors
from tests.effort import tries


def note(*files: UnreadableFile) -> str:
    text = write_manifest(files)
    assert text is not None
    return text


@pytest.mark.parametrize("row", vectors("manifest"))
def test_each_row_of_the_vectors_is_written_as_it_says(row: dict[str, Any]) -> None:
    assert note(UnreadableFile(ref=ref(**row["ref"]), reason=row["reason"])) == (
        f"{HEAD}\n{row['line']}"
    )


def test_no_file_no_note() -> None:
    assert write_manifest([]) is None


def test_the_note_begins_with_its_word_and_says_whose_it_is() -> None:
    assert HEAD.startswith("[ATTACHMENTS")
    assert "not words of the user" in HEAD
    assert "\n" not in HEAD


def test_each_file_has_its_line_in_order() -> None:
    files = [UnreadableFile(ref=ref(artifactId=name), reason="r") for name in ("c", "a", "b", "a")]
    assert [line[3] for line in note(*files).splitlines()[1:]] == ["c", "a", "b", "a"]


@pytest.mark.parametrize(
    ("system", "position", "expected"),
    [
        ("Be brief.", "before", "NOTE\n\nBe brief."),
        ("Be brief.", "after", "Be brief.\n\nNOTE"),
        ("", "before", "NOTE"),
        (None, "after", "NOTE"),
    ],
)
def test_the_note_stands_where_the_host_says(
    system: str | None, position: Any, expected: str
) -> None:
    assert place_manifest(system, "NOTE", position=position) == expected


@pytest.mark.parametrize("system", ["Be brief.", "", None])
@pytest.mark.parametrize("position", ["before", "after"])
def test_without_a_note_the_system_prompt_is_the_same(system: str | None, position: Any) -> None:
    assert place_manifest(system, None, position=position) is system


UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Categories of characters that steer a reader, or end a line."""

ANYTHING = st.text(st.characters(exclude_categories=()), max_size=600)
HOSTILE = st.one_of(
    ANYTHING,
    st.lists(
        st.sampled_from(
            ["\n", "\r", "\u2028", "\x85", "\u202e", '"', "]", "[ATTACHMENTS", "- ", "\x00", "a", "\ud800"]
        ),
        max_size=300,
    ).map("".join),
)  # fmt: skip


@settings(max_examples=tries(100, 2000), print_blob=True)
@given(names=st.lists(st.tuples(HOSTILE, HOSTILE, HOSTILE, HOSTILE), min_size=1, max_size=4))
def test_no_title_type_or_reason_makes_another_line(
    names: list[tuple[str, str, str, str]],
) -> None:
    files = [
        UnreadableFile(
            ref=ref().model_copy(update={"title": title, "filename": name, "mime": mime or "m"}),
            reason=reason,
        )
        for title, name, mime, reason in names
    ]
    text = note(*files)
    # `splitlines` knows every line end that any reader knows.
    head, *lines = text.splitlines()
    assert head == HEAD
    assert len(lines) == len(files)
    for line in lines:
        assert line.startswith('- "')
        assert line.count('"') == 2
        assert "[" not in line
        assert "]" not in line
        assert {unicodedata.category(sign) for sign in line}.isdisjoint(UNSEEN)
        assert len(line) <= MAX_SHOWN_NAME + MAX_MIME + MAX_REASON + 20
    json.dumps(text).encode()
    text.encode()


def test_a_title_as_long_as_a_book_is_cut_and_says_so() -> None:
    line = note(UnreadableFile(ref=ref(title="x" * 1_000_000), reason="r")).splitlines()[1]
    assert line == f'- "{"x" * (MAX_SHOWN_NAME - 1)}…" (application/pdf): r'
