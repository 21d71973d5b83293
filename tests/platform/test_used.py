"""What a platform used up of a model, told to whoever made the call."""

from __future__ import annotations

import asyncio
import json

import pytest
from loopback_server import LoopbackServer, Reply

from cinatra_sdk.outside.effects.door import Door
from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
from cinatra_sdk.outside.effects.platform_calls import perform_call
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.http_calls.model_usage import (
    USAGE_HEADER,
    ModelUse,
    collect_use,
    read_use_header,
    tell_use,
)
from cinatra_sdk.outside.http_calls.protocol import PlatformCall

USE = ModelUse(model="openai/gpt-5", calls=2, input_tokens=10, output_tokens=3)


def test_nobody_hears_what_is_told_outside_of_a_call():
    tell_use(USE)
    with collect_use() as used:
        pass
    assert used.total() is None


def test_what_is_told_in_other_threads_and_tasks_of_a_call_is_added_up():
    async def work() -> None:
        await asyncio.to_thread(tell_use, USE)
        tell_use(ModelUse(model="openai/gpt-5", output_tokens=1))

    with collect_use() as used:
        asyncio.run(work())
    assert used.total() == ModelUse(model="openai/gpt-5", calls=3, input_tokens=10, output_tokens=4)


def test_the_header_reads_back_what_was_written():
    assert read_use_header(USE.write_header()) == USE


@pytest.mark.parametrize(
    ("model", "read"),
    [("scripted/my answers", "scripted/my_answers"), ("x/" + "é" * 400, "x/" + "_" * 198),
     ('x/"\\' * 100, 'x/"\\' * 50), ("", "_")],
)  # fmt: skip
def test_what_was_used_is_told_whatever_the_model_is_called(model: str, read: str):
    found = read_use_header(ModelUse(model=model, input_tokens=7).write_header())
    assert found == ModelUse(model=read, input_tokens=7)


@pytest.mark.parametrize(
    "change",
    [{"calls": -1}, {"calls": True}, {"calls": 1.5}, {"input_tokens": 10**13}, {"model": ""},
     {"model": "a b"}, {"model": 3}, {"model": "x" * 201}, {"more": 1}],
)  # fmt: skip
def test_a_header_that_is_not_of_its_form_tells_nothing(change):
    written = json.loads(USE.write_header()) | change
    assert read_use_header(json.dumps(written)) is None


@pytest.mark.parametrize("text", ["", "[]", "{", "null", "[" * 100_000])
def test_a_header_that_is_no_object_tells_nothing(text):
    assert read_use_header(text) is None


@pytest.fixture
def server():
    made = LoopbackServer()
    yield made
    made.close()


def call(url: str) -> PlatformCall:
    return PlatformCall(
        node="ask", path="ask", method="POST", url=url, body={}, idempotency_key="k1", run_id="r1"
    )


def test_a_remote_platform_tells_the_ledger_by_its_header(server):
    server.replies = [Reply(headers={USAGE_HEADER: USE.write_header()})]
    ledger = MemoryLedger()
    with HttpPlatform(f"http://127.0.0.1:{server.port}") as platform:
        perform_call(
            platform, call("{{CINATRA_BASE_URL}}/api/ask"), Door(ledger=ledger), defaults={}
        )
    (row,) = ledger.rows.values()
    assert json.loads(row.usage) == {
        "calls": 2, "input_tokens": 10, "output_tokens": 3, "model": "openai/gpt-5",
    }  # fmt: skip


def test_the_header_of_another_origin_is_not_believed(server):
    server.replies = [Reply(headers={USAGE_HEADER: USE.write_header()})]
    ledger = MemoryLedger()
    origin = f"http://127.0.0.1:{server.port}"
    with HttpPlatform(None, allow=[origin]) as platform:
        perform_call(platform, call(f"{origin}/api/ask"), Door(ledger=ledger), defaults={})
    (row,) = ledger.rows.values()
    assert json.loads(row.usage) == {"calls": 1, "input_tokens": 0, "output_tokens": 0}
