"""Refs become parts that the model reads, or reasons why it cannot."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cinatra_sdk.attachments import Resolved, aresolve_attachments, resolve_attachments
from tests.attachments.samples import AwaitedPorts, RecordingPorts, ref, vectors


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
