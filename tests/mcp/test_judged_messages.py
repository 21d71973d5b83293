"""What comes from a server is held against what was sent to it: ids, values, and what logs in."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import httpx2
import pytest

from cinatra_sdk.outside.a2a.remote_agent import RemoteAgent
from cinatra_sdk.outside.mcp.server import McpServer
from cinatra_sdk.outside.remote_answers.foreign_answer import (
    BrokenOff,
    EventJudge,
    count_values,
    is_foreign,
    is_json,
    judge_answer,
    plain_text,
)
from cinatra_sdk.outside.remote_answers.remote_bounds import RemoteBounds
from cinatra_sdk.outside.remote_answers.transport import Exchange, bound_transport

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


FAULT = b'{"jsonrpc": "2.0", "id": %s, "error": {"code": 1, "message": "no"}}'
RESULT = b'{"jsonrpc": "2.0", "id": 1, "result": {}}'
MANY = FAULT.replace(b'"no"', b'"no", "data": [' + b"[]," * 40 + b"[]]") % b"1"
JSON_TYPE, EVENT_TYPE = "application/json", "text/event-stream"


def fetch(
    status: int, kind: str, body: bytes, *, asked: bool = True, at_work: bool = True,
    location: str = "", answers_in: Any = "body", wraps: bool = True,
) -> str | bytes:  # fmt: skip
    """What a client gets, or why the connection was broken off."""
    exchange = Exchange(bounds=RemoteBounds(values=30), is_asked=at_work, answers_in=answers_in)
    location = location or ("/b" if status == 307 else "")
    headers = {"content-type": kind} | ({"location": location} if location else {})
    if "event" in kind and wraps:
        body = b"data: " + body + b"\n\n"

    class Inner(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            return httpx2.Response(status, headers=headers, stream=httpx2.ByteStream(body))

    async def ask() -> bytes:
        exchange.redirects = 1  # as of the requests before
        async with httpx2.AsyncClient(transport=bound_transport(httpx2, Inner(), exchange)) as http:
            if not asked:
                return (await http.get("http://s/.well-known/x")).content
            return (await http.post("http://s/mcp", json={"id": 1, "method": "tools/call"})).content

    try:
        return asyncio.run(ask())
    except BrokenOff:
        return exchange.broken


@pytest.mark.parametrize("kind", [JSON_TYPE, EVENT_TYPE, "text/plain"])
@pytest.mark.parametrize("status", [307, 400, 404, 429, 500, 503])
def test_what_comes_with_any_status_is_judged(status: int, kind: str) -> None:
    for body, told in (
        (FAULT % b"999", "another request"),
        (FAULT % b'"1"', "another request"),
        (FAULT.replace(b'"no"', b"NaN") % b"1", "no JSON"),
        (b'{"detail": 1, "detail": 2}', "no JSON"),
        (b"[" + FAULT % b"1" + b"]", "no answer of the protocol"),
        (FAULT.replace(b'"2.0"', b'"1.0"') % b"1", "no answer of the protocol"),
        (MANY, "RemoteBounds(values="),
        (RESULT, "gave its result, too"),
    ):
        assert told in str(fetch(status, kind, body)), body
    assert b'"no"' in bytes(fetch(status, kind, FAULT % b"1"))  # type: ignore[arg-type]
    assert b'"no"' in bytes(fetch(status, kind, FAULT % b"null"))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [JSON_TYPE, EVENT_TYPE, "text/plain"])
@pytest.mark.parametrize("status", [201, 202, 203, 204, 206, 226, 299, 300, 304, 305, 399])
def test_an_answer_comes_with_one_status_alone(status: int, kind: str) -> None:
    for body in (RESULT, FAULT % b"1", FAULT % b"999", b""):
        told = str(fetch(status, kind, body, at_work=body != b""))
        assert told == f"it answered with status {status}, and an answer comes with 200"


def test_what_leads_nowhere_is_no_redirect() -> None:
    for status in (300, 304, 305):
        told = fetch(status, JSON_TYPE, RESULT, location="/b")
        assert told == f"it answered with status {status}, and an answer comes with 200"


@pytest.mark.parametrize(
    ("kind", "of_mcp", "of_a2a"),
    [
        ("application/json", True, True), ("Application/JSON ; charset=utf-8", True, True),
        ("application/jsonp", False, False), ("application/json-seq", False, False),
        ("application/jsonl;q=application/json", False, False), ("text/json", False, False),
        ("application/a2a+json", False, True), ("text/html", False, False), ("", False, False),
        ("text/event-streams", False, False), ("x-text/event-stream", False, False),
    ],
)  # fmt: skip
def test_the_type_of_an_answer_is_one_exactly(kind: str, of_mcp: bool, of_a2a: bool) -> None:
    for place, is_taken in (("typed body", of_mcp), ("body", of_a2a)):
        told = fetch(200, kind, RESULT, answers_in=place, wraps=False)
        assert told == RESULT if is_taken else "content-type of its answer" in str(told)


def test_the_first_answer_counts_whatever_comes_after_it() -> None:
    refusal, result = json.loads(FAULT % b"1"), json.loads(RESULT)
    for first, second, refused in ((refusal, result, True), (result, refusal, False)):
        exchange = Exchange()
        exchange.expect_answer(1)
        for said in ({"jsonrpc": "2.0", "method": "ping", "id": 1}, first, second):
            exchange.require_values(b"", said)
        assert (exchange.is_answered, exchange.is_refused) == (True, refused)
        exchange.expect_answer(2)
        assert (exchange.is_answered, exchange.is_refused) == (False, False)
    # In one piece, too: what was whole and judged goes on before the connection is broken off.
    judge = EventJudge(1)
    with pytest.raises(BrokenOff):
        judge.feed(b"data: " + RESULT + b"\n\ndata: nonsense\n\n")
    assert json.loads(judge.ready.partition(b"data: ")[2]) == result


@pytest.mark.parametrize("status", [307, 400, 401, 404, 502])
def test_words_of_a_gateway_leave_it_at_the_status(status: int) -> None:
    for body in (b"<html>no</html>", b"Not Found", b'{"id": 999, "detail": "no"}', b"", b"[]"):
        assert fetch(status, JSON_TYPE, body) == body


def test_before_the_question_an_answer_to_nobody_is_left_out() -> None:
    assert fetch(400, JSON_TYPE, FAULT % b'"server-error"', at_work=False) == b""
    assert "another request" in str(fetch(200, JSON_TYPE, FAULT % b"999", at_work=False))
    assert "RemoteBounds(values=" in str(fetch(400, JSON_TYPE, MANY, at_work=False))


@pytest.mark.parametrize("kind", [JSON_TYPE, "text/html", "Application/JSON"])
def test_cards_and_metadata_are_judged_whatever_their_type_is(kind: str) -> None:
    many = b"[" + b"[]," * 40 + b"[]]"
    for status in (200, 300, 400, 500):
        assert "RemoteBounds(values=" in str(fetch(status, kind, many, asked=False, at_work=False))
        assert fetch(status, kind, b'{"error": "no"}', asked=False) == b'{"error": "no"}'
        assert "no JSON" in str(fetch(status, kind, b'{"n": NaN}', asked=False))
    assert fetch(404, kind, b"Not Found", asked=False) == b"Not Found"


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
