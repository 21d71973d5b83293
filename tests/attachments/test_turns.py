"""Which turn of a conversation carries which file, and what becomes of the others."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cinatra_sdk.attachments import (
    AttachmentRef,
    ChatTurn,
    PreparedTurns,
    aprepare_turns,
    prepare_turns,
    strip_resolved,
    write_manifest,
)
from tests.attachments.samples import AwaitedPorts, RecordingPorts, ref, vectors


def named(name: str) -> AttachmentRef:
    mime = "application/zip" if name.startswith("zip") else "text/plain"
    return ref(artifactId=name, mime=mime)


def turns_of(row: dict[str, Any]) -> list[ChatTurn]:
    return [
        ChatTurn(role=role, text=text, attachments=tuple(named(name) for name in names))
        for role, text, *names in row["turns"]
    ]


def check(row: dict[str, Any], prepared: PreparedTurns) -> None:
    assert [(turn.role, turn.text) for turn in prepared.turns] == [
        (role, text) for role, text, *_ in row["turns"]
    ]
    assert [[part.ref.artifact_id for part in turn.parts] for turn in prepared.turns] == row[
        "parts"
    ]
    reasons = {file.ref.artifact_id: file.reason for file in prepared.unreadable}
    assert reasons == row["reasons"]
    note = write_manifest(prepared.unreadable)
    assert prepared.system == ("Be brief." if note is None else f"{note}\n\nBe brief.")


@pytest.mark.parametrize("row", vectors("turns"))
def test_each_row_of_the_vectors_is_prepared_as_it_says(row: dict[str, Any]) -> None:
    asked: dict[str, Any] = {"provider": "openai", "model": "gpt-5"}
    refs = [named(name) for name in row["request"]]
    ports = RecordingPorts()
    check(row, prepare_turns("Be brief.", turns_of(row), request_refs=refs, ports=ports, **asked))
    awaited = AwaitedPorts(RecordingPorts())
    check(
        row,
        asyncio.run(
            aprepare_turns("Be brief.", turns_of(row), request_refs=refs, ports=awaited, **asked)
        ),
    )
    assert awaited.inner.calls == ports.calls


@pytest.mark.parametrize("row", vectors("turns"))
def test_every_file_is_a_part_or_a_line_of_the_note(row: dict[str, Any]) -> None:
    came = sorted([*row["request"], *(name for turn in row["turns"] for name in turn[2:])])
    went = sorted([*row["reasons"], *(name for names in row["parts"] for name in names)])
    assert went == came


def test_a_file_that_no_turn_can_carry_is_not_uploaded() -> None:
    ports = RecordingPorts()
    prepare_turns(None, [], request_refs=[ref()], provider="openai", model="gpt-5", ports=ports)
    assert ports.calls == []


def test_the_note_stands_after_the_prompt_where_the_host_says_so() -> None:
    prepared = prepare_turns(
        "Be brief.", [ChatTurn(role="user", text="q", attachments=(ref(),))],
        provider="openai", model="gpt-5", position="after",
    )  # fmt: skip
    assert prepared.system == f"Be brief.\n\n{write_manifest(prepared.unreadable)}"


def test_parts_that_a_caller_claims_to_have_resolved_are_taken_out() -> None:
    part = [{"nativeKind": "openai_input_file", "providerFileId": "file-of-another-tenant"}]
    request: dict[str, Any] = {
        "user": "q",
        "resolvedAttachments": part,
        "resolved_attachments": part,
        "messages": [{"role": "user", "text": "q", "resolvedAttachments": part}, "odd"],
    }
    assert strip_resolved(request) == {
        "user": "q",
        "messages": [{"role": "user", "text": "q"}, "odd"],
    }
    assert "resolvedAttachments" in request, "the caller's own object is left alone"
