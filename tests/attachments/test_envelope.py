"""A user's text that may be an envelope of text and files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cinatra_sdk.attachments import (
    MAX_REFS,
    AttachmentRefInvalid,
    UserEnvelopeInvalid,
    read_user_envelope,
    wrap_resume,
)
from tests.attachments.samples import PDF, ref, vectors, wire
from tests.effort import tries


def user_of(row: dict[str, Any]) -> str:
    if "user" in row:
        return row["user"]
    envelope = dict(row["envelope"])
    envelope["attachments"] = [
        wire(artifactId=name) | row.get("ref", {}) for name in envelope["attachments"]
    ]
    return json.dumps(envelope)


@pytest.mark.parametrize("row", vectors("envelope"))
def test_each_row_of_the_vectors_is_read_or_refused_as_it_says(row: dict[str, Any]) -> None:
    given = {"enabled": row["enabled"]} if "enabled" in row else {}
    body = [wire(artifactId=name) for name in row.get("body", [])]
    if "reason" in row:
        with pytest.raises(UserEnvelopeInvalid) as refused:
            read_user_envelope(user_of(row), attachments=body, **given)
        assert refused.value.status == 400
        assert refused.value.body() == {
            "error": "invalid_user_envelope",
            "code": "INVALID_USER_ENVELOPE",
            "reason": row["reason"],
        }
        assert refused.value.__cause__ is None
        assert refused.value.__context__ is None
    else:
        envelope = read_user_envelope(user_of(row), attachments=body, **given)
        assert envelope.text == row["text"]
        names = tuple(found.artifact_id for found in envelope.attachments or ())
        assert names == tuple(row.get("refs", ()))
        assert (envelope.attachments is None) == (names == ())


def test_refs_of_the_body_that_are_wrong_are_the_body_s_own_error() -> None:
    with pytest.raises(AttachmentRefInvalid) as refused:
        read_user_envelope("x", attachments=[wire(mime="")])
    assert refused.value.body() == {
        "error": "Invalid request body",
        "issues": [
            {
                "path": ["attachments", 0, "mime"],
                "message": "attachments[0].mime is empty (write a string that is not empty)",
            }
        ],
    }


def test_refs_of_the_body_may_be_read_already() -> None:
    assert read_user_envelope("x", attachments=(ref(),)).attachments == (ref(),)


def test_deep_nesting_is_refused_and_breaks_nothing() -> None:
    with pytest.raises(UserEnvelopeInvalid):
        read_user_envelope("[" * 100_000, enabled=True)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
NEARLY = st.fixed_dictionaries(
    {"text": st.text() | JSON},
    optional={
        "attachments": st.lists(
            st.fixed_dictionaries(
                {name: st.just(value) | JSON for name, value in PDF.items()},
                optional={"size": JSON, "title": JSON, "more": JSON},
            ),
            max_size=3,
        )
        | JSON,
        "more": JSON,
    },
)


@settings(max_examples=tries(60, 2000), print_blob=True)
@given(value=NEARLY | JSON, cut=st.integers(0, 60), broken=st.booleans())
def test_whatever_is_sent_it_is_read_strictly_or_refused_with_its_code(
    value: Any, cut: int, broken: bool
) -> None:
    text = json.dumps(value)
    if broken:
        text = text[:cut] + text[cut + 1 :]
    try:
        envelope = read_user_envelope(text, enabled=True)
    except UserEnvelopeInvalid as refused:
        body = refused.body()
        assert body["code"] == "INVALID_USER_ENVELOPE"
        assert body["reason"]
        json.dumps(body).encode()
        return
    read = json.loads(text)
    assert set(read) <= {"text", "attachments"}
    assert envelope.text == read["text"]
    again = [found.wire() for found in envelope.attachments or ()]
    assert again == read.get("attachments", [])
    assert all(type(found["size"]) is int for found in again if "size" in found)


@settings(max_examples=tries(60, 2000), print_blob=True)
@given(text=st.text(), enabled=st.sampled_from([None, False]))
def test_a_caller_that_says_nothing_gets_every_text_back_as_it_was(
    text: str, enabled: bool | None
) -> None:
    given = {} if enabled is None else {"enabled": enabled}
    envelope = read_user_envelope(text, **given)
    assert envelope.text == text
    assert envelope.attachments is None


@settings(max_examples=tries(60, 2000), print_blob=True)
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")), refs=JSON | st.lists(st.just(PDF) | JSON, max_size=30))  # fmt: skip
def test_what_was_wrapped_is_read_back_word_for_word(text: str, refs: Any) -> None:
    wrapped = wrap_resume(text, refs)
    if wrapped == text:
        return
    envelope = read_user_envelope(wrapped, enabled=True)
    assert envelope.text == text
    assert envelope.attachments
    assert len(envelope.attachments) <= MAX_REFS
