"""What a caller may say of a file."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import ValidationError

from cinatra_sdk.attachments import AttachmentRef, AttachmentRefInvalid, read_ref, read_refs
from cinatra_sdk.attachments.manifest import name_file
from tests.attachments.samples import PDF, ref, vectors, wire


@pytest.mark.parametrize("row", vectors("refs"))
def test_each_row_of_the_vectors_is_read_or_refused_as_it_says(row: dict[str, Any]) -> None:
    value = wire(**row.get("changes", {})) | row.get("sets", {})
    if "says" in row:
        with pytest.raises(AttachmentRefInvalid) as refused:
            read_refs([value])
        assert str(refused.value) == row["says"]
        assert refused.value.body()["error"] == "Invalid request body"
    else:
        (found,) = read_refs([value])
        assert found.wire() == PDF | row["reads"]


@pytest.mark.parametrize("size", [math.nan, math.inf, -math.inf, 1e308])
def test_a_number_that_json_lacks_is_no_size(size: float) -> None:
    with pytest.raises(AttachmentRefInvalid, match=r"attachments\[0\].size is"):
        read_refs([wire(size=size)])


@pytest.mark.parametrize("value", [None, "[]", b"[]", {}, 3, True])
def test_only_an_array_is_a_list_of_refs(value: Any) -> None:
    with pytest.raises(AttachmentRefInvalid, match="attachments is no array"):
        read_refs(value)


@pytest.mark.parametrize("value", [None, "a1", 3, [], [PDF]])
def test_only_an_object_is_a_ref(value: Any) -> None:
    with pytest.raises(AttachmentRefInvalid, match=r"attachments\[1\] is no object"):
        read_refs([PDF, value])


@pytest.mark.parametrize("value", [b"a1", bytearray(b"a1"), 3, True, ["a1"]])
def test_only_text_is_text(value: Any) -> None:
    with pytest.raises(AttachmentRefInvalid, match="artifactId is no string"):
        read_refs([wire(artifactId=value)])


def test_the_error_names_the_ref_and_quotes_no_value() -> None:
    with pytest.raises(AttachmentRefInvalid) as refused:
        read_refs([PDF, wire(size="secret-value")], where="body.files")
    assert refused.value.path == ("body.files", 1, "size")
    assert "secret-value" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None


def test_the_name_of_an_unknown_member_is_quoted_and_cut() -> None:
    with pytest.raises(AttachmentRefInvalid) as refused:
        read_refs([wire(**{"x\n" * 200: 1})])
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


def test_a_ref_cannot_be_changed_and_equals_its_twin() -> None:
    one = ref()
    with pytest.raises(ValidationError):
        one.mime = "text/plain"  # type: ignore[misc]
    assert one == read_ref(one.wire())
    assert hash(one) == hash(ref())


def test_a_ref_that_was_read_is_given_back() -> None:
    one = ref()
    assert read_refs([one])[0] is one


@pytest.mark.parametrize(
    ("title", "filename", "shown", "uploaded"),
    [
        ("Plan", "p.pdf", "Plan", "p.pdf"),
        ("Plan", None, "Plan", "Plan"),
        (None, "p.pdf", "p.pdf", "p.pdf"),
        (None, None, "a1", "a1"),
        (" ", "\n", "a1", "a1"),
    ],
)
def test_people_see_the_title_first_and_providers_the_file_name(
    title: str | None, filename: str | None, shown: str, uploaded: str
) -> None:
    named = ref(title=title, filename=filename)
    assert (named.shown_name, named.file_name) == (shown, uploaded)


def test_the_schema_of_a_ref_is_closed_and_in_camel_case() -> None:
    schema = AttachmentRef.model_json_schema()
    assert schema["additionalProperties"] is False
    assert schema["required"] == list(PDF)


@pytest.mark.parametrize("row", vectors("file_names"))
def test_a_file_is_uploaded_under_a_name_that_tells_its_type(row: dict[str, Any]) -> None:
    assert name_file(*row["ask"]) == row["is"]


def test_a_long_name_is_cut_before_its_ending() -> None:
    named = name_file("x" * 5000, "application/pdf")
    assert len(named) == 200
    assert named.endswith("….pdf")
