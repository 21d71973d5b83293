"""What comes from a server is held against what was sent to it: ids, values, and what logs in."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from cinatra_sdk.outside.a2a.remote_agent import RemoteAgent
from cinatra_sdk.outside.mcp.server import McpServer
from cinatra_sdk.outside.remote.foreign_answer import (
    BrokenOff,
    EventJudge,
    RemoteBounds,
    count_values,
    is_foreign,
    is_json,
    judge_answer,
    plain_text,
)
from cinatra_sdk.outside.remote.transport import Exchange

SECRET = "s3cret-of-the-file-5519"


@pytest.mark.parametrize("said", ["1", " 1", "01", 1.0, 1.5, True, [1], {"id": 1}, 2, "one"])
@pytest.mark.parametrize("member", [{"result": {}}, {"error": {"code": 1, "message": "no"}}])
def test_an_answer_to_another_id_or_to_one_of_another_type_is_foreign(
    said: Any, member: dict[str, Any]
) -> None:
    assert is_foreign({"id": said, **member}, 1)
    assert not is_foreign({"id": 1, **member}, 1)
    assert is_foreign({"id": 1, **member}, "1")
    assert not is_foreign({"id": said, "method": "ping"}, 1), (
        "a request of theirs has ids of its own"
    )


def test_a_stream_that_the_client_opened_answers_the_last_request_alone() -> None:
    exchange = Exchange(asked=2)
    judge = EventJudge(lambda: exchange.asked)
    assert judge.feed(b'data: {"jsonrpc": "2.0", "id": 2, "result": {}}\n\n')
    assert judge.feed(b'data: {"jsonrpc": "2.0", "method": "notifications/message"}\n\n')
    for said in (b"1", b'"2"', b"3"):
        with pytest.raises(BrokenOff, match="another request"):
            judge.feed(b'data: {"id": %s, "result": {}}\n\n' % said)
    exchange.asked = 3
    assert judge.feed(b'data: {"jsonrpc": "2.0", "id": 3, "result": {}}\n\n')


def test_a_number_that_nobody_reads_is_no_noise() -> None:
    text = b'{"id": 1, "result": ' + b"9" * 5000 + b"}"
    assert is_json(text)
    with pytest.raises(BrokenOff, match="out of bounds"):
        judge_answer(text, 1)
    assert not is_json(b"hello")
    assert not is_json(b"\xff")


@pytest.mark.parametrize(
    "member",
    [
        {"result": "sent"}, {"result": None}, {"result": []}, {"error": 7}, {"error": {}}, {},
        {"error": {"code": "1", "message": "no"}}, {"error": {"code": 1}}, {"method": 7},
        {"result": {}, "error": {"code": 1, "message": "no"}}, {"result": {}, "jsonrpc": "1.0"},
        {"result": {}, "jsonrpc": 2.0},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_message_of_the_protocol_is_told_in_our_words(member: dict[str, Any]) -> None:
    text = json.dumps({"jsonrpc": "2.0", "id": 1, **member}).encode()
    with pytest.raises(BrokenOff, match="what it answered is no answer of the protocol"):
        judge_answer(text, 1)
    judge_answer(text, None)


def test_half_of_a_letter_is_no_json() -> None:
    for half in (rb"\ud800", rb"\uDfff", rb"\udc00\ud800"):
        with pytest.raises(BrokenOff, match="half of a letter"):
            judge_answer(b'{"jsonrpc": "2.0", "id": 1, "result": {"a": "%s"}}' % half, 1)
    told = judge_answer(rb'{"jsonrpc": "2.0", "id": 1, "result": {"a": "\ud83d\ude00"}}', 1)
    assert told["result"] == {"a": "\U0001f600"}


def test_values_are_counted_where_they_may_be_too_many() -> None:
    exchange = Exchange(bounds=RemoteBounds(values=10))
    many: Any = {"content": [{}] * 20}
    with pytest.raises(BrokenOff, match=r"more than 10 values: the bound is RemoteBounds\(values="):
        exchange.require_values(json.dumps(many).encode(), many)
    prose = {"text": "one, two, three, " * 100}
    text = json.dumps(prose).encode()
    exchange.require_values(text, prose)
    assert count_values(text, prose, 10) == 2


BASIC = base64.b64encode(f"bob:{SECRET}".encode()).decode()


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": SECRET},
        {"Authorization": f"Bearer {SECRET}"},
        {"X-Team": f"bearer  {SECRET}"},
        {"X-Team": f"DPoP {SECRET}"},
        {"Authorization": f"Basic {BASIC}"},
        {"Cookie": f"theme=dark; session={SECRET}"},
        {"X-Api-Key": SECRET},
    ],
    ids=str,
)
def test_what_logs_in_is_known_by_the_name_or_the_scheme_of_a_header(headers: Any) -> None:
    assert SECRET in McpServer(transport="sse", headers=headers).secrets
    assert SECRET in RemoteAgent(url="https://a.example", headers=headers).secrets


def test_what_logs_in_is_known_in_addresses_and_options() -> None:
    for url in (
        f"https://bob:{SECRET}@a.example/mcp",
        f"https://{SECRET}@a.example/mcp",
        f"https://a.example/mcp?region=eu&api_key={SECRET}",
    ):
        server = McpServer(transport="sse", url=url)
        assert server.secrets == (SECRET,)
        assert RemoteAgent(url=url).secrets == (SECRET,)
    assert McpServer(transport="sse", url="https://[x").secrets == ()
    args = ("--api-key", SECRET, "-v", "--token=another-one-7", "--header", "X-Key: third-one-8")
    known = McpServer(transport="stdio", command="x", args=args).secrets
    assert {SECRET, "another-one-7", "third-one-8"} <= set(known)
    assert (
        McpServer(transport="stdio", command="x", args=("-m", "server", "https://a.b")).secrets
        == ()
    )


def test_logins_of_a_request_are_held_once() -> None:
    exchange = Exchange()
    for _ in range(2):
        exchange.begin_request({"authorization": f"Bearer {SECRET}"})
    assert exchange.held == [f"Bearer {SECRET}", SECRET]


def test_descriptions_keep_what_scripts_and_emoji_need() -> None:
    row = "".join(chr(0xE0100 + byte) for byte in b"delete all")
    assert (
        plain_text("\u2764\ufe0f \u845b\U000e0100 caf\u00e9")
        == "\u2764\ufe0f \u845b\U000e0100 caf\u00e9"
    )
    assert plain_text(f"send{row}\u3164\u200b mail") == "send mail"
