"""Refs become parts that the model reads, or reasons why it cannot."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cinatra_sdk.attachments import Resolved, aresolve_attachments, resolve_attachments
from tests.attachments.samples import AwaitedPorts, RecordingPorts, ref, vectors
from tests.effort import tries


def ports_of(row: dict[str, Any]) -> RecordingPorts:
    return RecordingPorts(
        cache=row.get("cache", {}),
        uploads=row.get("uploads", {}),
        put_raises=row.get("put_raises", False),
    )


def check(row: dict[str, Any], resolved: Resolved, ports: RecordingPorts) -> None:
    assert [
        [part.ref.artifact_id, part.native_kind, part.provider_file_id, part.mime]
        for part in resolved.parts
    ] == row["parts"]
    assert [[file.ref.artifact_id, file.reason] for file in resolved.unreadable] == row[
        "unreadable"
    ]
    assert ports.calls == row["calls"]


@pytest.mark.parametrize("row", vectors("resolver"))
def test_each_row_of_the_vectors_is_resolved_as_it_says(row: dict[str, Any]) -> None:
    ports = ports_of(row)
    refs = [ref(**changes) for changes in row["refs"]]
    lent = ports if row.get("ports", True) else None
    check(row, resolve_attachments(refs, *row["ask"], lent), ports)


@pytest.mark.parametrize("awaited", [True, False], ids=["coroutines", "plain functions"])
@pytest.mark.parametrize("row", vectors("resolver"))
def test_each_row_is_resolved_alike_on_an_event_loop(row: dict[str, Any], awaited: bool) -> None:
    ports = ports_of(row)
    refs = [ref(**changes) for changes in row["refs"]]
    lent: Any = (AwaitedPorts(ports) if awaited else ports) if row.get("ports", True) else None
    check(row, asyncio.run(aresolve_attachments(refs, *row["ask"], lent)), ports)


def test_ports_that_have_to_be_awaited_are_refused_where_nobody_awaits() -> None:
    ports: Any = AwaitedPorts(RecordingPorts())
    with pytest.raises(TypeError, match="use aresolve_attachments"):
        resolve_attachments([ref()], "openai", "gpt-5", ports)


def test_a_function_that_gives_a_coroutine_is_refused_too() -> None:
    awaited = AwaitedPorts(RecordingPorts())

    class Hidden(RecordingPorts):
        def cache_get(self, *asked: Any) -> Any:
            return awaited.cache_get(*asked)

    with pytest.raises(TypeError, match="use aresolve_attachments"):
        resolve_attachments([ref()], "openai", "gpt-5", Hidden())


def test_a_cancelled_run_is_no_reason_for_the_manifest() -> None:
    class Cancelled(RecordingPorts):
        def provider_upload(self, *_asked: Any) -> Any:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        resolve_attachments([ref()], "openai", "gpt-5", Cancelled())


TOLD = st.sampled_from(
    [
        None, "", " ", "file-1", "files/abc", "https://g.example/1", {"raises": "no"}, {"id": ""},
        {"id": "file-2", "mime": "application/pdf", "size": 5},
        {"id": "https://g.example/2", "mime": "application/zip"},
        {"id": "https://g.example/3", "mime": "text/plain", "size": 2**40},
    ]
)  # fmt: skip
FILES = st.lists(
    st.tuples(
        st.sampled_from(["application/pdf", "text/plain", "application/zip", "video/mp4"]),
        st.sampled_from([None, 0, 5, 2**25, 2**25 + 1, 2**40]),
        TOLD,
        TOLD,
    ),
    max_size=5,
)


@settings(max_examples=tries(100, 2000), print_blob=True)
@given(files=FILES, put_raises=st.booleans(), asked=st.sampled_from(
    [("openai", "gpt-5"), ("anthropic", "claude-3"), ("gemini", "gemini-2.5"), ("ollama", "x")]
))  # fmt: skip
def test_whatever_the_ports_do_every_ref_comes_out_once_and_in_its_order(
    files: list[Any], put_raises: bool, asked: tuple[str, str]
) -> None:
    refs = [
        ref(artifactId=f"a{place}", mime=mime, size=size)
        for place, (mime, size, _, _) in enumerate(files)
    ]

    def fresh() -> RecordingPorts:
        return RecordingPorts(
            cache={f"a{place}": cached for place, (_, _, cached, _) in enumerate(files)},
            uploads={f"a{place}": upload for place, (_, _, _, upload) in enumerate(files)},
            put_raises=put_raises,
        )

    resolved = resolve_attachments(refs, *asked, fresh())
    parts = [part.ref for part in resolved.parts]
    unreadable = [file.ref for file in resolved.unreadable]
    assert sorted([*parts, *unreadable], key=refs.index) == refs
    assert parts == [one for one in refs if one in parts]
    assert unreadable == [one for one in refs if one in unreadable]
    assert all(file.reason for file in resolved.unreadable)
    for part in resolved.parts:
        assert part.provider_file_id.strip()
        assert part.native_kind != "gemini_file_data" or "://" in part.provider_file_id
        assert part.mime != "application/zip"
    ports = AwaitedPorts(fresh())
    assert asyncio.run(aresolve_attachments(refs, *asked, ports)) == resolved
